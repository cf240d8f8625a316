import { describe, expect, it } from 'vitest';
import { toggleWord, wordsIn } from './prompt-words.ts';

describe('toggleWord', () => {
  it('puts a word behind the others with a comma of its language', () => {
    expect(toggleWord('', 'built-in', '杰作')).toBe('杰作');
    expect(toggleWord('一只猫', 'built-in', '杰作')).toBe('一只猫，杰作');
    expect(toggleWord('a cat,', 'built-in', 'masterpiece')).toBe('a cat, masterpiece');
    expect(toggleWord('一只猫 --strength 60', 'built-in', '杰作')).toBe(
      '一只猫，杰作 --strength 60',
    );
  });

  it('takes it out where it stands', () => {
    expect(toggleWord('一只猫，杰作，雪', 'built-in', '杰作')).toBe('一只猫，雪');
    expect(toggleWord('Masterpiece, a cat', 'built-in', 'masterpiece')).toBe('a cat');
    expect(toggleWord('a cat, masterpiece', 'built-in', 'masterpiece')).toBe('a cat');
    expect(toggleWord('杰作', 'built-in', '杰作')).toBe('');
  });

  it('keeps one flag of a name', () => {
    expect(toggleWord('一只猫', 'midjourney', '--ar 16:9')).toBe('一只猫 --ar 16:9');
    expect(toggleWord('一只猫 --ar 16:9 --tile', 'midjourney', '--ar 1:1')).toBe(
      '一只猫 --tile --ar 1:1',
    );
    expect(toggleWord('一只猫 --ar 16:9', 'midjourney', '--ar 16:9')).toBe('一只猫');
    expect(toggleWord('一只猫 --tile --ar 1:1', 'midjourney', '--tile')).toBe('一只猫 --ar 1:1');
  });

  it('is undone by the same touch', () => {
    for (const word of ['杰作', 'best quality', '--v 6'])
      for (const text of ['', '一只猫', 'a cat, snow', '一只猫，雪 --stylize 50']) {
        const on = toggleWord(text, 'midjourney', word);
        expect(wordsIn(on, 'midjourney')(word)).toBe(true);
        expect(toggleWord(on, 'midjourney', word)).toBe(text);
      }
  });
});
