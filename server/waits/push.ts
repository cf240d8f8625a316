import { createECDH, createHash } from 'node:crypto';
import { request, type Dispatcher } from 'undici';
import webPush from 'web-push';
import type { Executor } from '../db/database.ts';
import { keptSecret, storedSecret } from '../db/kept-secret.ts';

/** The pair of keys (VAPID, RFC 8292) that push services know this server by. */
export interface PushKeys {
  publicKey: string;
  privateKey: string;
}

/** Made once; all processes on the database have the same. */
export const pushKeys = async (db: Executor): Promise<PushKeys> =>
  JSON.parse(
    await keptSecret(db, 'vapid', () => JSON.stringify(webPush.generateVAPIDKeys())),
  ) as PushKeys;

/** Whether what is stored can sign for push services; nothing is stored before the first start. */
export const canSign = async (db: Executor): Promise<boolean> => {
  const kept = await storedSecret(db, 'vapid');
  if (kept === undefined) return true;
  try {
    const { publicKey, privateKey } = JSON.parse(kept) as PushKeys;
    webPush.getVapidHeaders('https://push.example.com', nobody, publicKey, privateKey, 'aes128gcm');
    return true;
  } catch {
    return false;
  }
};

export interface PushTarget {
  endpoint: string;
  p256dh: string;
  auth: string;
}

/**
 * What a push service said: taken; nobody is there any more; never (this message); or not now,
 * with the seconds to wait, 0: it did not say.
 */
export type PushOutcome =
  | { told: 'taken' | 'gone' | 'never' }
  | { told: 'later'; seconds: number; why: string };

/** How long a push service keeps a message for a browser that is out of reach, seconds. */
const timeToLive = 24 * 3600;
const timeoutMs = 10_000;
/** Where services can complain when the operator has told no address of this server. */
const nobody = 'mailto:push@example.com';

/** Whether the keys of a subscription can be encrypted for: a point of P-256, and 16 bytes. */
export const areKeys = ({ p256dh, auth }: Pick<PushTarget, 'p256dh' | 'auth'>): boolean => {
  const point = Buffer.from(p256dh, 'base64url');
  if (point.length !== 65 || Buffer.from(auth, 'base64url').length !== 16) return false;
  const curve = createECDH('prime256v1');
  curve.generateKeys();
  try {
    curve.computeSecret(point);
    return true;
  } catch {
    return false;
  }
};

const secondsOf = (retryAfter: unknown): number => {
  const text = typeof retryAfter === 'string' ? retryAfter : '';
  if (/^\d{1,6}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, Math.round((at - Date.now()) / 1000));
};

export type SendPush = (target: PushTarget, topic: string, message: object) => Promise<PushOutcome>;

/**
 * Sends messages, encrypted for the browser (RFC 8291), through a dispatcher that decides which
 * addresses may be reached. Of several messages about one topic a service keeps the last.
 * @param publicUrl where people reach this server; empty: not known
 */
export const createPush =
  (keys: PushKeys, publicUrl: string, dispatcher: Dispatcher): SendPush =>
  async ({ endpoint, p256dh, auth }, topic, message) => {
    try {
      const { headers, body } = webPush.generateRequestDetails(
        { endpoint, keys: { p256dh, auth } },
        JSON.stringify(message),
        {
          vapidDetails: {
            subject: publicUrl.startsWith('https://') ? publicUrl : nobody,
            ...keys,
          },
          TTL: timeToLive,
          // Somebody waits for it: a phone may wake up for it.
          urgency: 'high',
          topic: createHash('sha256').update(topic).digest('base64url').slice(0, 32),
          contentEncoding: 'aes128gcm',
        },
      );
      const answer = await request(endpoint, {
        dispatcher,
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { statusCode } = answer;
      // What services say may be of any length, and is of no use.
      answer.body.on('error', () => {});
      answer.body.destroy();
      if (statusCode >= 200 && statusCode < 300) return { told: 'taken' };
      // 401, 403: the browser subscribed with other keys than ours.
      if ([401, 403, 404, 410].includes(statusCode)) return { told: 'gone' };
      if (statusCode >= 400 && statusCode < 500 && ![408, 429].includes(statusCode))
        return { told: 'never' };
      const seconds = secondsOf(answer.headers['retry-after']);
      return { told: 'later', seconds, why: `answered ${statusCode}` };
    } catch (error) {
      return { told: 'later', seconds: 0, why: error instanceof Error ? error.message : 'failed' };
    }
  };
