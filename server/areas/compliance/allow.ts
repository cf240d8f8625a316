import { agreementTitles } from '#contract/agreement-kinds.ts';
import type { CallName } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { notAgreed } from './agreement.store.ts';
import { allowMinor, type AskedCall, payments } from './minor.service.ts';
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

/** Of those: what holds of reading holds of them, as if they were asked by GET. */
const readsByPost: ReadonlySet<string> = new Set<CallName>(['lastMessages', 'exportDrawn']);

/**
 * What the operator asks of whoever changes something. Guests agree by going on: the page says so
 * before their first message. Managers are let through, who else could turn it off.
 * @param device what the browser carries since a minor's account was used in it; null: nothing
 * @returns what the browser is to carry from now on; null: nothing more
 * @throws Refusal agreement_needed, minor_limited, words_blocked
 */
export const allowCall = async (
  db: Executor,
  user: Identity | null,
  { device, ...asked }: AskedCall & { device: string | null },
): Promise<string | null> => {
  const { call } = asked;
  const free = withoutAgreeing.has(call);
  const bounded = !free || payments.has(call) || readsByPost.has(call);
  if (!user || user.guest) {
    // Somebody signed out, where a minor signs in: what holds for the account holds for them.
    if (device !== null && (bounded || call === 'register'))
      await allowMinor(db, { device }, asked);
    return null;
  }
  if (user.manager) return null;
  const carried =
    user.minor !== false && bounded ? await allowMinor(db, { userId: user.id }, asked) : null;
  if (free || user.askedToAgree === false) return carried;
  const missing = await notAgreed(db, user.id);
  if (missing.length === 0) return carried;
  const names = missing.map((kind) => `《${agreementTitles[kind]}》`).join('');
  throw new Refusal('agreement_needed', `请先看过并同意${names}，再继续使用`);
};
