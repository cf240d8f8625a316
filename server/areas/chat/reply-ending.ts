import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '#common/chat-message.ts';
import { noteUnanswered } from '../ledger/unanswered.ts';
import type { Live, Own, RepliesContext } from './live-replies.ts';
import type { Ended, Reply, ReplyRequest } from './reply.ts';
import type { ReplyLoop } from './reply-loop.ts';
import { finishReply, LostReply, type Finished } from './settlement.ts';

/** How long the reply to a question that is not stored can still be read, ms. */
const keptMs = 120_000;

/** The hold that pays for a reply now: its loop takes another for each round. */
export const holdOf = (request: ReplyRequest, loop: ReplyLoop | undefined): string | null =>
  loop ? loop.holdId : request.holdId;

/** Ends the row, however long the database takes to come back; false when it was ended elsewhere. */
const storeEnd = async (context: RepliesContext, reply: Finished): Promise<boolean> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await finishReply(context.db, reply);
      return true;
    } catch (error) {
      if (error instanceof LostReply) return false;
      context.log.error({ err: error, id: reply.id, attempt }, 'a reply could not be stored');
      if (context.stage === 'closed' || attempt >= 100) return false;
      await sleep(Math.min(5000, 100 * 2 ** attempt));
    }
  }
};

/** Counts, bills and stores what was written; false when another process has ended it. */
const settleReply = async (
  context: RepliesContext,
  answer: Reply,
  ended: Ended,
  loop: ReplyLoop | undefined,
): Promise<boolean> => {
  const { request } = answer;
  const used = answer.hasWritten || answer.stoppedAtWork;
  const counted = used
    ? await answer.count(ended.state === 'done')
    : { promptTokens: 0, completionTokens: 0 };
  const holdId = holdOf(request, loop);
  if (holdId !== null && !used && ended.error?.code === 'empty')
    await noteUnanswered(request.userId, request.model.name, answer.roughPrompt);
  const called = loop && (loop.state.round > 0 || answer.log.tools.length > 0);
  return storeEnd(context, {
    id: request.historyId,
    owner: context.instance.id,
    sessionId: request.sessionId,
    userId: request.userId,
    human: request.human,
    temporary: request.temporary,
    model: request.model.name,
    price: request.model,
    holdId,
    before: called ? loop.state.spent : undefined,
    sources: ended.state === 'waiting' ? null : (loop?.state.pages ?? null),
    channelId: answer.channelId,
    log: answer.log,
    used,
    ...ended,
    ...counted,
  });
};

/** Ends a reply that has been written here: its row, those who read it, and what it was kept in. */
export const endReply = async (
  context: RepliesContext,
  entry: Live & { own: Own },
  ended: Ended,
  loop: ReplyLoop | undefined,
): Promise<void> => {
  const { live, kept, words } = context;
  const { own, readers } = entry;
  const { answer } = own;
  const { request, log } = answer;
  const id = request.historyId;
  own.finishing = true;
  let isOurs = !answer.wasLost;
  if (isOurs) {
    loop?.close(ended.state !== 'waiting');
    for (const reader of readers) if (loop) reader.pushTools();
    isOurs = await settleReply(context, answer, ended, loop);
    if (isOurs && ended.state === 'done' && !request.temporary && context.stage === 'open') {
      const said = [...request.messages.map(({ content }) => textOf(content)), log.text];
      const length = said.reduce((sum, { length }) => sum + length, 0);
      for (const tell of context.done) tell(request, length);
    }
  }
  const ending = isOurs ? { error: ended.error } : null;
  if (live.get(id) === entry) live.delete(id);
  words?.end(id, own.writing, ending);
  if (ending && request.temporary) kept.set(id, { log, ending, until: Date.now() + keptMs });
  for (const reader of readers) {
    if (ending) reader.end(ending);
    else reader.close();
  }
};
