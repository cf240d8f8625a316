import { setTimeout as sleep } from 'node:timers/promises';
import { streamCodes } from '#contract/page-errors.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { createOrphans, releaseExpired } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import type { RepliesContext } from './live-replies.ts';
import { ReplyLog } from './reply-log.ts';
import { isOver, unknownText } from './stored-tool.ts';
import * as store from './reply.store.ts';
import { readLoop, takeOver } from './loop.store.ts';
import type { LoopState } from './loop-state.ts';
import type { ReplyRequest } from './reply.ts';
import { finishReply, LostReply } from './settlement.ts';

/** How soon after the end of a line it is asked again whether its process lives, ms. */
const againMs = 500;
/** So many processes may die over one loop before it is given up. */
const mostTaken = 3;

type Unfinished = NonNullable<Awaited<ReturnType<typeof store.readUnfinished>>>;

/** What a reply is asked with that goes on from its loop. */
export const requestOf = (
  row: Unfinished,
  model: ResolvedModel,
  loop: LoopState,
): ReplyRequest => ({
  historyId: row.id,
  sessionId: row.sessionId,
  sessionUuid: row.sessionUuid,
  userId: row.userId,
  human: row.human,
  temporary: row.temporary,
  model,
  messages: loop.messages,
  sampling: loop.sampling,
  holdId: row.holdId,
  held: 0,
  cites: loop.cites,
  loop,
});

/** Calls that nobody ends any more. */
const closeCalls = (log: ReplyLog): void => {
  for (const tool of log.tools)
    if (!isOver(tool))
      log.putTool({
        ...tool,
        state: tool.state === 'running' ? 'unknown' : 'stopped',
        result: tool.state === 'running' ? unknownText : '没有做',
      });
};

/**
 * Ends the replies whose process died, and bills what is stored of them, or what a reader here
 * has seen where that is more.
 */
export const createDeadReplies = (
  { db, instance, log, live, words }: RepliesContext,
  models: Pick<ModelService, 'find'>,
  /** Goes on with a loop of calls. */
  begin: (request: ReplyRequest, before: ReplyLog) => void,
) => {
  /** What was read here of a reply, or told through Valkey, may be ahead of its row. */
  const longest = async (id: number, row: store.ReplyRow): Promise<ReplyLog> => {
    const stored = ReplyLog.of(row);
    if (!row.temporary) await words?.complete(id, stored);
    const seen = live.get(id)?.log;
    return seen && !row.temporary && seen.continues(stored) ? seen : stored;
  };

  /** Takes up a loop of calls that was between two things that a model wrote. False: it ends here. */
  const goOn = async (row: Unfinished, loop: LoopState, log: ReplyLog): Promise<boolean> => {
    if (row.owner === null || row.stopRequested || loop.taken >= mostTaken) return false;
    if (log.length !== loop.length) return false;
    const model = await models.find(db, row.model, { id: row.userId });
    if (!model || !(await takeOver(db, row.id, row.owner, instance.id))) return false;
    begin(requestOf(row, model, { ...loop, taken: loop.taken + 1 }), log);
    return true;
  };

  const endDead = async (id: number): Promise<void> => {
    const row = await store.readUnfinished(db, id);
    if (!row || row.owner === null) return;
    const text = await longest(id, row);
    const loop = await readLoop(db, id);
    if (loop && (await goOn(row, loop, text))) {
      log.info({ id, owner: row.owner }, 'goes on with the calls of a reply whose process is gone');
      return;
    }
    const model = await models.find(db, row.model, { id: row.userId });
    closeCalls(text);
    const { reasoning, text: said } = text;
    // Of a loop the rounds before are paid; which of the words are new is not told by their kinds.
    const fresh = loop ? `${reasoning}${said}`.slice(loop.length) : '';
    const texts = loop ? [fresh] : [reasoning, said];
    const counts = row.holdId ? await countInThread(texts, row.model) : [];
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
        used: text.length > (loop?.length ?? 0),
        before: loop?.spent,
        sources: loop?.pages ?? null,
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

  /** One that cannot be ended is tried again at the next sweep, and keeps nobody from anything. */
  const tryEnd = (id: number): Promise<void> =>
    endDead(id).catch((error: unknown) =>
      log.error({ err: error, id }, 'a reply whose process is gone could not be ended'),
    );

  const releaseOrphans = createOrphans(db);
  const sweep = async (): Promise<void> => {
    const running = await store.runningReplies(db);
    const alive = new Map<number, boolean>();
    const nextStrays = new Set<number>();
    for (const { id, owner } of running) {
      if (owner === null) continue;
      if (owner === instance.id) {
        if (live.get(id)?.own) continue;
        if (strays.has(id)) await tryEnd(id);
        else nextStrays.add(id);
        continue;
      }
      if (!alive.has(owner)) alive.set(owner, await instance.isAlive(owner));
      if (alive.get(owner) === false) await tryEnd(id);
    }
    strays = nextStrays;
    await releaseExpired(db);
    await releaseOrphans();
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
