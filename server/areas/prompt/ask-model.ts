import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { streamCodes } from '../../../contract/errors.ts';
import { deduction, estimateTokens, isFree } from '../../../contract/price.ts';
import { sessionTypes } from '../../../contract/session.ts';
import { Reply, heldAhead } from '../chat/reply.ts';
import { excerptOf } from '../../../common/markdown/digest.ts';
import { promptTokens } from '../chat/prompt.ts';
import type { Database, Transaction } from '../../db/database.ts';
import type { ChatMessage } from '../../../common/chat-message.ts';
import { countInThread } from '../../engines/token-thread.ts';
import { Refusal } from '../../http/handlers.ts';
import { extendHold, hold, release, settle } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';

/** Short texts: whoever waits for one waits in front of a closed send button. */
const waits = { firstByteMs: 30_000, idleMs: 20_000, totalMs: 90_000, size: 40_000 };

/**
 * Asks a chat model for one text and waits for it; nothing is kept of it but the charge, which is
 * that of a chat reply: held before, settled by what was used, nothing for an empty or failed one.
 * @param subject what it is for, as it stands among a person's spends
 * @param keep stores what came of it, in the transaction that takes its charge
 * @throws Refusal balance, engine_failed
 */
export const askModel = async (
  deps: { db: Database; models: ModelService; log: Pick<FastifyBaseLogger, 'warn' | 'error'> },
  request: {
    userId: number;
    model: ResolvedModel;
    messages: ChatMessage[];
    subject: string;
    keep?: (tx: Transaction, text: string, spent: number) => Promise<void>;
  },
): Promise<string> => {
  const { db, models, log } = deps;
  const { userId, model, messages, subject, keep } = request;
  let held = 0;
  let holdId: string | null = null;
  if (!isFree(model)) {
    const ahead = Math.min(heldAhead, model.maxTokens ?? heldAhead);
    held = deduction(model, promptTokens(messages, estimateTokens), ahead);
    holdId = await hold(db, {
      id: randomUUID(),
      userId,
      amount: held,
      reference: 'prompt',
      vipAllowed: !model.vipExcluded,
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
      channels: () => models.engines(db, model),
      onText: () => {},
      reportOutcome: (channelId, ok, failure) =>
        models.reportOutcome({ channelId, model: model.name, userId, ok, ...failure }),
      countTokens: countInThread,
      // Only words are asked about.
      fetchImage: () => Promise.resolve(null),
      extendHold: (more) => (holdId ? extendHold(db, holdId, more) : Promise.resolve(true)),
      log,
    },
  );
  const ended = await answer.write();
  const text = answer.log.text.trim();
  const whole = ended.state === 'done' && text !== '';
  if (holdId && !whole) await release(db, holdId);
  else if (whole) {
    const used = holdId ? await answer.count(true) : { promptTokens: 0, completionTokens: 0 };
    await db.transaction(async (tx) => {
      let spent = 0;
      if (holdId)
        ({ spent } = await settle(
          tx,
          holdId,
          deduction(model, used.promptTokens, used.completionTokens),
          {
            type: sessionTypes.chat,
            model: model.name,
            human: excerptOf(subject),
            prompt_tokens: used.promptTokens,
            completion_tokens: used.completionTokens,
          },
        ));
      await keep?.(tx, text, spent);
    });
  }
  if (whole) return text;
  if (ended.error?.code === 'balance') throw new Refusal('balance');
  throw new Refusal('engine_failed', ended.error?.message ?? streamCodes.empty);
};
