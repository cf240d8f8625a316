import { expect, test } from 'vitest';
import { mentionedIn, spokenTo } from './mentions.ts';

test('the longest name behind an @ is meant, and an address is no mention', () => {
  const names = ['小明', '小明明', 'Lin'];
  expect(mentionedIn('@小明明 和＠LIN 看看', names)).toEqual(['小明明', 'Lin']);
  expect(mentionedIn('写给 a@lin.cn，小明也行', names)).toEqual([]);
});

test('who is spoken to stands first', () => {
  expect(spokenTo('@内置助手 26.2 英里', ['内置助手'])).toEqual({
    name: '内置助手',
    rest: '26.2 英里',
  });
  expect(spokenTo('＠内置助手，在吗', ['内置助手'])?.rest).toBe('在吗');
  expect(spokenTo('@GPT-4omni', ['GPT-4o'])).toBeNull();
  expect(spokenTo('请@内置助手', ['内置助手'])).toBeNull();
});
