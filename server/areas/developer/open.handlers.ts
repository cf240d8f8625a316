import { yuanOfMillion } from '#contract/goods.ts';
import { modelTypes } from '#contract/kinds.ts';
import { countFields, messageFields, responseFields } from '#contract/open-fields.ts';
import type { Model } from '#contract/model.ts';
import { needsTranslation } from '#contract/image-prompt.ts';
import type { Database } from '#server/db/database.ts';
import type { RelayEvent } from '#server/engines/chat-relay.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { ApiCaller, OpenContext, OpenHandlers } from '#server/http/open-routes.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal, statusIn } from '#server/http/open-failure.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { balances } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import {
  type ApiChat,
  type ChatAsked,
  mayUseModel,
  noSuchModel,
  type Style,
} from './chat.service.ts';
import { citedAnswer, citedStyle, toldSource } from './cited.ts';
import { usageIn, usageOf } from './chat-text.ts';
import { builtInEmbeddingModel } from './embedding.handlers.ts';
import { monthUsed } from './developer.store.ts';
import { takeFields } from './fields.ts';
import { createStoredResponses } from './stored-responses.ts';
import { chatOfMessages, openAiWords } from './messages.ts';
import { messageOf, messageStyle } from './messages-answer.ts';
import { chatOf, firstChoice, responseOf, responseStyle } from './responses.ts';

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

const typeNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(modelTypes).map(([name, type]) => [type, name]),
);

/** What a million tokens of each kind cost, yuan. */
const yuanPrices = (model: Model) => {
  const prompt = model.prompt_factor ?? model.factor;
  return {
    prompt: yuanOfMillion(prompt),
    cached_prompt: yuanOfMillion(Math.min(prompt, model.cached_factor ?? prompt)),
    ...(model.written_factor === null
      ? {}
      : { written_prompt: yuanOfMillion(model.written_factor) }),
    completion: yuanOfMillion(model.factor),
  };
};

const translator = {
  en: '你是翻译。把用户给出的文字译成自然的英文，只输出译文，不要解释。',
  zh: '你是翻译。把用户给出的文字译成自然的中文，只输出译文，不要解释。',
};
const writer =
  '你为文生图模型写提示词。把用户的一句话扩写成一段具体的画面描述：主体、动作、环境、光线、构图、画风，120 字以内，与用户同一种语言，不改变原意。只输出结果。';

export const createChatHandlers = (deps: {
  db: Database;
  chat: ApiChat;
  models: Pick<ModelService, 'usable' | 'cheapestModel' | 'closedToApi'>;
  embeddings: Pick<EmbeddingModels, 'names'>;
  prompts: Pick<PromptService, 'expandByLibrary'>;
  knowledge: Pick<KnowledgeService, 'on' | 'find'>;
}): Pick<
  OpenHandlers,
  | 'chatCompletions'
  | 'createResponse'
  | 'storedResponse'
  | 'deleteResponse'
  | 'createMessage'
  | 'countMessageTokens'
  | 'apiModels'
  | 'apiModel'
  | 'apiChat'
  | 'apiTranslate'
  | 'apiInscriptor'
  | 'apiBalance'
> => {
  const { db, chat, models, embeddings, prompts, knowledge } = deps;
  const stored = createStoredResponses(db);

  const modelRows = async (caller: ApiCaller) => {
    const closed = await models.closedToApi(db);
    const embedding = [builtInEmbeddingModel, ...(await embeddings.names())]
      .filter((name) => mayUseModel(caller, name))
      .map((name) => ({
        id: name,
        object: 'model' as const,
        created: 0,
        owned_by: name === builtInEmbeddingModel ? 'queqiao' : 'service',
        name,
        type: 'embedding',
      }));
    const listed = (await models.usable(db, caller.user))
      .filter(({ name, display }) => display && !closed.has(name) && mayUseModel(caller, name))
      .map((model) => ({
        id: model.name,
        object: 'model' as const,
        created: 0,
        owned_by: model.built_in ? 'queqiao' : 'service',
        name: model.label,
        type: typeNames[model.type] ?? '',
        vision: model.vision,
        factor: model.factor,
        prompt_factor: model.prompt_factor,
        cached_factor: model.cached_factor,
        written_factor: model.written_factor,
        ...(model.type === modelTypes.chat ? { yuan_per_million: yuanPrices(model) } : {}),
      }));
    return [...listed, ...embedding];
  };

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
    const { part, sources } = await knowledge.on(db, [embedding], question, user.id, {
      strict: strict === 1 || strict === true,
      numbered: named === true,
      note: true,
    });
    return {
      body: { ...told, messages: [{ role: 'system' as const, content: part.text }, ...messages] },
      sources: named === true ? sources.map(toldSource) : null,
    };
  };

  /** A text from the named chat model, or the cheapest that is connected and well; null: none is. */
  const write = async (
    context: OpenContext,
    task: string,
    text: string,
    named: string | undefined,
  ): Promise<string | null> => {
    const { caller } = context;
    const usual = async (): Promise<string | undefined> => {
      const closed = await models.closedToApi(db);
      const cheapest = await models.cheapestModel(
        db,
        caller.user,
        (name) => !closed.has(name) && mayUseModel(caller, name),
      );
      return cheapest?.builtIn ? undefined : cheapest?.name;
    };
    const model = named ?? (await usual());
    if (model === undefined) return null;
    const { answer } = await chat.whole(context, {
      model,
      messages: [
        { role: 'system', content: task },
        { role: 'user', content: text },
      ],
    });
    const { content } = firstChoice(answer).message;
    return typeof content === 'string' ? content.trim() : '';
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

    async createResponse(input, context) {
      const passed = takeFields(context, responseFields, input, 'service');
      const body = chatOf(input, passed, await stored.before(input, context.caller));
      const keep = (response: Record<string, unknown>) => stored.keep(input, response, context);
      if (input.stream) return chat.stream(context, body, responseStyle(input, keep));
      const { answer, counted } = await chat.whole(context, body);
      return { json: await keep(responseOf(input, answer, counted)) };
    },

    async storedResponse({ response_id: id }, { caller }) {
      return { json: await stored.find(id, caller) };
    },

    async deleteResponse({ response_id: id }, { caller }) {
      await stored.remove(id, caller);
      return { json: { id, object: 'response.deleted', deleted: true } };
    },

    async createMessage(input, context) {
      takeFields(context, messageFields, input, 'anthropic');
      const { model, stream } = input;
      const body = chatOfMessages(input, context.asked('anthropic-beta'));
      if (stream) return chat.stream(context, body, messageStyle(model), openAiWords);
      const { answer, counted } = await chat.whole(context, body, openAiWords);
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

    async apiModels(_input, { caller }) {
      return { json: { object: 'list', data: await modelRows(caller), result: true } };
    },

    async apiModel({ model }, { caller }) {
      const row = (await modelRows(caller)).find(({ id }) => id === model);
      if (!row) throw noSuchModel(model);
      return { json: row };
    },

    async apiTranslate({ text, to, model }, context) {
      const needed = to === 'en' ? needsTranslation(text) : /[a-z]{2}/i.test(text);
      const translated = needed ? await write(context, translator[to], text, model) : null;
      return { json: { result: true, text: translated ?? text, translated: translated !== null } };
    },

    async apiInscriptor({ text }, context) {
      const written =
        (await write(context, writer, text, undefined)) ??
        // Whoever holds a key has what the key may use, and not what its account may.
        (text.trim() === '' ? '' : await prompts.expandByLibrary(text));
      return { json: { result: true, text: written } };
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
