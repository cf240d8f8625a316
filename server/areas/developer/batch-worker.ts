import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { calls } from '#contract/calls.ts';
import type { Database } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { failureBody, statusIn } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenContext } from '#server/http/open-handlers.ts';
import { readInput } from '#server/http/validate.ts';
import type { RunningCalls } from '#server/http/running-calls.ts';
import { beginFile, type FileWriter } from './api-file.store.ts';
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

/** Why a line of a batch that ends was not done. */
const lateOf = ({ status, answered }: { status: string; answered: number }) => {
  if (status === 'cancelling') return { code: 'batch_cancelled', message: '已取消' };
  return answered >= store.mostAnswered
    ? { code: 'output_too_large', message: '回答加起来太大，剩下的请另建一批' }
    : { code: 'batch_expired', message: '24 小时内没有做完' };
};

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
      // Few lines are worked on at once.
      hold: () => undefined,
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
      const batch = await store.lockEnding(tx, id);
      if (!batch) return;
      const reason = lateOf(batch);
      const begin = (name: string) =>
        beginFile(tx, {
          id: newId('file'),
          purpose: 'batch_output',
          keyId: batch.key_id,
          userId: batch.user_id,
          name,
        });
      let good: FileWriter | null = null;
      let bad: FileWriter | null = null;
      let failed = 0;
      let left = false;
      for await (const { custom_id: name, state, answer: told } of store.linesOf(tx, id)) {
        const isOver = state === 'done' || state === 'failed';
        const row = JSON.stringify({
          id: newId('batch_req'),
          custom_id: name,
          response: isOver ? told : null,
          error: isOver ? null : reason,
        });
        if (state === 'done') {
          good ??= await begin(`${id}_output.jsonl`);
          await good.write(`${row}\n`);
        } else {
          failed += 1;
          left ||= !isOver;
          bad ??= await begin(`${id}_error.jsonl`);
          await bad.write(`${row}\n`);
        }
      }
      const ended = batch.status === 'cancelling' ? 'cancelled' : 'expired';
      await store.endBatch(tx, id, {
        status: left ? ended : 'completed',
        output: good && (await good.end()).id,
        errors: bad && (await bad.end()).id,
        failed,
      });
    });

  let looking = false;
  let again = false;
  const look = async (): Promise<void> => {
    // One at a time: two would both take what there is room for.
    again = looking;
    if (looking) return;
    looking = true;
    try {
      const room = running.count() - atWork < quiet ? mostAtOnce - atWork : 0;
      const claim = randomUUID();
      if (room > 0) await store.freeDeadLines(db);
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
    } finally {
      looking = false;
    }
    if (again && !stopped) void look();
  };
  const timer = setInterval(() => void look(), lookMs).unref();
  return {
    close(): void {
      stopped = true;
      clearInterval(timer);
    },
  };
};
