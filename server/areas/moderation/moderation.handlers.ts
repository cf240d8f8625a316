import type { Handlers } from '#server/http/handlers.ts';
import { addBlockedWords, blockedWordPage, removeBlockedWord } from './blocked-words.service.ts';

type Served = 'blockedWordList' | 'addBlockedWords' | 'delBlockedWord';

export const moderationHandlers: Pick<Handlers, Served> = {
  blockedWordList: (input, { db }) => blockedWordPage(db, input),

  addBlockedWords: async ({ words }, { db, noteAct }) => {
    const added = await addBlockedWords(db, words);
    noteAct({ subject: 'blocked_words', to: { added } });
    return { added: added.length };
  },

  delBlockedWord: async ({ id }, { db, noteAct }) => {
    noteAct({ subject: 'blocked_words', from: { word: await removeBlockedWord(db, id) } });
    return {};
  },
};
