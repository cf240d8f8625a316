import { readJson } from './read-json.ts';
import type { Settings } from '#contract/auth.ts';

/** What an account has saved; empty for nobody. */
export const settingsOf = (user: { setting?: string } | null): Settings =>
  readJson<Settings>(user?.setting, {});
