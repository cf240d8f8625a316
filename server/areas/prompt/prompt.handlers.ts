import type { Handlers, Identity } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import type { PromptService } from './prompt.service.ts';
import { keywordPage, removeKeyword, saveKeyword } from './keywords.service.ts';
import * as templates from './templates.service.ts';

type PromptHandlers = Pick<
  Handlers,
  | 'translate'
  | 'inscriptor'
  | 'keywordList'
  | 'topKeyword'
  | 'hideKeyword'
  | 'promptList'
  | 'topPrompt'
  | 'hidePrompt'
  | 'savePrompt'
  | 'delPrompt'
  | 'managePromptList'
  | 'managePrompt'
  | 'removePrompt'
  | 'manageKeywordList'
  | 'manageKeyword'
  | 'removeKeyword'
>;

/**
 * Prompts that one person, or the guests of one network, have written or translated in a minute: a
 * model that is free answers them.
 */
const asksAMinute = { person: 90, network: 240 };
const limitPerson = createKeyLimit(asksAMinute.person, 60, 'prompts of a person');
const limitNetwork = createKeyLimit(asksAMinute.network, 60, 'prompts of a network');
const limitAsks = ({ guest, person }: Identity): Promise<void> =>
  (guest ? limitNetwork : limitPerson)(person);

export const createPromptHandlers = (prompts: PromptService): PromptHandlers => ({
  translate: async ({ msg, cn2en, model }, { user }) => {
    await limitAsks(user);
    return prompts.translate(user, msg, { into: cn2en === 1 ? 'english' : 'chinese', model });
  },

  inscriptor: async ({ msg }, { user }) => {
    await limitAsks(user);
    return prompts.expand(user, msg);
  },

  keywordList: async ({ type }, { db, user }) => ({
    keywords: (await prompts.keywords(db, user?.id ?? null, type)).map((word, at) => ({
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

  topKeyword: async (input, { db, user }) => ({
    set: await prompts.mark(db, user.id, input, 'top'),
  }),

  hideKeyword: async (input, { db, user }) => ({
    set: await prompts.mark(db, user.id, input, 'hide'),
  }),

  promptList: async ({ type }, { db, user }) => ({
    prompts: await templates.listTemplates(db, type, user?.id ?? 0),
  }),

  topPrompt: async (input, { db, user }) => ({
    set: await templates.markTemplate(db, user.id, input, 'top'),
  }),

  hidePrompt: async (input, { db, user }) => ({
    set: await templates.markTemplate(db, user.id, input, 'hide'),
  }),

  savePrompt: async (input, { db, user }) => ({
    id: await templates.saveTemplate(db, user.id, input),
  }),

  delPrompt: async ({ id }, { db, user }) => {
    await templates.removeTemplate(db, user.id, id);
    return {};
  },

  managePromptList: (input, { db }) => templates.listShared(db, input),

  managePrompt: async (input, { db, noteAct }) => {
    const from = await templates.sharedWords(db, input.id);
    const id = await templates.saveTemplate(db, null, input);
    noteAct({ subject: `prompt:${id}`, from, to: await templates.sharedWords(db, id) });
    return { id };
  },

  removePrompt: async ({ id }, { db, noteAct }) => {
    noteAct({ subject: `prompt:${id}`, from: await templates.sharedWords(db, id) });
    await templates.removeTemplate(db, null, id);
    return {};
  },

  manageKeywordList: (input, { db }) => keywordPage(db, input),

  manageKeyword: async (input, { db, noteAct }) => ({ id: await saveKeyword(db, input, noteAct) }),

  removeKeyword: async (input, { db, noteAct }) => {
    await removeKeyword(db, input, noteAct);
    return {};
  },
});
