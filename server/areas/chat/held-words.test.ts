import { expect, test } from 'vitest';
import { createHeldWords } from './held-words.ts';

const filler = '这一段讲的是别的事情，和上面没有关系，只是把页面写长。'.repeat(40);
const page = `赵州桥建于隋代，由李春主持修建，至今有一千四百多年。桥长 64.4 米，1961 年列入保护单位。${filler}
The bridge was designed by Li Chun and finished in 605.`;
const english = 'The Zhaozhou bridge was finished in 605 by Li Chun and has a span of 37 metres.';

test.each([
  [page, '赵州桥由隋代的李春主持修建', true],
  [page, '桥全长 64.4 米，1961 年起受保护', true],
  [page, '桥全长 508 米，1961 年起受保护', false],
  [page, '月球上没有大气层', false],
  [page, '这座城市的地铁有十二条线路', false],
  [page, '', true],
  [english, 'Li Chun finished the bridge in 605', true],
  // Of another script numbers and names are compared.
  [english, '赵州桥于 605 年建成，跨度 37 米', true],
  [english, '赵州桥于 1605 年建成', false],
  [english, '它是世界上最早的石拱桥', false],
])('%.12s… %s', (text, sentence, held) => {
  expect(createHeldWords(text)(sentence)).toBe(held);
});
