import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { calls } from '#contract/calls.ts';
import type { Database } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { failureBody, statusIn } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenContext } from '#server/http/open-routes.ts';
import { readInput } from '#server/http/validate.ts';
import type { RunningCalls } from '#server/http/running-calls.ts';
import * as store from './batch.store.ts';
import { newId } from './batch.handlers.ts';
import type { ApiChat, ChatAsked } from './chat.service.ts';
import type { Gate } from './key-limits.ts';

/** How often it is looked for lines, and for batches that have ended, ms. */
const lookMs = 1_000;
/** Lines at once in this process, and the calls of others beside which none is begun. */
const mostAtOnce = 4;
const quiet = 8;
/** How often a line is tried where its service, or a bound of its key, may be better later. */
const mostTries = 5;
const longestWait = 10 * 60_000;

/** What lines in bulk cost of the price. */
export const bulkFactor = 0.5;

/** Another process took the line over: what this one had of it is not paid. */
class TakenOver extends Error {}

/** Works on lines of batches while few others ask, each answered and paid once. */
export const createBatchWorker = (deps: {
  db: Database;
  instance: number;
  chat: Pick<ApiChat, 'whole'>;
  gate: Pick<Gate, 'callerOf' | 'watch'>;
  running: RunningCalls;
  log: FastifyBaseLogger;
}) => {
  const { db, instance, chat, gate, running, log } = deps;
  let atWork = 0;
  let stopped = false;

  const failLine = async (claim: store.Claim, refusal: Refusal): Promise<void> => {
    const body = failureBody('openai', refusal);
    await store.endLine(db, claim, 'failed', { status_code: statusIn(refusal), body });
  };

  const answer = async (line: store.ClaimedLine, claim: store.Claim): Promise<void> => {
    const known = await gate.callerOf(line.key_id);
    const caller: ApiCaller = {
      ...known,
      priceFactor: bulkFactor,
      /** In the transaction that pays: neither is there without the other. */
      alongside: async (tx, json) => {
        const told = { status_code: 200, request_id: claim.claim, body: json };
        if (!(await store.endLine(tx, claim, 'done', told))) throw new TakenOver();
      },
    };
    const gone = new AbortController();
    const unwatch = gate.watch(caller, () =>
      gone.abort(new Refusal('unauthorized', '这个 API-KEY 已被删除或停用')),
    );
    const context: OpenContext = {
      caller,
      db,
      requestId: claim.claim,
      log,
      signal: gone.signal,
      files: [],
      origin: '',
      header: () => undefined,
      asked: () => '',
    };
    try {
      const input = readInput(calls.chatCompletions, {}, line.body) as ChatAsked;
      const { stream: _, stream_options: __, ...asked } = input;
      await running.keep(chat.whole(context, asked as ChatAsked), () =>
        gone.abort(new Refusal('unavailable')),
      );
    } finally {
      unwatch();
    }
  };

  const work = async (line: store.ClaimedLine, claim: store.Claim): Promise<void> => {
    try {
      await answer(line, claim);
    } catch (error) {
      if (error instanceof TakenOver) return;
      const refusal =
        error instanceof Refusal ? error : new Refusal('internal', '服务器出错，这一行没有做');
      if (!(error instanceof Refusal)) log.error({ err: error }, 'a line of a batch failed');
      if (refusal.codeName === 'unavailable') return store.putBackLine(db, claim, 0);
      const status = statusIn(refusal);
      if ((status >= 500 || status === 429) && line.tries < mostTries)
        return store.putBackLine(db, claim, Math.min(longestWait, 2_000 * 4 ** (line.tries - 1)));
      await failLine(claim, refusal);
    }
  };

  /** Puts what came of a batch into files, once nothing of it is left to do. */
  const end = (id: string): Promise<void> =>
    db.transaction(async (tx) => {
      const ending = await store.lockEnding(tx, id);
      if (!ending) return;
      const { batch, lines } = ending;
      const late = batch.status === 'cancelling' ? 'batch_cancelled' : 'batch_expired';
      const rowOf = ({ custom_id: name, state, answer: told }: (typeof lines)[number]): string =>
        JSON.stringify({
          id: newId('batch_req'),
          custom_id: name,
          response: state === 'done' || state === 'failed' ? told : null,
          error:
            state === 'done' || state === 'failed'
              ? null
              : {
                  code: late,
                  message: late === 'batch_cancelled' ? '已取消' : '24 小时内没有做完',
                },
        });
      const save = async (of: typeof lines, name: string): Promise<string | null> => {
        if (of.length === 0) return null;
        const content = `${of.map(rowOf).join('\n')}\n`;
        const file = { keyId: batch.key_id, userId: batch.user_id, name, content };
        return (await store.insertFile(tx, { id: newId('file'), purpose: 'batch_output', ...file }))
          .id;
      };
      const good = lines.filter(({ state }) => state === 'done');
      const bad = lines.filter(({ state }) => state !== 'done');
      const left = bad.some(({ state }) => state !== 'failed');
      const status = !left ? 'completed' : late === 'batch_cancelled' ? 'cancelled' : 'expired';
      await store.endBatch(tx, id, {
        status,
        output: await save(good, `${id}_output.jsonl`),
        errors: await save(bad, `${id}_error.jsonl`),
        failed: bad.length,
      });
    });

  const look = async (): Promise<void> => {
    try {
      const room = running.count() - atWork < quiet ? mostAtOnce - atWork : 0;
      const claim = randomUUID();
      const lines = room > 0 ? await store.claimLines(db, { instance, claim, most: room }) : [];
      for (const line of lines) {
        atWork += 1;
        void work(line, { batch: line.batch_id, line: line.line, claim })
          .catch((error: unknown) => log.error({ err: error }, 'a line of a batch is left'))
          .finally(() => {
            atWork -= 1;
            if (!stopped) void look();
          });
      }
      if (lines.length === 0) for (const id of await store.endedBatches(db)) await end(id);
    } catch (error) {
      log.warn({ err: error }, 'batches could not be looked at for now');
    }
  };
  const timer = setInterval(() => void look(), lookMs).unref();
  return {
    close(): void {
      stopped = true;
      clearInterval(timer);
    },
  };
};
