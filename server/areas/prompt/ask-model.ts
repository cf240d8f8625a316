import type { FastifyBaseLogger } from 'fastify';
import { streamCodes } from '#contract/page-errors.ts';
import { deduction, estimateTokens, isFree, priceAt } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { heldAhead } from '../ledger/word-hold.ts';
import { Reply } from '../chat/reply.ts';
import { excerptOf } from '#common/markdown/digest.ts';
import { promptTokens } from '../chat/prompt.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import type { ChatMessage } from '#common/chat-message.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import { storableText } from '#server/storable.ts';
import {
  countFreeUse,
  extendHold,
  hold,
  noteFailedUse,
  release,
  settle,
} from '../ledger/ledger.service.ts';
import { noteUnanswered, requireAnswers } from '../ledger/unanswered.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';

/** Short texts: whoever waits for one waits in front of a closed send button. */
const waits = { firstByteMs: 30_000, idleMs: 20_000, totalMs: 90_000, size: 40_000 };
/** A timer may be so much early, ms. */
const early = 50;

/** Ends of an answer that its question may have brought about: its service bills all the same. */
const ofQuestion: ReadonlySet<string> = new Set(['balance', 'too_large', 'empty']);

/**
 * Asks a chat model for one text and waits for it; nothing is kept of it but the charge, which is
 * that of a chat reply: held before, settled by what was used. What is not handed over, as it is
 * empty, failed or cut for its length, costs nothing.
 * @param subject what it is for, as it stands among a person's spends
 * @param keep stores what came of it, in the transaction that takes its charge
 * @throws Refusal balance, engine_failed
 */
export const askModel = async (
  deps: {
    db: Database;
    models: ModelService;
    log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
    /** This process. */
    owner: number;
  },
  request: {
    userId: number;
    model: ResolvedModel;
    messages: ChatMessage[];
    subject: string;
    keep?: (tx: Transaction, text: string, spent: number) => Promise<void>;
  },
): Promise<string> => {
  const { db, models, log, owner } = deps;
  const { userId, model, messages, subject, keep } = request;
  let held = 0;
  let holdId: string | null = null;
  if (!isFree(model)) {
    await requireAnswers(userId, model.name);
    const ahead = Math.min(heldAhead, model.maxTokens ?? heldAhead);
    held = deduction(model, promptTokens(messages, estimateTokens), ahead);
    holdId = await hold(db, {
      userId,
      amount: held,
      reference: 'prompt',
      vipAllowed: !model.vipExcluded,
      owner,
    });
    if (!holdId) throw new Refusal('balance');
  }
  const answer = new Reply(
    {
      model,
      messages,
      sampling: { temperature: 0.5, presencePenalty: 0, frequencyPenalty: 0 },
      holdId,
      held,
    },
    waits,
    {
      engine: (onLine) =>
        models.engine(db, { model: model.name, userId, firstMs: waits.firstByteMs, onLine }),
      onText: () => {},
      countTokens: countInThread,
      // Only words are asked about.
      fetchImage: () => Promise.resolve(null),
      extendHold: (more) => (holdId ? extendHold(db, holdId, more, 1) : Promise.resolve(more)),
      log,
    },
  );
  const begun = performance.now();
  const ended = await answer.write();
  const text = storableText(answer.log.text).trim();
  const { code = '' } = ended.error ?? {};
  const ranOut = performance.now() - begun >= waits.totalMs - early;
  const whole = ended.state === 'done' && text !== '';
  const type = sessionTypes.chat;
  if (!whole) {
    if (holdId) {
      await release(db, holdId);
      // White space alone is billed by its service as well.
      if (ofQuestion.has(code) || ended.state === 'done' || ranOut) {
        const wrote = estimateTokens(answer.log.text + answer.log.reasoning);
        await noteUnanswered(userId, model.name, answer.roughPrompt + wrote);
      }
    }
    await noteFailedUse(db, userId, { type, model: model.name, channelId: answer.channelId });
    if (code === 'balance') throw new Refusal('balance');
    throw new Refusal('engine_failed', ended.error?.message ?? streamCodes.empty);
  }
  const counted = await answer.count(true);
  const { promptTokens: prompt, completionTokens: completion } = counted;
  const price = priceAt(model, answer.channelId);
  await db.transaction(async (tx) => {
    let spent = 0;
    const use = {
      type,
      model: model.name,
      prompt_tokens: prompt,
      completion_tokens: completion,
      channelId: answer.channelId,
    };
    if (holdId) {
      const record = { ...use, human: excerptOf(subject) };
      ({ spent } = await settle(tx, holdId, deduction(price, prompt, completion, counted), record));
    } else await countFreeUse(tx, userId, use);
    await keep?.(tx, text, spent);
  });
  return text;
};
