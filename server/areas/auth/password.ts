import { hash, verify } from '@node-rs/argon2';
import { limits } from '#contract/limits.ts';
import { createFairQueue, house, type Waiter } from '#server/fair-queue.ts';
import { addressKey, isLocal, networkKey } from '#server/http/rate-limit.ts';

// OWASP's second choice for argon2id: 19 MiB, two passes. One hash keeps a core busy for some 30 ms
// and its memory for as long, so only as many run at once as leave a core for everybody else, and of
// one network one: who tries passwords keeps nobody else waiting.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const mostWaiting = 50;
const turn = createFairQueue(2, mostWaiting);

/**
 * Strangers of a network are one in the line, and never hold its last place. Those behind a proxy that
 * does not tell them apart are each their own.
 */
export const strangerAt = (ip: string): Waiter => ({
  person: isLocal(addressKey(ip)) ? crypto.randomUUID() : networkKey(ip),
  guest: true,
});

/** Equal passwords typed on different keyboards become the same characters. */
const normal = (password: string): string => password.normalize('NFKC');

/** @throws Refusal too_many */
export const hashPassword = (password: string, who = house): Promise<string> =>
  turn(who, () => hash(normal(password), cost));

/** The hash of no password: what a try at an unknown account is compared with, to take as long. */
let nobody: Promise<string> | undefined;

/** @throws Refusal too_many */
export const verifyPassword = async (
  kept: string | null,
  password: string,
  who: Waiter,
): Promise<boolean> => {
  nobody ??= hash(crypto.randomUUID(), cost);
  const against = kept ?? (await nobody);
  const right = await turn(who, () => verify(against, normal(password)));
  return right && kept !== null;
};

/** What guessers try first, without digits and signs at its end. */
const common = new Set(
  `password passw0rd p@ssword p@ssw0rd qwertyuiop qwerty qwertyui asdfghjkl asdfasdf zxcvbnm zxcvbnm
  iloveyou woaini woaiwojia wodemima mima abc abcd abcdef abcdefg abcdefgh admin administrator root
  letmein welcome sunshine princess football baseball monkey dragon master superman a aa aaa qq
  qaz qazwsx 1qaz2wsx 1q2w3e4r 1q2w3e4r5t q1w2e3r4 zaq12wsx taobao weixin queqiao test guest love`.split(
    /\s+/,
  ),
);
const rows = [
  '01234567890123456789',
  '98765432109876543210',
  'qwertyuiop',
  'asdfghjkl',
  'abcdefghijklmnopqrstuvwxyz',
];

/** Whether a password is among the first that anybody would try. */
const isCommon = (password: string, account: string): boolean => {
  const plain = normal(password).toLowerCase();
  if (plain === account) return true;
  // One or two characters again and again; a run along the digits or the keyboard.
  if (new Set(plain).size <= 2 || rows.some((row) => row.includes(plain))) return true;
  if (/^(.{1,4})\1+$/.test(plain) || /^(19|20)\d{6}$/.test(plain)) return true;
  if (/^(5201314|1314520|147258369|789456123|11223344)\d*$/.test(plain)) return true;
  // `password1` and `woaini1314` are no better; what has a sign between is spared.
  return common.has(plain) || common.has(plain.replace(/\d+[!.]?$/, ''));
};

/** What is wrong with a new password of an account, in Chinese; null: nothing. */
export const passwordFault = (password: string, account = ''): string | null => {
  const length = Array.from(normal(password)).length;
  if (length < limits.password.min) return `密码至少需要 ${limits.password.min} 个字符`;
  if (length > limits.password.max) return `密码最多 ${limits.password.max} 个字符`;
  if (isCommon(password, account)) return '这个密码太常见，很容易被猜到，请换一个';
  return null;
};
