import { expect, test } from 'vitest';
import { contentOf, directionFor, translationPrice } from './estimate.ts';

test('a file says its direction by its language, and what it will cost by its length', () => {
  const chinese = contentOf(['鹊桥是一座桥。', '它通向许多模型（GPT 等）。']);
  const english = contentOf(['A bridge of magpies.', 'It leads to many models, such as 通义.']);
  expect(directionFor([chinese])).toBe(2);
  expect(directionFor([english])).toBe(1);
  expect(directionFor([chinese, english])).toBeNull();
  const writer = { promptFactor: null, factor: 2 };
  const price = translationPrice(writer, [english], 1);
  expect(price).toBeGreaterThan(0);
  expect(translationPrice(writer, [english, english], 1)).toBe(2 * price);
  expect(translationPrice({ promptFactor: null, factor: 0 }, [english], 1)).toBe(0);
});
