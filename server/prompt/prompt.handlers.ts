import type { Handlers } from '../http/handlers.ts';
import type { PromptService } from './prompt.service.ts';

export const createPromptHandlers = (
  prompts: PromptService,
): Pick<Handlers, 'translate' | 'inscriptor' | 'promptList' | 'topPrompt' | 'hidePrompt'> => ({
  translate: ({ msg, cn2en, model }, { user }) =>
    prompts.translate(user, msg, { into: cn2en === 1 ? 'english' : 'chinese', model }),

  inscriptor: ({ msg }, { user }) => prompts.expand(user, msg),

  promptList: async ({ type }, { db, user }) => ({
    prompts: (await prompts.keywords(db, user?.id ?? null, type)).map((word, at) => ({
      id: word.id,
      text: word.text,
      lang_zh: word.langZh,
      sub_type: word.type,
      dir: word.dir,
      sub_dir: word.subDir,
      sort: at,
      top: word.top,
      hidden: word.hidden,
    })),
  }),

  topPrompt: async (input, { db, user }) => ({
    set: await prompts.mark(db, user.id, input, 'top'),
  }),

  hidePrompt: async (input, { db, user }) => ({
    set: await prompts.mark(db, user.id, input, 'hide'),
  }),
});
