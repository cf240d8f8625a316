import { type KeyObject, sign } from 'node:crypto';

/**
 * The signature of a C2PA claim: COSE_Sign1 (RFC 9052) over bytes that stand elsewhere, with the
 * certificates beside it. Only what that needs of CBOR (RFC 8949) is here.
 */

/** The kind and the number that begin an item. */
const head = (major: number, n: number): Buffer => {
  const kind = major << 5;
  if (n < 24) return Buffer.from([kind | n]);
  if (n < 256) return Buffer.from([kind | 24, n]);
  if (n < 65_536) return Buffer.from([kind | 25, n >> 8, n & 255]);
  throw new Error('too long for a signature');
};
const int = (n: number): Buffer => (n < 0 ? head(1, -1 - n) : head(0, n));
const bytes = (data: Buffer): Buffer => Buffer.concat([head(2, data.length), data]);
const text = (said: string): Buffer => Buffer.concat([head(3, said.length), Buffer.from(said)]);
const array = (...items: Buffer[]): Buffer => Buffer.concat([head(4, items.length), ...items]);
const map = (...items: Buffer[]): Buffer => Buffer.concat([head(5, items.length / 2), ...items]);
const nothing = Buffer.from([0xf6]);
const sign1Tag = Buffer.from([0xd2]);
const algorithmField = 1;
const chainField = 33;

interface Algorithm {
  /** As C2PA calls it, and its number in COSE. */
  name: string;
  number: number;
  sign: (data: Buffer, key: KeyObject) => Buffer;
}

const ecdsa =
  (hash: string): Algorithm['sign'] =>
  (data, key) =>
    sign(hash, data, { key, dsaEncoding: 'ieee-p1363' });
const curves: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'es256', number: -7, sign: ecdsa('sha256') },
  secp384r1: { name: 'es384', number: -35, sign: ecdsa('sha384') },
  secp521r1: { name: 'es512', number: -36, sign: ecdsa('sha512') },
};
const edwards: Algorithm = {
  name: 'ed25519',
  number: -8,
  sign: (data, key) => sign(null, data, key),
};

/** How a key signs; null: C2PA has no such way. */
export const algorithmOf = (key: KeyObject): Algorithm | null => {
  if (key.asymmetricKeyType === 'ed25519') return edwards;
  return curves[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? null;
};

/** Bytes that a signature takes at most beside its certificates. */
const besides = 512;
export const sizeOf = (chain: readonly Buffer[]): number =>
  chain.reduce((sum, { length }) => sum + length + 3, besides);

/** A claim's signature of exactly so many bytes, as its place was kept free. */
export const coseSign = (
  claim: Buffer,
  { key, chain, size }: { key: KeyObject; chain: readonly Buffer[]; size: number },
): Buffer => {
  const algorithm = algorithmOf(key);
  if (!algorithm) throw new Error('a key that C2PA does not know');
  const said = bytes(
    map(
      int(algorithmField),
      int(algorithm.number),
      int(chainField),
      array(...chain.map((each) => bytes(each))),
    ),
  );
  const signed = array(text('Signature1'), said, bytes(Buffer.alloc(0)), bytes(claim));
  const signature = bytes(algorithm.sign(signed, key));
  const padded = (by: number) =>
    Buffer.concat([
      sign1Tag,
      array(said, map(text('pad'), bytes(Buffer.alloc(by))), nothing, signature),
    ]);
  // The length of the padding is itself written in one to three bytes.
  const spare = size - padded(0).length;
  const made = [spare, spare - 1, spare - 2]
    .filter((by) => by >= 0)
    .map(padded)
    .find(({ length }) => length === size);
  if (!made) throw new Error('no room for the signature');
  return made;
};
