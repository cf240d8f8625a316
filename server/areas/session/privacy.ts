import type { CodeName } from '#contract/errors.ts';
import type { Settings } from '#contract/auth.ts';

/**
 * Who may see a new session, and who may change that (document 1 §4):
 * - an administrator may force all of a person's sessions to be private;
 * - private_global 0 makes new sessions public and takes away the choice per session;
 * - private_global 1, which also holds for those who never chose, makes new sessions private and
 *   lets their owner open or close each.
 * Asking for a private new session is always granted.
 */
export interface PrivacyRules {
  forced: boolean;
  setting: Settings;
}

const globallyPrivate = (setting: Settings): boolean => (setting.private_global ?? 1) === 1;

export const newSessionIsPrivate = (rules: PrivacyRules, asked: 0 | 1 | undefined): boolean => {
  if (rules.forced || asked === 1) return true;
  return globallyPrivate(rules.setting) ? asked === undefined : false;
};

/** Why a session may not be made private or public; null when it may. */
export const privacyChangeRefusal = (rules: PrivacyRules, toPrivate: boolean): CodeName | null => {
  if (rules.forced) return toPrivate ? null : 'private_forced';
  return globallyPrivate(rules.setting) ? null : 'private_global_off';
};
