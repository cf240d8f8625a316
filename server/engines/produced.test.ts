import { expect, test } from 'vitest';
import { besideBy, producedBy } from './produced.ts';

const delta = (more: object) => ({ choices: [{ delta: { role: 'assistant', ...more } }] });

test('what is handed on without being documented as text is known beside it, and a thought once', () => {
  const thought = [{ type: 'reasoning.text', text: '先想' }];
  const plain = delta({ content: '您好', reasoning: '先想', reasoning_details: thought });
  expect([producedBy(plain), besideBy(plain)]).toEqual(['先想您好', '']);
  for (const [more, words] of [
    [{ reasoning_details: thought }, '先想'],
    [{ thinking: '先想' }, '先想'],
    [{ audio: { id: 'a', transcript: '听' } }, '听'],
    [{ annotations: [{ url_citation: { title: '桥' } }] }, '桥'],
    [{ any: { deep: [{ er: '月' }] } }, '月'],
  ] as const) {
    expect(producedBy(delta(more))).toBe('');
    expect(besideBy(delta(more))).toContain(words);
  }
  // A picture is some hundred tokens, not its letters.
  const picture = `data:image/png;base64,${'iVBOR'.repeat(40_000)}`;
  const { length } = besideBy(delta({ images: [{ image_url: { url: picture } }] })).trim();
  expect(length).toBeGreaterThan(500);
  expect(length).toBeLessThan(2000);
});
