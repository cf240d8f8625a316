import { needsTranslation } from '#contract/image-prompt.ts';
import type { Database } from '#server/db/database.ts';
import type { OpenContext, OpenHandlers } from '#server/http/open-handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import type { ApiChat } from './chat.service.ts';
import { openToKey } from './key-models.ts';

const translator = {
  en: '你是翻译。把用户给出的文字译成自然的英文，只输出译文，不要解释。',
  zh: '你是翻译。把用户给出的文字译成自然的中文，只输出译文，不要解释。',
};
const writer =
  '你为文生图模型写提示词。把用户的一句话扩写成一段具体的画面描述：主体、动作、环境、光线、构图、画风，120 字以内，与用户同一种语言，不改变原意。只输出结果。';

const textIn = (answer: Record<string, unknown>): string => {
  const [choice] = answer['choices'] as { message?: { content?: unknown } }[];
  const content = choice?.message?.content;
  return typeof content === 'string' ? content.trim() : '';
};

/** Texts that a chat model is told to make of another: translations, and prompts for pictures. */
export const createWritingApi = (deps: {
  db: Database;
  chat: Pick<ApiChat, 'whole'>;
  models: Pick<ModelService, 'cheapestModel' | 'closedToApi'>;
  prompts: Pick<PromptService, 'expandByLibrary'>;
}): Pick<OpenHandlers, 'apiTranslate' | 'apiInscriptor'> => {
  const { db, chat, models, prompts } = deps;

  /** A text from the named chat model, or the cheapest that is connected and well; null: none is. */
  const write = async (
    context: OpenContext,
    task: string,
    text: string,
    named: string | undefined,
  ): Promise<string | null> => {
    const { caller } = context;
    const usual = async (): Promise<string | undefined> => {
      const mayUse = await openToKey(deps, caller);
      const cheapest = await models.cheapestModel(db, caller.user, mayUse);
      return cheapest?.builtIn ? undefined : cheapest?.name;
    };
    const model = named ?? (await usual());
    if (model === undefined) return null;
    const messages = [
      { role: 'system' as const, content: task },
      { role: 'user' as const, content: text },
    ];
    const { answer } = await chat.whole(context, { model, messages }, { wanted: textIn });
    return textIn(answer);
  };

  return {
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
  };
};
