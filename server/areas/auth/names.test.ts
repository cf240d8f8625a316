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
  });

  test('is counted in characters, not in halves of them', () => {
    expect(nameFault('𠮷'.repeat(32))).toBeNull();
    expect(nameFault('𠮷'.repeat(33))).toMatch(/32/);
  });
});
