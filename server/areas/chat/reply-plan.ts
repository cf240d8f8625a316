import { randomUUID } from 'node:crypto';
import type { Settings } from '#contract/auth.ts';
import type { StoredSource } from '#contract/embedding.ts';
import { limits, tooLongText } from '#contract/limits.ts';
import { deduction, estimateTokens, isFree } from '#contract/price.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { together, withCommit } from '#server/db/in-transaction.ts';
import type { ChatMessage } from '#common/chat-message.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { hold, openLocked, type OpenWallet } from '../ledger/ledger.service.ts';
import { requireAnswers } from '../ledger/unanswered.ts';
import type { LoopState } from './loop-state.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { requireUsable } from '../model/usable.ts';
import { writableSession, type SessionRow } from '../session/session.service.ts';
import { heldAhead } from '../ledger/word-hold.ts';
import { thoughtAhead, type ReplyRequest } from './reply.ts';
import { drawMessage, insertMessage, type Drawn, type NewMessage } from './chat.store.ts';
import { promptTokens, sampling, type Generation } from './prompt.ts';
import type { Question } from './question.ts';

/** What a reply is to be written with, and what it must hold. */
export interface Plan {
  model: ResolvedModel;
  messages: ChatMessage[];
  sampling: ReplyRequest['sampling'];
  /** Of the hold to be made; null for a free model. */
  holdId: string | null;
  /** Tokens to hold. */
  held: number;
  /** What the reply is given to rest on; null: it is asked about no knowledge base. */
  sources: StoredSource[] | null;
  /** What it may call; left out: nothing. */
  loop?: LoopState;
}

/** Characters of one prompt that a model takes. */
export const maxPromptOf = (model: { maxPrompt?: number | null } | null): number =>
  model?.maxPrompt ?? limits.defaultMaxPrompt;

export const tooLong = (maxPrompt: number): Refusal =>
  new Refusal('prompt_too_long', tooLongText(maxPrompt));

/**
 * How much of a conversation goes along with a question, UTF-16 units. 内置助手 costs nothing and
 * looks a file through: it gets all that is kept of one.
 */
export const roomOf = (model: { builtIn: boolean; maxPrompt?: number | null }): number =>
  maxPromptOf(model) + (model.builtIn ? limits.fileText : 0);

export const requireLength = (human: string, maxPrompt: number): void => {
  if (human.length > maxPrompt) throw tooLong(maxPrompt);
};

/** The model for a person's question; refuses one that is none, costs too much or cannot see. */
export const usableModel = async (
  db: Executor,
  models: Pick<ModelService, 'find'>,
  name: string,
  user: Identity,
  { human, request }: Question,
): Promise<ResolvedModel> => {
  const model = await models.find(db, name, user);
  if (!model) throw new Refusal('model_unavailable');
  await requireUsable(db, model, user);
  if (!model.vision && request !== null && request.images.length > 0)
    throw new Refusal('vision_missing');
  requireLength(human, maxPromptOf(model));
  if (!isFree(model)) await requireAnswers(user.id, model.name);
  return model;
};

/** What its engine is told of thinking: nothing where the model has no choice, whatever was asked. */
const thinkingFor = (
  { thinking: words }: Pick<ResolvedModel, 'thinking'>,
  choice: Generation['thinking'],
): Pick<ReplyRequest['sampling'], 'thinking'> =>
  words === null || choice === undefined || choice === 'auto'
    ? {}
    : { thinking: { choice, words } };

/**
 * @param saved the settings of whoever asks
 * @param tools what a model is told of its tools, which costs as the prompt does
 */
export const planReply = (
  model: ResolvedModel,
  messages: ChatMessage[],
  asked: Generation,
  saved: Settings,
  tools = '',
): Plan => {
  const chosen = { ...sampling(asked, saved), ...thinkingFor(model, asked.thinking) };
  const plan = { model, messages, sampling: chosen };
  if (isFree(model)) return { ...plan, holdId: null, held: 0, sources: null };
  const ahead = Math.min(heldAhead, model.maxTokens ?? heldAhead) + thoughtAhead(chosen);
  const held = deduction(
    model,
    promptTokens(messages, estimateTokens) + estimateTokens(tools),
    ahead,
  );
  return { ...plan, holdId: randomUUID(), held, sources: null };
};

/** What whoever sends a message has to himself until the transaction ends. */
export interface Locked {
  session: SessionRow;
  drawn: Drawn;
  /** The sender's; null for a guest, who has none. */
  wallet: OpenWallet | null;
}

/**
 * Locks the session and the sender's wallet, in this order everywhere, and draws the message's
 * number: in one trip to the database, though a free reply needs no wallet.
 */
export const lockForSending = async (
  tx: Transaction,
  sessionRef: string,
  user: Identity,
): Promise<Locked> => {
  const [session, drawn, wallet] = await together([
    writableSession(tx, sessionRef, user),
    drawMessage(tx),
    user.guest ? null : openLocked(tx, user.id),
  ]);
  return { session, drawn, wallet };
};

const insertOrRefuse = async (tx: Transaction, message: NewMessage): Promise<void> => {
  if (!(await insertMessage(tx, message))) throw new Refusal('session_busy');
};

/** Inserts a message. That it could be is waited for with the commit. @throws Refusal session_busy */
export const insertAhead = (tx: Transaction, message: NewMessage): Promise<void> =>
  withCommit(tx, insertOrRefuse(tx, message));

/** Holds what was planned; gives what the reply to a message is to be written from. */
export const holdForReply = async (
  tx: Transaction,
  { id, userId, human }: { id: number; userId: number; human: string },
  session: SessionRow,
  { model, messages, sampling, holdId, held, sources, loop }: Plan,
  /** The payer's, where it is locked already. */
  wallet?: OpenWallet | null,
): Promise<ReplyRequest> => {
  if (holdId) {
    const made = await hold(tx, {
      id: holdId,
      userId,
      amount: held,
      reference: `history:${id}`,
      vipAllowed: !model.vipExcluded,
      wallet,
    });
    if (!made) throw new Refusal('balance');
  }
  return {
    historyId: id,
    sessionId: session.id,
    sessionUuid: session.uuid,
    userId,
    human,
    temporary: session.temporary,
    model,
    messages,
    sampling,
    holdId,
    held,
    cites: sources?.length ?? null,
    ...(loop ? { loop } : {}),
  };
};
