import { describe, expect, test } from 'vitest';
import { accountFault, nameFault, normalAccount, normalName } from './names.ts';

describe('an account', () => {
  test('has one form, whatever its case and width', () => {
    expect(normalAccount('  Ｌｉｎ.Yi ')).toBe('lin.yi');
    expect(normalAccount('ﬁre')).toBe('fire');
  });

  test.each(['abc', '张三丰', 'a@b.cn', 'x_y-z', 'a'.repeat(32), '𠮷野家'])(
    'may be %s',
    (account) => {
      expect(accountFault(account)).toBeNull();
    },
  );

  test.each(['ab', '张三', 'a'.repeat(33), 'a b c', 'a\u200bbc', 'аdmin', 'a/b/c', 'é́́e'])(
    'may not be %j',
    (account) => {
      expect(accountFault(account)).toMatch(/用户名/);
    },
  );
});

describe('a name', () => {
  test('loses what cannot be seen', () => {
    expect(normalName(' 李\u202e四\u0007\u200b ')).toBe('李四');
    // What turns the direction of what stands around it, notes between the lines, and tags.
    for (const mark of ['\u202a', '\u2066', '\u2069', '\u061c', '\ufff9', '\u{e0041}', '\u{e007f}'])
      expect(normalName(`李${mark}四`)).toBe('李四');
    for (const blank of ['\u3164', '\u2800', '\ufe0f\ufe0e', '\uffa0\u034f\u{e0101}'])
      expect(normalName(blank)).toBe('');
    expect(normalName('爱❤️生活')).toBe('爱❤️生活');
  });

  test('keeps what joins emoji into one, and no other joiner', () => {
    for (const name of ['𠮷野家👨‍👩‍👧', '👩🏽‍⚕️', '🏳️‍🌈橋', '❤️‍🔥']) expect(normalName(name)).toBe(name);
    for (const name of ['李\u200d四', '👨\u200d四', '©\u200d®', '👍\u200d👍', '\u200d👨\u200d'])
      expect(normalName(name)).toBe(name.replaceAll('\u200d', ''));
  });

  test('does not pass for the service’s with something unseen in it', () => {
    for (const between of ['\u3164', '\ufe0f', '\u0301', '\u200d'])
      expect(nameFault(normalName(`管${between}理员`))).toMatch(/保留/);
  });

  test('does not pass for the service’s in letters of other scripts, nor in traditional ones', () => {
    for (const name of [
      'аdmin',
      'αdmιn',
      'Ａdmin',
      'adm1n',
      'аdmіnіѕtrаtоr',
      '管理員',
      '鵲橋',
      '官方',
      '系統通知',
      'ɑdmin',
      'ᴀᴅᴍɪɴ',
      'ꓮꓓꓟꓲꓠ',
      'ᎪᎠmin',
      '🅰dmin',
      '🅐🅓🅜🅘🅝',
      '🇦🇩🇲🇮🇳',
      '菅理员',
      '管埋員',
    ])
      expect(nameFault(name), name).toMatch(/保留/);
    for (const name of ['Анна', 'Νίκος', '陳員外', '橋本', 'lin', '菅原', '🇨🇳中国', '王🅰'])
      expect(nameFault(name), name).toBeNull();
  });

  test('is counted in characters, not in halves of them', () => {
    expect(nameFault('𠮷'.repeat(32))).toBeNull();
    expect(nameFault('𠮷'.repeat(33))).toMatch(/32/);
  });
});
