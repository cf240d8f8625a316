import { randomUUID } from 'node:crypto';
import type { Database } from '#server/db/database.ts';
import { beginFile, type FileWriter } from './api-file.store.ts';
import { type LineDeps, workOnLine } from './batch-line.ts';
import * as store from './batch.store.ts';
import { newId } from './new-id.ts';

/** How often it is looked for lines, and for batches that have ended, ms. */
const lookMs = 1_000;
/** Lines at once in this process. */
const mostAtOnce = 4;
/**
 * Half the price is for what waits until it is quiet, and a little where it is: who wants an answer now
 * pays all of it. A batch begins nothing beside the calls of others, but beside one more for each time
 * that it has waited so long, minutes; beside so many, nothing is begun.
 */
const leastWait = 1;
const patience = 15;
const busy = 8;
/** Why a line of a batch that ends was not done. */
const lateOf = ({ status, answered }: { status: string; answered: number }) => {
  if (status === 'cancelling') return { code: 'batch_cancelled', message: '已取消' };
  return answered >= store.mostAnswered
    ? { code: 'output_too_large', message: '回答加起来太大，剩下的请另建一批' }
    : { code: 'batch_expired', message: '24 小时内没有做完' };
};

/** Puts what came of a batch into files, once nothing of it is left to do. */
const endBatch = (db: Database, id: string): Promise<void> =>
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

/** Works on lines of batches while few others ask, each answered and paid once. */
export const createBatchWorker = (deps: LineDeps & { instance: number }) => {
  const { db, instance, running, log } = deps;
  let atWork = 0;
  let stopped = false;

  let looking = false;
  let again = false;
  const endOne = async (id: string): Promise<void> => {
    try {
      await endBatch(db, id);
    } catch (error) {
      log.error({ err: error, batch: id }, 'a batch could not be ended for now');
    }
  };
  const look = async (): Promise<void> => {
    // One at a time: two would both take what there is room for.
    again = looking;
    if (looking) return;
    looking = true;
    try {
      const others = running.count() - atWork;
      const room = others < busy ? mostAtOnce - atWork : 0;
      const claim = randomUUID();
      if (room > 0) await store.freeDeadLines(db);
      const waited = Math.max(leastWait, others * patience);
      const lines =
        room > 0 ? await store.claimLines(db, { instance, claim, most: room, waited }) : [];
      for (const line of lines) {
        atWork += 1;
        void workOnLine(deps, line, { batch: line.batch_id, line: line.line, claim })
          .catch((error: unknown) => log.error({ err: error }, 'a line of a batch is left'))
          .finally(() => {
            atWork -= 1;
            if (!stopped) void look();
          });
      }
      if (lines.length === 0) for (const id of await store.endedBatches(db)) await endOne(id);
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
