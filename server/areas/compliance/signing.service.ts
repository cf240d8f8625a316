import type { FastifyBaseLogger } from 'fastify';
import type { Database, Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import {
  faultOfSigner,
  pemOf,
  type SignedMime,
  signedFile,
  signedMimes,
} from '#server/labels/c2pa.ts';
import { loadSharp } from '#server/open-image.ts';
import { readSigner } from './compliance.store.ts';

/** What the key is sealed for. */
const sealedFor = 'c2pa';

interface Box {
  seal: (text: string, of: string) => Buffer;
  /** Null: it was sealed by another. */
  open: (sealed: Buffer, of: string) => string | null;
}

/** What a new key is tried on. */
const triedPicture = async (): Promise<Buffer> => {
  const sharp = await loadSharp();
  return sharp({ create: { width: 8, height: 8, channels: 3, background: '#888' } })
    .png()
    .toBuffer();
};

/** A PDF is taken apart whole to be signed: of longer ones that takes too much memory, bytes. */
const longestPdf = 16 * 1024 * 1024;

const isSigned = (mime: string): mime is SignedMime =>
  (signedMimes as readonly string[]).includes(mime);

export type Signing = ReturnType<typeof createSigning>;

/** Signs what models made here, where the operator has set a certificate and a key. */
export const createSigning = ({
  db,
  box,
  log,
}: {
  db: Database;
  box: () => Box;
  log: Pick<FastifyBaseLogger, 'warn'>;
}) => ({
  /**
   * The key as it is kept, once it was tried with its certificates; undefined: it stays as it is;
   * null: there is none any more.
   * @throws Refusal manage_unsuitable
   */
  sealed: async (
    executor: Executor,
    chain: string | undefined,
    key: string | undefined,
  ): Promise<Buffer | null | undefined> => {
    const kept = await readSigner(executor);
    const next = pemOf(chain ?? kept.chain);
    if (next.trim() === '') {
      if (key) throw new Refusal('manage_unsuitable', '先填 C2PA 的证书');
      return chain === undefined ? undefined : null;
    }
    if (next === kept.chain && !key && kept.sealed) return undefined;
    const known = kept.sealed ? (box().open(kept.sealed, sealedFor) ?? '') : '';
    const signer = { chain: next, key: key ? pemOf(key) : known };
    const fault = faultOfSigner(signer);
    if (fault !== null) throw new Refusal('manage_unsuitable', fault);
    try {
      await signedFile(await triedPicture(), 'image/png', signer);
    } catch (error) {
      const why = error instanceof Error ? error.message : '';
      throw new Refusal('manage_unsuitable', `用这张证书签不了名：${why}`);
    }
    return box().seal(signer.key, sealedFor);
  },

  /** The file with a manifest, or as it came: there is no key, or it cannot be signed. */
  sign: async (data: Buffer, mime: string): Promise<Buffer> => {
    if (!isSigned(mime)) return data;
    if (mime === 'application/pdf' && data.length > longestPdf) return data;
    try {
      const { chain, sealed } = await readSigner(db);
      if (chain === '' || !sealed) return data;
      return await signedFile(data, mime, { chain, key: box().open(sealed, sealedFor) ?? '' });
    } catch (error) {
      log.warn({ err: error, mime }, 'a made file is not signed');
      return data;
    }
  },
});
