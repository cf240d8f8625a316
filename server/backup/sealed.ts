import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { StartupError } from '../db/startup-error.ts';

/**
 * A sealed archive: the line `queqiao-sealed-1`, 16 bytes of salt, then pieces of 64 KiB, each
 * AES-256-GCM with its tag of 16 bytes behind it. The key comes of the passphrase and the salt by
 * scrypt. A piece's nonce is its number (11 bytes) and a byte that is 1 in the last one, so that
 * pieces can neither be moved nor left out, the end included (the STREAM construction of Hoang,
 * Reyhanitabar, Rogaway and Vizár, 2015).
 */
const head = Buffer.from('queqiao-sealed-1\n');
const saltBytes = 16;
const pieceBytes = 64 * 1024;
const tagBytes = 16;
/** 128 MiB and about half a second for each guess. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
const keyOf = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  derive(passphrase.normalize('NFKC'), salt, 32, cost);

const nonceOf = (number: number, last: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
};

/** Hands on what `turn` makes of each piece of that many bytes; the last one may have less, or none. */
async function* inPieces(
  chunks: AsyncIterable<Buffer>,
  size: number,
  turn: (piece: Buffer, number: number, last: boolean) => Buffer,
): AsyncGenerator<Buffer> {
  let number = 0;
  let waiting: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    // A whole piece is kept back: it may turn out to be the last.
    for (; waiting.length > size; waiting = waiting.subarray(size))
      yield turn(waiting.subarray(0, size), number++, false);
  }
  yield turn(waiting, number, true);
}

/** Seals what flows through it. */
export const createSeal = async (passphrase: string): Promise<Duplex> => {
  const salt = randomBytes(saltBytes);
  const key = await keyOf(passphrase, salt);
  return Duplex.from(async function* seal(chunks: AsyncIterable<Buffer>) {
    yield Buffer.concat([head, salt]);
    yield* inPieces(chunks, pieceBytes, (piece, number, last) => {
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number, last));
      return Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    });
  });
};

/** Bytes at the beginning of an archive that tell whether it is sealed, and open it. */
export const beginningBytes = head.length + saltBytes;

export const isSealed = (beginning: Buffer): boolean =>
  beginning.subarray(0, head.length).equals(head);

/**
 * Opens what flows through it, all that stands behind an archive's beginning.
 * @throws StartupError where the passphrase is another, or the archive was altered or cut off
 */
export const createOpening = async (passphrase: string, beginning: Buffer): Promise<Duplex> => {
  const key = await keyOf(passphrase, beginning.subarray(head.length));
  const open = (piece: Buffer, number: number, last: boolean): Buffer => {
    const end = Math.max(0, piece.length - tagBytes);
    try {
      const opening = createDecipheriv('aes-256-gcm', key, nonceOf(number, last), {
        authTagLength: tagBytes,
      }).setAuthTag(piece.subarray(end));
      return Buffer.concat([opening.update(piece.subarray(0, end)), opening.final()]);
    } catch {
      throw new StartupError(
        number === 0
          ? '密码不对：BACKUP_PASSPHRASE 不是备份时的那一个（或备份的开头已损坏）。'
          : '这份备份不完整，或被改动过。',
      );
    }
  };
  return Duplex.from((chunks: AsyncIterable<Buffer>) =>
    inPieces(chunks, pieceBytes + tagBytes, open),
  );
};
