import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

/** How long a link may wait for its first use, and how long it goes on with what it began, ms. */
export const linkLifetime = { unused: 30 * 60_000, used: 6 * 3_600_000 } as const;

export interface Link {
  versionId: number;
  userId: number;
  /** When it was made, ms since 1970. */
  madeAt: number;
  /** Tells it from all others: what was begun by it is kept under this. */
  nonce: string;
}

const signatureOf = (secret: string, text: string): Buffer =>
  createHmac('sha256', secret).update(`app-download:${text}`).digest();

/** A link to a file, for one person: nobody can make or change one without the secret. */
export const makeLink = (
  secret: string,
  { versionId, userId }: Pick<Link, 'versionId' | 'userId'>,
): string => {
  const text = [versionId, userId, Date.now(), randomUUID()].join('.');
  return `${text}.${signatureOf(secret, text).toString('base64url')}`;
};

/** Null: nobody here made it. */
export const readLink = (secret: string, key: string): Link | null => {
  const [, text = '', versionId = '', userId = '', madeAt = '', nonce = '', signature = ''] =
    /^((\d{1,15})\.(\d{1,15})\.(\d{13})\.([0-9a-f-]{36}))\.([\w-]{43})$/.exec(key) ?? [];
  if (text === '') return null;
  const given = Buffer.from(signature, 'base64url');
  const right = signatureOf(secret, text);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
  return {
    versionId: Number(versionId),
    userId: Number(userId),
    madeAt: Number(madeAt),
    nonce,
  };
};
