import { maskName } from '#contract/mask-name.ts';
import type { ContactKind } from '#contract/sign-in.ts';

const mailPattern =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

/**
 * The one form by which an address is kept and found; null: it is none. Of phone numbers only those
 * of 中国大陆: messages to others are what is sent at somebody else's cost.
 */
export const normalAddress = (kind: ContactKind, given: string): string | null => {
  const plain = given.normalize('NFKC').trim();
  if (kind === 'mail') {
    const mail = plain.toLowerCase();
    return mail.length <= 254 && mailPattern.test(mail) && !mail.includes('..') ? mail : null;
  }
  const digits = plain.replace(/[\s-]/g, '').replace(/^(?:\+|00)?86(?=1\d{10}$)/, '');
  return /^1[3-9]\d{9}$/.test(digits) ? digits : null;
};

/** What is said of one that is none. */
export const addressFault = (kind: ContactKind): string =>
  kind === 'mail' ? '这不是一个完整的邮箱地址' : '请填写中国大陆的 11 位手机号';

/** As it is shown, also to its own person. */
export const maskAddress = (kind: ContactKind, value: string): string => {
  if (kind === 'phone') return maskName(value);
  const [name = '', domain = ''] = value.split('@');
  const shown =
    name.length < 3 ? `${name.slice(0, 1)}***` : `${name.slice(0, 1)}***${name.slice(-1)}`;
  return `${shown}@${domain}`;
};
