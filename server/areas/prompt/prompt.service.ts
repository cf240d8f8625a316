import type { FastifyBaseLogger } from 'fastify';
import { needsTranslation } from '#contract/image-prompt.ts';
import type { Database, Executor, Transaction } from '#server/db/database.ts';
import type { ChatMessage } from '#common/chat-message.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { requireUsable } from '../model/usable.ts';
import { askModel } from './ask-model.ts';
import { expandFromLibrary } from './expand.ts';
import type { Keyword } from './keywords.ts';
import { library } from './keywords.service.ts';
import { marksOf, toggleMark, type MarkKind } from './prompt.store.ts';

type Asker = Pick<Identity, 'id' | 'guest'>;

export interface PromptService {
  /**
   * Translates the words of a prompt. They come back as they are, and `translated` is false, where
   * nothing is to be translated or no model is connected that this person may use. `tokens` were paid.
   * @param model a chat model by its name; else the cheapest
   * @throws Refusal balance, engine_failed, model_unavailable, login_required
   */
  translate: (
    asker: Asker,
    text: string,
    options: { into: 'english' | 'chinese'; model?: string },
  ) => Promise<{ result: string; translated: boolean; tokens: number }>;
  /** Writes a prompt out; `library`: without a model, by words of the library. Throws as translate. */
  expand: (asker: Asker, text: string) => Promise<{ result: string; library: boolean }>;
  /** The same without a model, whoever asks; costs nothing. */
  expandByLibrary: (text: string) => Promise<string>;
  /** The chat model that writes for a person, as translate takes it; null: none is connected. */
  writer: (asker: Asker, model?: string) => Promise<ResolvedModel | null>;
  /**
   * Asks a chat model for one text; `keep` stores it in the transaction that takes its charge.
   * @throws Refusal balance, engine_failed
   */
  ask: (
    asker: Asker,
    request: {
      model: ResolvedModel;
      messages: ChatMessage[];
      subject: string;
      keep: (tx: Transaction, text: string, spent: number) => Promise<void>;
    },
  ) => Promise<string>;
  /** The library as a person sees it: what they put first, newest such mark first, then the rest. */
  keywords: (
    db: Executor,
    userId: number | null,
    type?: Keyword['type'],
  ) => Promise<(Keyword & { top: boolean; hidden: boolean })[]>;
  /** Sets a mark or takes it back; tells whether it is set. @throws Refusal not_found */
  mark: (
    db: Executor,
    userId: number,
    keyword: { id: number; type: Keyword['type'] },
    kind: MarkKind,
  ) => Promise<boolean>;
}

const keep =
  '保留网址、<lora:…> 标记和以 -- 开头的参数，一字不改。只输出结果，不要解释，不要加引号。';
const tasks = {
  english: `你是翻译。把用户给出的画图提示词译成自然的英文，用逗号分隔要点。${keep}`,
  chinese: `你是翻译。把用户给出的画图提示词译成自然的中文。${keep}`,
  expand: `你为文生图模型写提示词。把用户的一句话扩写成一段具体的画面描述：主体、动作、环境、光线、构图、画风，120 字以内，与用户同一种语言，不改变原意。${keep}`,
};

export const createPromptService = (deps: {
  db: Database;
  models: ModelService;
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>;
  /** This process. */
  owner: number;
}): PromptService => {
  const { db, models } = deps;

  /** A connected chat model: the named one, or the cheapest that this person may use. */
  const chatModel = async (asker: Asker, name?: string): Promise<ResolvedModel | null> => {
    if (name !== undefined) {
      const model = await models.find(db, name, asker);
      if (!model) throw new Refusal('model_unavailable');
      await requireUsable(db, model, asker);
      return model.builtIn ? null : model;
    }
    const usual = await models.defaultModel(db, asker);
    return usual.builtIn ? null : usual;
  };

  const expandByLibrary = async (text: string): Promise<string> =>
    expandFromLibrary(text, await library(db));

  const ask = async (
    asker: Asker,
    model: ResolvedModel,
    task: keyof typeof tasks,
    text: string,
  ) => {
    let tokens = 0;
    const result = await askModel(deps, {
      userId: asker.id,
      model,
      messages: [
        { role: 'system', content: tasks[task] },
        { role: 'user', content: text },
      ],
      subject: `${task === 'expand' ? '扩写提示词' : '翻译提示词'}：${text}`,
      keep: async (_tx, _text, spent) => {
        tokens = spent;
      },
    });
    return { result, tokens };
  };

  return {
    async translate(asker, text, { into, model: name }) {
      const unchanged = { result: text, translated: false, tokens: 0 };
      const needed = into === 'english' ? needsTranslation(text) : /[a-z]{2}/i.test(text);
      if (!needed) return unchanged;
      const model = await chatModel(asker, name);
      if (!model) return unchanged;
      return { ...(await ask(asker, model, into, text)), translated: true };
    },

    writer: chatModel,
    ask: (asker, request) => askModel(deps, { userId: asker.id, ...request }),

    expandByLibrary,

    async expand(asker, text) {
      if (text.trim() === '') return { result: '', library: true };
      const model = await chatModel(asker);
      if (!model) return { result: await expandByLibrary(text), library: true };
      const { result } = await ask(asker, model, 'expand', text);
      return { result, library: false };
    },

    async keywords(executor, userId, type) {
      const marks = userId === null ? [] : await marksOf(executor, userId);
      const place = (kind: MarkKind) =>
        new Map(marks.filter((mark) => mark.kind === kind).map((mark, at) => [mark.keywordId, at]));
      const [top, hidden] = [place('top'), place('hide')];
      return (await library(executor, type))
        .map((word) => ({ ...word, top: top.has(word.id), hidden: hidden.has(word.id) }))
        .sort((a, b) => (top.get(b.id) ?? -1) - (top.get(a.id) ?? -1));
    },

    async mark(executor, userId, { id, type }, kind) {
      if (!(await library(executor, type)).some((word) => word.id === id))
        throw new Refusal('not_found', '没有这个关键词');
      return toggleMark(executor, userId, id, kind);
    },
  };
};
