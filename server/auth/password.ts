import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { limits } from '../../contract/limits.ts';

// OWASP's second choice for argon2id: 19 MiB, two passes. One hash keeps a core busy for some 30 ms
// and its memory for as long, so only as many run at once as leave a core for everybody else.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const turns = pLimit(2);

/** Equal passwords typed on different keyboards become the same characters. */
const normal = (password: string): string => password.normalize('NFKC');

export const hashPassword = (password: string): Promise<string> =>
  turns(() => hash(normal(password), cost));

/** The hash of no password: what a try at an unknown account is compared with, to take as long. */
let nobody: Promise<string> | undefined;

export const verifyPassword = async (kept: string | null, password: string): Promise<boolean> => {
  nobody ??= hashPassword(crypto.randomUUID());
  const against = kept ?? (await nobody);
  const right = await turns(() => verify(against, normal(password)));
  return right && kept !== null;
};

/** What is wrong with a new password, in Chinese; null: nothing. */
export const passwordFault = (password: string): string | null => {
  const length = Array.from(normal(password)).length;
  if (length < limits.password.min) return `密码至少需要 ${limits.password.min} 个字符`;
  if (length > limits.password.max) return `密码最多 ${limits.password.max} 个字符`;
  return null;
};
