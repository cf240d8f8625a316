import { countFields, messageFields } from '#contract/open-fields.ts';
import { isFree } from '#contract/price.ts';
import type { Database } from '#server/db/database.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import type { OpenContext, OpenHandlers } from '#server/http/open-handlers.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal, statusIn } from '#server/http/open-failure.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { balances } from '../ledger/ledger.service.ts';
import type { ApiChat } from './chat.service.ts';
import type { ChatAsked } from './chat-asking.ts';
import type { Style } from './chat-stream.ts';
import { citedAnswer, citedStyle, toldSource } from './cited.ts';
import { usageIn, usageOf, firstChoice } from './chat-text.ts';
import { monthUsed } from './developer.store.ts';
import { takeFields } from './fields.ts';
import { chatOfMessages, openAiWords } from './messages.ts';
import { messageOf, messageStyle } from './messages-answer.ts';

const done = 'data: [DONE]\n\n';

/** Events as they came, but for what the asker did not ask for. */
const openAiStyle = (model: string, withUsage: boolean): Style => ({
  write: ({ data, chunk }: RelayEvent) => {
    const told = chunk['usage'] ? usageIn(chunk) : null;
    const choices = chunk['choices'] as unknown[] | undefined;
    if (!withUsage && chunk['usage'] && choices?.length === 0) return '';
    if (told) {
      const usage = usageOf(told, chunk['usage']);
      return `data: ${JSON.stringify({ ...chunk, model, usage })}\n\n`;
    }
    if (chunk['model'] === model) return `data: ${data}\n\n`;
    return `data: ${JSON.stringify({ ...chunk, model })}\n\n`;
  },
  end: () => done,
});

interface Delta {
  content?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
}

/** Each event is a text, or `{ reasoning }`. */
const plainStyle: Style = {
  bare: true,
  write: ({ chunk }) => {
    const [choice] = (chunk['choices'] ?? []) as { delta?: Delta }[];
    const { content, reasoning_content: thought, reasoning } = choice?.delta ?? {};
    const thinking = thought ?? reasoning;
    let frames = '';
    if (typeof thinking === 'string' && thinking !== '')
      frames += `data: ${JSON.stringify({ reasoning: thinking })}\n\n`;
    if (typeof content === 'string' && content !== '')
      frames += `data: ${JSON.stringify(content)}\n\n`;
    return frames;
  },
  end: () => done,
};

interface Grounds {
  embedding?: string | null | undefined;
  strict_mode?: 0 | 1 | boolean | null | undefined;
  sources?: boolean | null | undefined;
}

const wordsIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content
          .map((part: { text?: unknown } | null) => part?.text)
          .filter((text) => typeof text === 'string')
          .join('\n')
      : '';

export const createChatHandlers = (deps: {
  db: Database;
  chat: ApiChat;
  knowledge: Pick<KnowledgeService, 'on' | 'find' | 'mayAsk'>;
  models: Pick<ModelService, 'find'>;
}): Pick<
  OpenHandlers,
  'chatCompletions' | 'createMessage' | 'countMessageTokens' | 'apiChat' | 'apiBalance'
> => {
  const { db, chat, knowledge, models } = deps;

  /**
   * The request with what the named knowledge base has on its last question, and the sources that
   * its answer is to name by number; null: it was not asked to. @throws ApiRefusal
   */
  const grounded = async (asked: ChatAsked & Grounds, context: OpenContext) => {
    const { embedding, strict_mode: strict, sources: named, ...body } = asked;
    const { messages } = asked;
    const told = { ...body, model: asked.model, messages };
    if (!embedding) return { body: told, sources: named === true ? [] : null };
    const { user } = context.caller;
    if (!(await knowledge.find(db, embedding, user.id)))
      throw new ApiRefusal('embedding_missing', '没有这个知识库，或它不对您开放', {
        status: 404,
        param: 'embedding',
      });
    const question = wordsIn(
      [...messages].reverse().find(({ role }) => role === 'user')?.['content'],
    );
    const model = await models.find(db, asked.model, user);
    const { part, sources } = await knowledge.on(db, [embedding], question, user.id, {
      mayAsk: knowledge.mayAsk(user, model !== null && !isFree(model)),
      strict: strict === 1 || strict === true,
      numbered: named === true,
      note: true,
    });
    return {
      body: { ...told, messages: [{ role: 'system' as const, content: part.text }, ...messages] },
      sources: named === true ? sources.map(toldSource) : null,
    };
  };

  return {
    async chatCompletions(input, context) {
      const { stream, stream_options: options, ...asked } = input;
      const { body, sources } = await grounded(asked, context);
      if (stream) {
        const style = openAiStyle(input.model, options?.include_usage === true);
        const cited = sources ? citedStyle(style, sources, { asFrame: false }) : style;
        return chat.stream(context, body, cited);
      }
      const { answer } = await chat.whole(context, body);
      return { json: sources ? citedAnswer(answer, sources) : answer };
    },

    async createMessage(input, context) {
      takeFields(context, messageFields, input, 'anthropic');
      const { model, stream } = input;
      const body = chatOfMessages(input, context.asked('anthropic-beta'));
      if (stream) return chat.stream(context, body, messageStyle(model), openAiWords);
      const { answer, counted } = await chat.whole(context, body, { inWords: openAiWords });
      return { json: messageOf(answer, model, counted) };
    },

    async countMessageTokens(input, context) {
      takeFields(context, countFields, input, 'anthropic');
      const body = chatOfMessages(input, '');
      return { json: { input_tokens: await chat.length(context, body) } };
    },

    async apiChat(input, context) {
      const { stream, ...asked } = input;
      const { body, sources } = await grounded(asked, context);
      const style = sources ? citedStyle(plainStyle, sources, { asFrame: true }) : plainStyle;
      if (stream)
        return chat.stream(context, body, style).catch((error: unknown) => {
          // What was asked is refused as everywhere; what a service failed is the stream's own error.
          if (!(error instanceof Refusal) || statusIn(error) < 500) throw error;
          return { events: async ({ sink, failure }) => void sink.write(failure(error)) };
        });
      const { answer: whole, counted, deducted } = await chat.whole(context, body);
      const answer = sources ? citedAnswer(whole, sources) : whole;
      const { message, finish } = firstChoice(answer);
      const { content, reasoning_content: thought } = message;
      return {
        json: {
          result: true,
          model: input.model,
          message,
          content: typeof content === 'string' ? content : '',
          reasoning: typeof thought === 'string' ? thought : '',
          finish_reason: finish,
          ...(sources && { sources }),
          usage: {
            prompt_tokens: counted.promptTokens,
            completion_tokens: counted.completionTokens,
            deduct_tokens: deducted,
          },
        },
      };
    },

    async apiBalance(_input, { caller }) {
      const { balance } = await balances(db, caller.user.id);
      return {
        json: {
          result: true,
          balance,
          month_used: await monthUsed(db, caller.keyId),
          month_limit: caller.monthLimit,
        },
      };
    },
  };
};
