import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Keys of model services lie in the database as AES-256-GCM (12 bytes iv, 16 bytes tag, text), bound
 * to their channel. What encrypts them lies elsewhere, so that a copy of the database gives none
 * away: in SECRET_KEY, or in the file `secret-key` of the data folder, made at the first start and
 * readable by its owner alone. Processes on several machines need SECRET_KEY.
 */
export interface KeyBox {
  seal(text: string, channel: string): Buffer;
  /** Null: it was sealed with another key, or altered. */
  open(sealed: Buffer, channel: string): string | null;
}

/** Keys of a channel, one a line. */
export const keysIn = (secret: string): string[] =>
  secret
    .split('\n')
    .map((key) => key.trim())
    .filter((key) => key !== '');

/** Enough to tell keys apart, too little to use one. */
export const hintOf = (key: string): string =>
  key.length < 12 ? (key === '' ? '' : '••••') : `${key.slice(0, 3)}…${key.slice(-4)}`;

/** A channel's keys as they were entered; null: another SECRET_KEY sealed them. */
export const openedKeys = (
  box: KeyBox,
  { key, keyEncrypted }: { key: string; keyEncrypted: Buffer | null },
): string | null => (keyEncrypted ? box.open(keyEncrypted, key) : '');

/** What tells keys of a channel apart without giving one away: eight letters of a digest, and its last four. */
export const keyMark = (key: string): { mark: string; hint: string } =>
  key === ''
    ? { mark: '', hint: '' }
    : {
        mark: createHash('sha256').update(key).digest('hex').slice(0, 8),
        hint: key.length < 12 ? '••••' : `…${key.slice(-4)}`,
      };

const readOrMake = (dataDir: string): string => {
  const file = path.join(dataDir, 'secret-key');
  const read = () => readFileSync(file, 'utf8').trim();
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(dataDir, { recursive: true });
  // Written aside and linked: two processes that start together see one whole file.
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(aside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return read();
};

export const createKeyBox = (secretKey: string, dataDir: string): KeyBox => {
  const secret = secretKey === '' ? readOrMake(dataDir) : secretKey;
  const key = Buffer.from(
    hkdfSync(
      'sha256',
      createHash('sha256').update(secret).digest(),
      '',
      'queqiao channel keys',
      32,
    ),
  );
  return {
    seal(text, channel) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(channel));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
    },
    open(sealed, channel) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), {
          authTagLength: 16,
        })
          .setAAD(Buffer.from(channel))
          .setAuthTag(sealed.subarray(12, 28));
        return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString();
      } catch {
        return null;
      }
    },
  };
};
