import { describe, expect, it } from 'vitest';
import { typedAtEnd, withRecent, withSign } from './typed-words.ts';

describe('the list behind / and @', () => {
  it.each([
    ['/', '/', '', ''],
    ['／改', '/', '改', ''],
    ['第一行\n/Te', '/', 'te', '第一行\n'],
    ['@', '@', '', ''],
    ['请 @林', '@', '林', '请 '],
    ['＠Mock-1', '@', 'mock-1', ''],
  ])('is called by %j', (text, sign, words, before) => {
    expect(typedAtEnd(text)).toEqual({ sign, words, before });
  });

  it.each(['', '你好', 'a@b', '1 / 2', '见 /usr', '/usr/bin', '/ ', '@林 ', 'https://a.b/c'])(
    'is not called by %j',
    (text) => expect(typedAtEnd(text)).toBeNull(),
  );

  it('is called by the sign that a button adds, whatever stands before it', () => {
    for (const text of ['', '写好的', '写好的\n', '写好的 '])
      for (const sign of ['/', '@'] as const) {
        const typed = typedAtEnd(withSign(text, sign));
        expect(typed).toMatchObject({ sign, words: '' });
        expect(typed?.before.startsWith(text)).toBe(true);
      }
  });

  it('knows what was used last', () => {
    expect(withRecent([3, 2, 1], 2, 3)).toEqual([2, 3, 1]);
    expect(withRecent([3, 2, 1], 4, 3)).toEqual([4, 3, 2]);
  });
});
