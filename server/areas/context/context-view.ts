import type { SessionContext } from '#contract/context.ts';
import { limits } from '#contract/limits.ts';
import { dearest, deduction, estimateTokens } from '#contract/price.ts';
import { textOf, type ChatMessage } from '#common/chat-message.ts';
import type { Executor } from '#server/db/database.ts';
import * as chat from '../chat/conversation.ts';
import { countFitting, promptTokens, summaryMessages } from '../chat/prompt.ts';
import { maxPromptOf } from '../chat/reply-plan.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import type { SessionRow } from '../session/session.service.ts';

/** Of the window: what stays word for word when the rest is condensed. */
const kept = 0.4;
/** UTF-16 units that are condensed at once. */
const mostPiece = 24_000;
/** About what one piece comes to, tokens: what is written of it, and what is told with it. */
const written = 800;
const toldAround = 250;

export interface ViewDeps {
  models: Pick<ModelService, 'find'>;
  conversation: Pick<ReturnType<typeof chat.createConversation>, 'before'>;
}

/** Tokens of texts of which only the lengths are known: a Chinese letter has three bytes. */
const roughTokens = (sizes: readonly { chars: number; bytes: number }[]): number =>
  Math.ceil(
    sizes.reduce((sum, { chars, bytes }) => {
      const wide = Math.min(chars, (bytes - chars) / 2);
      return sum + wide * 0.75 + (chars - wide) * 0.3;
    }, 0),
  );

/** Its person has long conversations condensed when they fill the window. */
export const condensesItself = ({ ownerSetting }: Pick<SessionRow, 'ownerSetting'>): boolean =>
  ownerSetting.condense !== 0;

/** UTF-16 units of one piece, for a model with such a window. */
export const pieceOf = (window: number): number => Math.min(mostPiece, Math.floor(window * 0.5));

/** The exchanges that are to be condensed: the oldest ones, newest first. */
export const toCondense = (sizes: readonly chat.Size[], summary: number, window: number) => {
  const all = sizes.reduce((sum, { chars }) => sum + chars, summary);
  if (all <= window * limits.context.full) return [];
  let room = window * kept;
  const past = sizes.findIndex(({ chars }, at) => {
    room -= chars;
    return room < 0 && at > 0;
  });
  return past < 0 ? [] : sizes.slice(past);
};

const costOf = (model: ResolvedModel, old: readonly chat.Size[], window: number): number => {
  if (model.builtIn || old.length === 0) return 0;
  const chars = old.reduce((sum, each) => sum + each.chars, 0);
  const pieces = Math.ceil(chars / pieceOf(window));
  const told = roughTokens(old) + pieces * toldAround + Math.max(0, pieces - 1) * written;
  return deduction(dearest(model), told, pieces * written);
};

/** What the model of a session reads of it, and what could be condensed. */
export const viewContext = async (
  { models, conversation }: ViewDeps,
  executor: Executor,
  session: SessionRow,
): Promise<SessionContext> => {
  const model = await models.find(executor, session.model, { id: session.userId });
  const window = maxPromptOf(model);
  const { exchanges, summary, recent } = model
    ? await conversation.before(executor, session, model)
    : { exchanges: [], summary: null, recent: 0 };
  const messages = exchanges.flatMap(({ human, ai }): ChatMessage[] => [
    { role: 'user', content: human },
    { role: 'assistant', content: ai },
  ]);
  const told = [...summaryMessages(summary?.text ?? ''), ...messages];
  const sizes = await chat.exchangeSizes(executor, session.id, summary?.upTo ?? 0);
  const unread = sizes.slice(exchanges.length);
  const room = window * limits.context.full - (summary?.text.length ?? 0);
  const fitting = countFitting(
    sizes.map(({ chars }) => ({ human: '', ai: ' '.repeat(Math.min(chars, window + 1)) })),
    room,
  );
  const more = sizes.slice(exchanges.length, Math.max(exchanges.length, fitting));
  const old = toCondense(sizes, summary?.text.length ?? 0, window);
  const use = await chat.cacheUse(executor, session.id);
  return {
    from_id: exchanges.at(-1)?.id ?? null,
    reads: exchanges.length,
    recent,
    tokens: promptTokens(told, estimateTokens),
    used: told.reduce((sum, { content }) => sum + textOf(content).length, 0),
    window,
    unread: unread.length,
    earlier: { exchanges: more.length, tokens: roughTokens(more) },
    condensable: { exchanges: old.length, cost: model ? costOf(model, old, window) : 0 },
    summary: summary && {
      text: summary.text,
      exchanges: summary.count,
      edited: summary.edited,
      made_at: summary.madeAt.toISOString(),
      auto: summary.auto,
      tokens: summary.tokens,
    },
    auto: condensesItself(session),
    condensing: await chat.isCondensing(executor, session.id),
    prompt_tokens: use.prompt,
    cached_tokens: use.cached,
  };
};
