import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../db/database.ts';
import { every } from '../every.ts';
import type { Authenticator } from './handlers.ts';

/** How soon an open stream notices that its reader has signed out, ms. */
const lookMs = 5_000;
/** Logins that are asked for in one statement. */
const mostAsked = 1_000;

/** Watches over the login of a stream. */
export type WatchLogin = (jti: string, response: ServerResponse) => void;

/**
 * Streams go on for long: they end soon after their readers have signed out or were disabled. The
 * logins of all streams are looked at together.
 */
export const createLoginWatch = (
  { db, auth }: { db: Database; auth: Pick<Authenticator, 'signedIn'> },
  log: Pick<FastifyBaseLogger, 'warn'>,
): WatchLogin => {
  const streams = new Map<string, Set<ServerResponse>>();
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const all = [...streams.keys()];
    for (let from = 0; from < all.length; from += mostAsked) {
      const asked = all.slice(from, from + mostAsked);
      const standing = await auth.signedIn(db, asked);
      for (const jti of asked)
        if (!standing.has(jti)) for (const response of streams.get(jti) ?? []) response.destroy();
    }
  };
  const failed = (error: unknown): void =>
    log.warn({ err: error }, 'logins cannot be looked at for now');

  return (jti, response) => {
    const open = streams.get(jti) ?? new Set();
    streams.set(jti, open.add(response));
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) streams.delete(jti);
      if (streams.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    timer ??= every(lookMs, look, failed).unref();
  };
};
