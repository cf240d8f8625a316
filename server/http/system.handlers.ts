import type { Answer } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { ping } from '#server/db/questions.ts';
import type { Settings } from '../settings.ts';
import type { Handlers } from './handlers.ts';

export const createSystemHandlers = (
  {
    version,
    officialSite,
    wechatAccount,
    minPromptBytes,
    signupTokens,
  }: Pick<
    Settings,
    'version' | 'officialSite' | 'wechatAccount' | 'minPromptBytes' | 'signupTokens'
  >,
  /** Models can search the web here. */
  searchesWeb: () => Promise<boolean>,
  /** What stands at the foot of pages, and what leaves with words on it. */
  rules: (
    db: Executor,
  ) => Promise<
    Pick<
      Answer<'siteInfo'>,
      'foot' | 'agreements' | 'ask_agreements' | 'mark_text' | 'mark_images' | 'allow_unmarked'
    >
  >,
): Pick<Handlers, 'health' | 'siteInfo'> => ({
  health: async (_input, { db }) => {
    await ping(db);
    return { ready: true, version };
  },
  siteInfo: async (_input, { db }) => ({
    official_site: officialSite,
    wechat: officialSite === '' ? '' : wechatAccount || `${officialSite}/wechat`,
    min_prompt_bytes: minPromptBytes,
    signup_tokens: signupTokens,
    web_search: await searchesWeb(),
    ...(await rules(db)),
  }),
});
