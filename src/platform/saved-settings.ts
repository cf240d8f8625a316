import type { Settings } from '#contract/auth.ts';

/** What an account has saved; empty for nobody. */
export const settingsOf = (user: { setting?: string } | null): Settings => {
  try {
    return JSON.parse(user?.setting || '{}') as Settings;
  } catch {
    return {};
  }
};
