import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import type { FastifyBaseLogger } from 'fastify';
import { Agent } from 'undici';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import { keptSecret } from '#server/db/kept-secret.ts';
import { heartbeat } from '#server/http/event-stream.ts';
import { piecesFrom, type Told } from './reply-pieces.ts';
import type { ReplyWords } from './reply-words.ts';

/** Where a process serves the replies that it writes to the other processes. */
export const linePath = '/api/instances/:instance/replies/:reply';
/** Says which process answers. */
export const instanceHeader = 'x-instance';
/** Tells one writing of a reply from the next. */
export const writingHeader = 'x-reply-writing';

/** How long another process may take to connect and to answer, ms. */
const answerMs = 2_000;
/** How long a request may be on its way, with clocks that lie a minute apart, s. */
const tokenSeconds = 180;
/** A process that cannot be reached is not asked again for this long, ms. */
const restMs = 10_000;

interface LineTold extends Told {
  /** The line is over: after the reply's end, or without it. */
  onOver: () => void;
}

export interface Line {
  /** It delivers; until then the row is what there is. */
  isOpen: () => boolean;
  close: () => void;
}

/**
 * Lines between processes: whoever reads a reply here that another process writes gets it word by
 * word, through Valkey where there is one, else from that process over HTTP. There a line is opened
 * with a token that only processes on the same database can make, for one reply of one process.
 */
export const createReplyLines = async ({
  db,
  instance,
  words,
  log,
}: {
  db: Database;
  /** Null: there is no Valkey. */
  words: ReplyWords | null;
  log: Pick<FastifyBaseLogger, 'info'>;
  instance: Pick<Instance, 'id' | 'originsOf'>;
}) => {
  const secret = await keptSecret(db, 'instances', () => randomBytes(32).toString('base64url'));
  const agent = new Agent({
    connect: { timeout: answerMs },
    headersTimeout: answerMs,
    bodyTimeout: 4 * heartbeat.everyMs,
  });
  /** The origin by which a process was reached, or until when it is not asked again. */
  const reached = new Map<number, { origin: string | null; until: number }>();

  const signed = (owner: number, id: number, expires: number): string =>
    createHmac('sha256', secret).update(`${owner} ${id} ${expires}`).digest('base64url');

  const ask = (
    origin: string,
    owner: number,
    id: number,
    position: number,
    signal: AbortSignal,
  ) => {
    const expires = Math.floor(Date.now() / 1000) + tokenSeconds;
    return agent.request({
      origin,
      path: linePath.replace(':instance', String(owner)).replace(':reply', String(id)),
      method: 'GET',
      headers: {
        authorization: `Instance ${expires}.${signed(owner, id, expires)}`,
        'last-event-id': String(position),
      },
      signal,
    });
  };

  /** The first of its addresses that answers; null: none does. */
  const reach = async (owner: number, id: number, position: number, signal: AbortSignal) => {
    const known = reached.get(owner);
    if (known?.origin === null && known.until > Date.now()) return null;
    const origins = known?.origin ? [known.origin] : await instance.originsOf(owner);
    for (const origin of origins) {
      try {
        const answer = await ask(origin, owner, id, position, signal);
        // Another program may answer at the same address; what is not there is no fault of the line.
        if (answer.headers[instanceHeader] === String(owner)) {
          reached.set(owner, { origin, until: 0 });
          return answer;
        }
        await answer.body.dump();
      } catch {
        if (signal.aborted) return null;
      }
    }
    reached.set(owner, { origin: null, until: Date.now() + restMs });
    return null;
  };

  return {
    /** Whether a request comes from a process on the same database, for that reply of this process. */
    admits: (authorization: string | undefined, owner: string, id: number): boolean => {
      const [, expires = '', mac = ''] =
        /^Instance (\d{1,12})\.([\w-]{43})$/.exec(authorization ?? '') ?? [];
      return (
        owner === String(instance.id) &&
        Number(expires) > Date.now() / 1000 &&
        timingSafeEqual(
          Buffer.from(mac.padEnd(43)),
          Buffer.from(signed(instance.id, id, Number(expires))),
        )
      );
    },

    /**
     * Reads a reply that another process writes from a position on.
     * @param writing which writing of it the position belongs to; empty: any
     */
    open: (owner: number, id: number, position: number, writing: string, told: LineTold): Line => {
      const end = new AbortController();
      let open = false;
      const run = async (): Promise<void> => {
        const asked = { owner, id, position, writing };
        if (await words?.read(asked, told, end.signal, () => (open = true))) return;
        const answer = await reach(owner, id, position, end.signal);
        if (!answer) return;
        if (answer.statusCode !== 200) return answer.body.dump();
        const now = String(answer.headers[writingHeader]);
        if (writing !== '' && now !== writing) return answer.body.dump();
        told.onWriting(now);
        open = true;
        const parser = piecesFrom(id, told);
        const decoder = new StringDecoder('utf8');
        for await (const chunk of answer.body) parser.feed(decoder.write(chunk as Buffer));
      };
      void run()
        .catch((error: unknown) => {
          if (!end.signal.aborted) log.info({ err: error, owner, id }, 'a line to a process broke');
        })
        .finally(() => {
          open = false;
          if (!end.signal.aborted) told.onOver();
        });
      return { isOpen: () => open, close: () => end.abort() };
    },

    close: (): Promise<void> => agent.destroy(),
  };
};
