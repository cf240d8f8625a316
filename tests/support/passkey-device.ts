import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const sha = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();

/** What a device says that is asked for a proof; each of it may be a lie. */
export interface Said {
  challenge: string;
  origin: string;
  host?: string;
  type?: string;
  counter?: number;
  /** Its person was there, and was known: 0x01 and 0x04. */
  flags?: number;
  userHandle?: string;
  crossOrigin?: boolean;
}

/** A device with one key, as the bytes of WebAuthn have it; unlike a browser's it says what it is told. */
export const passkeyDevice = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rawId = randomBytes(32);
  const id = rawId.toString('base64url');

  const clientData = ({ challenge, origin, crossOrigin = false }: Said, type: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
  const head = ({ host = 'localhost', counter = 0, flags = 0x05 }: Said, more = 0) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha(host), Buffer.from([flags | more]), count]);
  };
  const keyBytes = (key: KeyObject): Uint8Array => {
    const { x = '', y = '' } = key.export({ format: 'jwk' });
    return isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ]),
    );
  };

  return {
    id,
    /** Answers a question for a new key. */
    register: (said: Said, givenId = rawId): string => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(givenId.length);
      const authData = Buffer.concat([
        head(said, 0x40),
        Buffer.alloc(16),
        length,
        givenId,
        keyBytes(publicKey),
      ]);
      const attestation = isoCBOR.encode(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', new Uint8Array(authData)],
        ]) as never,
      );
      const named = givenId.toString('base64url');
      return JSON.stringify({
        id: named,
        rawId: named,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData(said, said.type ?? 'webauthn.create').toString('base64url'),
          attestationObject: Buffer.from(attestation).toString('base64url'),
          transports: ['internal'],
        },
      });
    },
    /** Answers a question of the sign-in. */
    assert: (said: Said, credential = id): string => {
      const authData = head(said);
      const data = clientData(said, said.type ?? 'webauthn.get');
      const signature = sign('sha256', Buffer.concat([authData, sha(data)]), privateKey);
      return JSON.stringify({
        id: credential,
        rawId: credential,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
          ...(said.userHandle === undefined ? {} : { userHandle: said.userHandle }),
        },
      });
    },
  };
};
