import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createThreadWork } from '#server/engines/thread-work.ts';
import { workerUrl } from '#server/worker-url.ts';
import { algorithmOf } from './cose.ts';

/** A manifest of C2PA in files: signed, so that others can tell whether they were changed since. */

/** Whose signature it is: certificates as PEM, the signing one first, and its private key. */
export interface Signer {
  chain: string;
  key: string;
}

export const signedMimes = [
  'image/png',
  'image/jpeg',
  'video/mp4',
  'audio/mpeg',
  'audio/wav',
  'application/pdf',
] as const;
export type SignedMime = (typeof signedMimes)[number];

export interface C2paJob {
  task: { data: Uint8Array; mime: SignedMime; signer: Signer };
  answer: Uint8Array;
}

const work = createThreadWork<C2paJob>({
  url: workerUrl('./c2pa-worker.ts', import.meta.url),
  threads: 1,
  workMs: 60_000,
  failure: (why) => new Error(why),
});

/** The file with a manifest in it; its label and its pixels stay. @throws Error: it cannot be signed */
export const signedFile = async (
  data: Buffer,
  mime: SignedMime,
  signer: Signer,
): Promise<Buffer> => {
  const made = await work({ data, mime, signer }, new AbortController().signal);
  return Buffer.from(made.buffer, made.byteOffset, made.byteLength);
};

/** When the signing certificate ends; null: there is none. */
export const endOf = (chain: string): Date | null => {
  try {
    return new Date(new X509Certificate(chain).validTo);
  } catch {
    return null;
  }
};

/** PEM as programs read it: what is pasted into one line has lost its ends of lines. */
export const pemOf = (pasted: string): string => {
  const blocks = /(-----BEGIN [A-Z ]{1,40}-----)([^-]+)(-----END [A-Z ]{1,40}-----)/g;
  const whole = [...pasted.matchAll(blocks)].map(
    ([, begin = '', body = '', end = '']) =>
      `${begin}\n${body.replaceAll(/\s/g, '').replaceAll(/.{64}(?=.)/g, '$&\n')}\n${end}`,
  );
  return whole.length > 0 ? whole.join('\n') : pasted.trim();
};

/** What is wrong with a signer, in words for its manager; null: nothing that can be seen of it. */
export const faultOfSigner = ({ chain, key }: Signer): string | null => {
  let secret: KeyObject;
  try {
    secret = createPrivateKey(key);
  } catch {
    return 'C2PA 的私钥读不出来：要 PEM，没有密码';
  }
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(chain);
  } catch {
    return 'C2PA 的证书读不出来：要 PEM，签名的那一张在最前';
  }
  if (!algorithmOf(secret)) return 'C2PA 的私钥要是 EC（P-256、P-384、P-521）或 Ed25519';
  if (!leaf.checkPrivateKey(secret)) return '私钥不是最前面那张证书的';
  return new Date(leaf.validTo).getTime() < Date.now() ? 'C2PA 的证书过期了' : null;
};
