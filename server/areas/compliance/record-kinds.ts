import type { CallName } from '#contract/calls.ts';

export type RecordKind = 'sign_in' | 'publish' | 'generate' | 'act';

/** Calls that change nothing of anybody's, or that a page makes by itself. */
const unrecorded: ReadonlySet<string> = new Set<CallName>([
  'ticket',
  'modelStat',
  'lastMessages',
  'foreignImage',
  'waitStatus',
  'watchWaits',
  'pushSubscribe',
  'pushUnsubscribe',
  'readNews',
  'updateNotice',
  'vipEndSeen',
  'lowBalanceSeen',
  'newSignInSeen',
  'tradeStatus',
  'appTradeStatus',
  'promptParameter',
  'uploadPiece',
  'adminOrderList',
]);

/** What others can see after it, beside what reaches people by what it is given (among-people). */
const publications: ReadonlySet<string> = new Set<CallName>([
  'setSession',
  'setTrainModel',
  'saveUser',
  'uploadAvatar',
  'hideImage',
]);

/** What makes a model work. */
const generations: ReadonlySet<string> = new Set<CallName>([
  'sendMessage',
  'retryMessage',
  'regenerateMessage',
  'generateImage',
  'upscaleImage',
  'removeImageBackground',
  'editImageBackground',
  'editImage',
  'controlnetDetect',
  'interrogateImage',
  'translate',
  'inscriptor',
  'generateVideo',
  'speechToText',
  'textToSpeech',
  'startTraining',
]);

/**
 * What a call is recorded as; null: it is not.
 * @param entered its answer lets somebody in, in whatever way
 */
export const recordKindOf = (
  call: string,
  { byKey, entered }: { byKey: boolean; entered: boolean },
): RecordKind | null => {
  if (unrecorded.has(call)) return null;
  if (entered || call === 'logout') return 'sign_in';
  if (byKey || generations.has(call)) return 'generate';
  return publications.has(call) ? 'publish' : 'act';
};
