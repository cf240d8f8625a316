import { limits } from '../../../contract/limits.ts';

/** The one form of an account by which it is kept and found, whatever its case and width. */
export const normalAccount = (account: string): string =>
  account.normalize('NFKC').trim().toLowerCase();

/** What shows nothing although it is a letter, a mark or a symbol; what picks an emoji's look may stay. */
const invisible =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800]|(?![\uFE0E\uFE0F])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})[\uFE0E\uFE0F]/gu;

export const normalName = (name: string): string =>
  name.normalize('NFC').replace(invisible, '').trim();

const accountPattern = /^[\p{Script=Han}a-z0-9_.@-]+$/u;

/** Names that the service speaks by, or that people take for it. */
const reserved = new Set(
  `admin administrator root system sysadmin superuser webmaster support service official moderator
  staff security queqiao null undefined 客服 官方 系统 站长 版主 鹊桥`.split(/\s+/),
);
const reservedParts = /管理员|系统通知|系统消息|内置助手|内置画板|官方客服|鹊桥官方|鹊桥客服/;

/** Whether a name could pass for the service itself, however it is written. */
const isReserved = (name: string): boolean => {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\p{S}\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/gu, '');
  return reserved.has(plain) || reservedParts.test(plain);
};

/** What is wrong with a new account's normal form, in Chinese; null: nothing. */
export const accountFault = (account: string): string | null => {
  const { min, max } = limits.account;
  const length = Array.from(account).length;
  if (length < min || length > max) return `用户名需要 ${min} 到 ${max} 个字符`;
  if (!accountPattern.test(account)) return '用户名只能用汉字、字母、数字和 _ . @ -';
  if (isReserved(account)) return '这个用户名是保留的，请换一个';
  return null;
};

export const nameFault = (name: string): string | null => {
  if (Array.from(name).length > limits.name.max) return `名称最多 ${limits.name.max} 个字符`;
  return isReserved(name) ? '这个名称是保留的，请换一个' : null;
};
