import { agreementTitles } from '#contract/agreement-kinds.ts';
import type { CallName } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { notAgreed } from './agreement.store.ts';
import { allowMinor, payments } from './minor.service.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';

/**
 * What somebody may still do who does not agree: read, sign out, take their things away, delete
 * them, and end the account. Whatever else changes something needs the agreement.
 */
const withoutAgreeing: ReadonlySet<string> = new Set<CallName>([
  'login',
  'register',
  'logout',
  'ticket',
  'agree',
  'withdrawAgreement',
  'totpBegin',
  'totpEnable',
  'totpDisable',
  'totpRecovery',
  'changePassword',
  'signOutDevice',
  'saveSettings',
  'sessionPrivate',
  'deleteAllSession',
  'deleteSession',
  'deleteHistory',
  'deleteImage',
  'hideImage',
  'removeFromFavorites',
  'unshareSession',
  'exportDrawn',
  'exportAccount',
  'deleteAccount',
  'modelStat',
  'lastMessages',
  'foreignImage',
  'stopStream',
  'cancelJob',
  'waitStatus',
  'pushUnsubscribe',
  'watchWaits',
  'readNews',
  'report',
  'reportAppComment',
  'updateNotice',
  'vipEndSeen',
  'lowBalanceSeen',
  'newSignInSeen',
  'tradeStatus',
  'appTradeStatus',
  'closeTrade',
  'requestInvoice',
  'delScenario',
  'delPrompt',
  'delTrainModel',
  'delTrainFile',
  'delPassage',
  'delGap',
  'delOwnAppComment',
  'deleteToolServer',
  'pauseKey',
  'delKey',
  'clearCallLog',
]);

/**
 * What the operator asks of whoever changes something. Guests agree by going on: the page says so
 * before their first message. Managers are let through, who else could turn it off.
 * @throws Refusal agreement_needed, minor_limited, words_blocked
 */
export const allowCall = async (
  db: Executor,
  user: Identity,
  call: string,
  input: Record<string, unknown>,
): Promise<void> => {
  if (user.guest || user.manager) return;
  const free = withoutAgreeing.has(call);
  if (user.minor !== false && (!free || payments.has(call)))
    await allowMinor(db, user.id, call, input);
  if (free) return;
  const missing = await notAgreed(db, user.id);
  if (missing.length === 0) return;
  const names = missing.map((kind) => `《${agreementTitles[kind]}》`).join('');
  throw new Refusal('agreement_needed', `请先看过并同意${names}，再继续使用`);
};
