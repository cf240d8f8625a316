import { limits } from '../../contract/limits.ts';

/** The one form of an account by which it is kept and found, whatever its case and width. */
export const normalAccount = (account: string): string =>
  account.normalize('NFKC').trim().toLowerCase();

export const normalName = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();

const accountPattern = /^[\p{Script=Han}a-z0-9_.@-]+$/u;

/** What is wrong with a new account's normal form, in Chinese; null: nothing. */
export const accountFault = (account: string): string | null => {
  const { min, max } = limits.account;
  const length = Array.from(account).length;
  if (length < min || length > max) return `用户名需要 ${min} 到 ${max} 个字符`;
  if (!accountPattern.test(account)) return '用户名只能用汉字、字母、数字和 _ . @ -';
  return null;
};

export const nameFault = (name: string): string | null =>
  Array.from(name).length > limits.name.max ? `名称最多 ${limits.name.max} 个字符` : null;
