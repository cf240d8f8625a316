import type { ReplyState } from '#contract/chat.ts';
import { deduction, priceAt, type Price } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { StoredSource } from '#contract/embedding.ts';
import type { Database } from '#server/db/database.ts';
import { accountEnded, sqlState } from '#server/db/failure.ts';
import { committing, together, withCommit } from '#server/db/in-transaction.ts';
import {
  countFreeUse,
  noteFailedUse,
  release,
  settle,
  settling,
} from '../ledger/ledger.service.ts';
import { ReplyLog } from './reply-log.ts';
import { emptyReply } from './leave-chat.store.ts';
import { closeReply, noteEnd } from './reply.store.ts';
import { removeLoop, storeRound } from './loop.store.ts';
import type { LoopState } from './loop-state.ts';
import type { Counts, ReplyRequest } from './reply.ts';
import { excerptOf, summaryOf } from '#common/markdown/digest.ts';

export interface Finished {
  id: number;
  owner: number;
  sessionId: number;
  userId: number;
  human: string;
  /** Nothing that was said is stored, in the record of the spend neither. */
  temporary: boolean;
  model: string;
  price: Price;
  holdId: string | null;
  /** What wrote it, or was asked last; null: not known. */
  channelId: number | null;
  log: ReplyLog;
  /** It is paid for: something was written, or its person stopped it once a service had it. */
  used: boolean;
  state: ReplyState;
  error: { code: string; message: string } | null;
  promptTokens: number;
  completionTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  /** What its rounds before the last one took. Left out: it called nothing. */
  before?: LoopState['spent'] | undefined;
  /** What it came to rest on while it was written. */
  sources?: readonly StoredSource[] | null;
}

/** What stands for a question that is not stored. */
const temporaryText = '临时对话';

/** The reply is no longer this process's: another one has ended it. */
export class LostReply extends Error {}

/** What is left to do of a reply whose person has ended their account meanwhile. */
const endOfGone = (db: Database, { owner, id, holdId }: Finished): Promise<void> =>
  db.transaction(async (tx) => {
    if (holdId) await release(tx, holdId);
    await removeLoop(tx, id);
    if (!(await emptyReply(tx, owner, id))) throw new LostReply(`reply ${id} was ended elsewhere`);
  });

/**
 * Ends a reply: its last state, the charge, the record of the spend and the session's card, in one
 * transaction of two round trips. What was not used costs nothing; of an account that was ended
 * meanwhile neither words nor a hold stay. @throws LostReply
 */
export const finishReply = async (db: Database, reply: Finished): Promise<void> => {
  try {
    await finish(db, reply);
  } catch (error) {
    if (sqlState(error) !== accountEnded) throw error;
    await endOfGone(db, reply);
  }
};

const finish = (db: Database, reply: Finished): Promise<void> =>
  committing(db, async (tx) => {
    const log = reply.temporary ? new ReplyLog() : reply.log;
    const waits = reply.state === 'waiting';
    const summary = log.text === '' || waits ? null : summaryOf(log.text);
    await withCommit(tx, noteEnd(tx, reply.sessionId, summary));
    const { used, before } = reply;
    if (before && !waits) await removeLoop(tx, reply.id);
    let deducted = 0;
    let charge = async (): Promise<void> => {};
    if (reply.holdId && used) {
      const price = priceAt(reply.price, reply.channelId);
      const cost = deduction(price, reply.promptTokens, reply.completionTokens, reply);
      const { spent, save } = await settling(tx, reply.holdId, cost, {
        type: sessionTypes.chat,
        model: reply.model,
        human: reply.temporary ? temporaryText : excerptOf(reply.human),
        prompt_tokens: reply.promptTokens,
        completion_tokens: reply.completionTokens,
        channelId: reply.channelId,
      });
      deducted = spent;
      charge = save;
    } else if (reply.holdId) {
      await release(tx, reply.holdId);
    } else if (used) {
      charge = () =>
        countFreeUse(tx, reply.userId, {
          type: sessionTypes.chat,
          model: reply.model,
          prompt_tokens: reply.promptTokens,
          completion_tokens: reply.completionTokens,
          channelId: reply.channelId,
        });
    }
    if (!used && !before && reply.state === 'error') {
      const { model, channelId } = reply;
      await noteFailedUse(tx, reply.userId, { type: sessionTypes.chat, model, channelId });
    }
    return async () => {
      const [, ended] = await together([
        charge(),
        closeReply(tx, reply.owner, reply.id, {
          state: reply.state,
          errorCode: reply.error?.code ?? '',
          errorMessage: reply.temporary ? '' : (reply.error?.message ?? ''),
          promptTokens: (used ? reply.promptTokens : 0) + (before?.promptTokens ?? 0),
          completionTokens: (used ? reply.completionTokens : 0) + (before?.completionTokens ?? 0),
          deductTokens: deducted + (before?.deductTokens ?? 0),
          cachedTokens: (used ? (reply.cachedTokens ?? 0) : 0) + (before?.cachedTokens ?? 0),
          log,
          sources: reply.sources ?? null,
        }),
      ]);
      if (!ended) throw new LostReply(`reply ${reply.id} was ended elsewhere`);
    };
  });

/** A round of a reply that called tools. */
interface SettledRound {
  owner: number;
  id: number;
  request: ReplyRequest;
  holdId: string | null;
  channelId: number | null;
  counted: Counts;
  log: ReplyLog;
  /** The loop, knowing what the round cost. */
  stateWith: (deductTokens: number) => LoopState;
}

/** Pays for one round, and stores with it what it called. @throws LostReply */
export const settleRound = (db: Database, round: SettledRound): Promise<LoopState> =>
  db.transaction(async (tx) => {
    const { request, holdId, counted } = round;
    const price = priceAt(request.model, round.channelId);
    const cost = deduction(price, counted.promptTokens, counted.completionTokens, counted);
    const { spent } = holdId
      ? await settle(tx, holdId, cost, {
          type: sessionTypes.chat,
          model: request.model.name,
          human: excerptOf(request.human),
          prompt_tokens: counted.promptTokens,
          completion_tokens: counted.completionTokens,
          channelId: round.channelId,
        })
      : { spent: 0 };
    const state = round.stateWith(spent);
    const { owner, id, log } = round;
    if (!(await storeRound(tx, { owner, id, log, state })))
      throw new LostReply(`reply ${id} was ended elsewhere`);
    return state;
  });
