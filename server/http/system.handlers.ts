import { sql } from 'drizzle-orm';
import type { Settings } from '../settings.ts';
import type { Handlers } from './handlers.ts';

export const createSystemHandlers = ({
  version,
  officialSite,
  wechatAccount,
  minPromptBytes,
  signupTokens,
}: Pick<
  Settings,
  'version' | 'officialSite' | 'wechatAccount' | 'minPromptBytes' | 'signupTokens'
>): Pick<Handlers, 'health' | 'siteInfo'> => ({
  health: async (_input, { db }) => {
    await db.execute(sql`SELECT 1`);
    return { ready: true, version };
  },
  siteInfo: () => ({
    official_site: officialSite,
    wechat: officialSite === '' ? '' : wechatAccount || `${officialSite}/wechat`,
    min_prompt_bytes: minPromptBytes,
    signup_tokens: signupTokens,
  }),
});
