import {
  createDecipheriv,
  createECDH,
  createHmac,
  randomBytes,
  randomUUID,
  type ECDH,
} from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importJWK, jwtVerify } from 'jose';
import type { WaitResult } from '#contract/wait.ts';

/** A message as a browser would get it. */
export interface Pushed {
  device: string;
  headers: IncomingHttpHeaders;
  message: WaitResult;
}

export interface FakePushService {
  /** `host:port` for FETCH_ALLOWED. */
  host: string;
  /** Checked and decrypted, in the order they came. */
  pushed: Pushed[];
  /** Requests, refused ones included. */
  requests: number;
  /** What was wrong with a request; empty when all was well. */
  faults: string[];
  /** The next answers; 201 when there are none. */
  answers: { status: number; headers?: Record<string, string> }[];
  /** A browser that takes pushes: the input of push_subscribe. */
  browser(): Browser;
  close(): Promise<void>;
}

interface Browser {
  device: string;
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

const hmac = (key: Buffer, ...parts: (Buffer | string)[]): Buffer => {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** One step of HKDF's expansion is enough for all that is needed here. */
const derive = (salt: Buffer, secret: Buffer, info: Buffer, length: number): Buffer =>
  hmac(hmac(salt, secret), info, Buffer.from([1])).subarray(0, length);

/** RFC 8291 with the one record of RFC 8188 that a push has. @throws when it does not hold */
const decrypt = (body: Buffer, ecdh: ECDH, auth: Buffer): string => {
  const salt = body.subarray(0, 16);
  const keyLength = body.readUInt8(20);
  const theirs = body.subarray(21, 21 + keyLength);
  const sealed = body.subarray(21 + keyLength);
  if (sealed.length > body.readUInt32BE(16)) throw new Error('more than one record');
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), theirs]);
  const secret = derive(auth, ecdh.computeSecret(theirs), info, 32);
  const key = derive(salt, secret, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(salt, secret, Buffer.from('Content-Encoding: nonce\0'), 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  const end = plain.lastIndexOf(2);
  if (end < 0) throw new Error('no end of the last record');
  return plain.subarray(0, end).toString('utf8');
};

/** RFC 8292: signed by the key that the browser subscribed with, for this service, for a short time. */
const checkSender = async (header: string, origin: string, publicKey: string): Promise<void> => {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(header) ?? [];
  if (key !== publicKey) throw new Error('another key than the one subscribed with');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'), {
    algorithms: ['ES256'],
    audience: origin,
    requiredClaims: ['exp', 'sub'],
  });
  if ((payload.exp ?? 0) > Date.now() / 1000 + 24 * 3600) throw new Error('valid for too long');
  if (!/^(mailto:|https:)/.test(payload.sub ?? '')) throw new Error('nobody to write to');
};

/** A push service that checks who sends, and opens what it gets as the browsers would. */
export const startPushService = async (publicKey: () => string): Promise<FakePushService> => {
  const browsers = new Map<string, Browser & { ecdh: ECDH }>();
  const server = createServer((request, response) => {
    const take = async (): Promise<number> => {
      service.requests += 1;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const answer = service.answers.shift();
      if (answer) {
        for (const [name, value] of Object.entries(answer.headers ?? {}))
          response.setHeader(name, value);
        return answer.status;
      }
      const browser = browsers.get(request.url ?? '');
      if (!browser) return 404;
      const { headers } = request;
      await checkSender(headers.authorization ?? '', `http://${service.host}`, publicKey());
      if (headers['content-encoding'] !== 'aes128gcm') throw new Error('not aes128gcm');
      const auth = Buffer.from(browser.keys.auth, 'base64url');
      const message = JSON.parse(decrypt(Buffer.concat(chunks), browser.ecdh, auth)) as WaitResult;
      service.pushed.push({ device: browser.device, headers, message });
      return 201;
    };
    take()
      .catch((error: unknown) => {
        service.faults.push(String(error));
        return 400;
      })
      .then((status) => response.writeHead(status).end())
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service: FakePushService = {
    host,
    pushed: [],
    requests: 0,
    faults: [],
    answers: [],
    browser: () => {
      const ecdh = createECDH('prime256v1');
      ecdh.generateKeys();
      const path = `/send/${randomUUID()}`;
      const browser: Browser = {
        device: randomUUID(),
        endpoint: `http://${host}${path}`,
        keys: {
          p256dh: ecdh.getPublicKey().toString('base64url'),
          auth: randomBytes(16).toString('base64url'),
        },
      };
      browsers.set(path, { ...browser, ecdh });
      return browser;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return service;
};
