import { completionFields, moderationFields, rerankFields } from '#contract/open-fields.ts';
import type { Database } from '#server/db/database.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { OpenHandlers } from '#server/http/open-handlers.ts';
import { blockedAmong } from '../moderation/blocked-words.service.ts';
import type { ApiChat } from './chat.service.ts';
import type { Style } from './chat-stream.ts';
import { usageIn, usageOf } from './chat-text.ts';
import { takeFields } from './fields.ts';
import { newId } from './new-id.ts';

type Json = Record<string, unknown>;

/** Letters of all texts of one request to be judged, and requests that a person may have waiting. */
const mostJudged = 100_000;
const inTurn = createFairQueue(1, 8);

const continuing = '把用户给出的文字接着写下去。只输出接着的部分，不重复已有的，不解释。';

const headOf = (model: string): Json => ({
  id: newId('cmpl'),
  object: 'text_completion',
  created: Math.floor(Date.now() / 1000),
  model,
});

interface Choice {
  index?: number;
  message?: { content?: unknown };
  delta?: { content?: unknown };
  finish_reason?: string | null;
}

const choicesOf = (answer: Json): Json[] =>
  ((answer['choices'] ?? []) as Choice[]).map(({ index = 0, message, delta, finish_reason }) => {
    const { content } = message ?? delta ?? {};
    const text = typeof content === 'string' ? content : '';
    return { index, text, logprobs: null, finish_reason: finish_reason ?? null };
  });

/** Events of a chat as those of a text. */
const textStyle = (model: string, withUsage: boolean): Style => {
  const head = headOf(model);
  const frame = (rest: Json): string => `data: ${JSON.stringify({ ...head, ...rest })}\n\n`;
  return {
    write: ({ chunk }) => {
      const choices = choicesOf(chunk).filter(
        ({ text, finish_reason: finish }) => text !== '' || finish !== null,
      );
      const told = withUsage && chunk['usage'] ? usageIn(chunk) : null;
      if (told) return frame({ choices, usage: usageOf(told, chunk['usage']) });
      return choices.length > 0 ? frame({ choices }) : '';
    },
    end: () => 'data: [DONE]\n\n',
  };
};

const nearness = (one: readonly number[], other: readonly number[]): number => {
  let product = 0;
  let first = 0;
  let second = 0;
  for (const [at, value] of one.entries()) {
    const beside = other[at] ?? 0;
    product += value * beside;
    first += value * value;
    second += beside * beside;
  }
  return Math.min(1, Math.max(0, product / (Math.sqrt(first * second) || 1)));
};

interface Embedded {
  data: { index: number; embedding: number[] }[];
  usage?: { prompt_tokens: number; total_tokens: number };
}

/** What is done with texts by chats, vectors and this server's own words. */
export const createTextApi = (deps: {
  db: Database;
  chat: ApiChat;
  embed: OpenHandlers['createEmbeddings'];
}): Pick<OpenHandlers, 'createCompletion' | 'createModeration' | 'createRerank'> => {
  const { db, chat, embed } = deps;
  return {
    async createCompletion(input, context) {
      takeFields(context, completionFields, input, 'service');
      const { model, prompt, stream, stream_options: options, ...asked } = input;
      // Refused fields came with values that ask for nothing.
      const {
        suffix: _suffix,
        logprobs: _logprobs,
        echo: _echo,
        best_of: _best,
        ...fields
      } = asked;
      const body = {
        ...fields,
        model,
        messages: [
          { role: 'system' as const, content: continuing },
          { role: 'user' as const, content: [prompt].flat().join('') },
        ],
      };
      if (stream)
        return chat.stream(context, body, textStyle(model, options?.include_usage === true));
      const { answer } = await chat.whole(context, body);
      return { json: { ...headOf(model), choices: choicesOf(answer), usage: answer.usage } };
    },

    async createModeration(input, context) {
      takeFields(context, moderationFields, input, 'service');
      const texts = [input.input]
        .flat()
        .map((each) => (typeof each === 'string' ? each : each.text));
      if (texts.reduce((sum, { length }) => sum + length, 0) > mostJudged)
        throw new Refusal('too_large', `input：合计最多 ${mostJudged} 字，请分成几次`);
      const judged = await inTurn(context.caller.user, () => blockedAmong(db, texts));
      const results = judged.map((flagged) => ({
        flagged,
        categories: { blocked_words: flagged },
        category_scores: { blocked_words: flagged ? 1 : 0 },
        category_applied_input_types: { blocked_words: ['text'] },
      }));
      return { json: { id: newId('modr'), model: 'builtin-moderation', results } };
    },

    async createRerank(input, context) {
      takeFields(context, rerankFields, input, 'service');
      const { model, query, top_n: most } = input;
      const texts = input.documents.map((each) => (typeof each === 'string' ? each : each.text));
      const asked = { model, input: [query, ...texts], encoding_format: 'float' as const };
      const { json } = (await embed(asked, context)) as { json: Embedded };
      const vectors = new Map(json.data.map(({ index, embedding }) => [index, embedding]));
      const question = vectors.get(0) ?? [];
      const results = texts
        .map((text, index) => ({
          index,
          relevance_score: nearness(question, vectors.get(index + 1) ?? []),
          ...(input.return_documents ? { document: { text } } : {}),
        }))
        .sort((a, b) => b.relevance_score - a.relevance_score)
        .slice(0, most ?? texts.length);
      const tokens = json.usage?.prompt_tokens ?? 0;
      const usage = { prompt_tokens: tokens, total_tokens: json.usage?.total_tokens ?? tokens };
      return { json: { id: newId('rerank'), model, results, usage } };
    },
  };
};
