import { setTimeout as sleep } from 'node:timers/promises';
import { streamCodes } from '../../../contract/errors.ts';
import { countInThread } from '../../engines/token-thread.ts';
import { releaseExpired } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { RepliesContext } from './live-replies.ts';
import { ReplyLog } from './reply-log.ts';
import * as store from './reply.store.ts';
import { finishReply, LostReply } from './settlement.ts';

/** How soon after the end of a line it is asked again whether its process lives, ms. */
const againMs = 500;

/**
 * Ends the replies whose process died, and bills what is stored of them, or what a reader here
 * has seen where that is more.
 */
export const createDeadReplies = (
  { db, instance, log, live }: RepliesContext,
  models: Pick<ModelService, 'find'>,
) => {
  /** What was read here of a reply may be ahead of its row. */
  const longest = (id: number, row: store.ReplyRow): ReplyLog => {
    const stored = ReplyLog.of(row);
    const seen = live.get(id)?.log;
    return seen && !row.temporary && seen.continues(stored) ? seen : stored;
  };

  const endDead = async (id: number): Promise<void> => {
    const row = await store.readUnfinished(db, id);
    if (!row || row.owner === null) return;
    const model = await models.find(db, row.model);
    const text = longest(id, row);
    const counts = row.holdId ? await countInThread([text.reasoning, text.text]) : [];
    try {
      await finishReply(db, {
        id,
        owner: row.owner,
        sessionId: row.sessionId,
        userId: row.userId,
        human: row.human,
        temporary: row.temporary,
        model: row.model,
        price: model ?? { factor: 0, promptFactor: null },
        holdId: row.holdId,
        channelId: null,
        log: text,
        used: text.length > 0,
        state: 'interrupted',
        error: { code: 'interrupted', message: streamCodes.interrupted },
        promptTokens: row.promptTokens,
        completionTokens: counts.reduce((sum, count) => sum + count, 0),
      });
      log.info({ id, owner: row.owner }, 'ended a reply whose process is gone');
    } catch (error) {
      if (!(error instanceof LostReply)) throw error;
    }
  };

  /** Own rows that no reply here belongs to, as they were at the last sweep. */
  let strays = new Set<number>();

  const sweep = async (): Promise<void> => {
    const running = await store.runningReplies(db);
    const alive = new Map<number, boolean>();
    const nextStrays = new Set<number>();
    for (const { id, owner } of running) {
      if (owner === null) continue;
      if (owner === instance.id) {
        if (live.get(id)?.own) continue;
        if (strays.has(id)) await endDead(id);
        else nextStrays.add(id);
        continue;
      }
      if (!alive.has(owner)) alive.set(owner, await instance.isAlive(owner));
      if (alive.get(owner) === false) await endDead(id);
    }
    strays = nextStrays;
    await releaseExpired(db);
  };

  /** The line to the process that writes a reply broke: perhaps it died. */
  const lineBroke = async (id: number, owner: number): Promise<void> => {
    for (const pause of [0, againMs]) {
      await sleep(pause, undefined, { ref: false });
      if (!(await instance.isAlive(owner))) return endDead(id);
    }
  };

  return { sweep, lineBroke };
};
