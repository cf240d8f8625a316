import { ImageEngineError } from '../image-engine.ts';

/** What a service of Midjourney refuses, as people are told of it. */

export const failed = (
  message: string,
  retriable: boolean,
  askerAtFault = false,
): ImageEngineError => new ImageEngineError('engine_failed', message, { retriable, askerAtFault });
export const full = (): ImageEngineError =>
  new ImageEngineError('engine_failed', 'Midjourney 的队列已满，没有扣费，请稍后重试', {
    retriable: true,
    busy: true,
  });
export const banned = (): ImageEngineError =>
  new ImageEngineError(
    'prompt_banned',
    '提示词里有 Midjourney 不允许的内容，没有扣费，请修改后再试',
    { retriable: false, askerAtFault: true },
  );

/** How Midjourney titles a refusal: what stands in brackets before its reason. */
const titleOf = (reason: string): string =>
  /^\[([^\]]{1,60})\]/.exec(reason)?.[1]?.toLowerCase() ?? '';
const bannedTitles = new Set([
  'banned prompt',
  'banned prompt detected',
  'blocked',
  'action needed to continue',
  'sorry! our ai moderators are unsure about this prompt',
]);
const wrongTitles = new Set([
  'invalid parameter',
  'invalid link',
  'invalid request',
  'empty prompt',
]);
const fullTitles = new Set(['queue full', 'job queued', 'slow down!']);

export const whyItFailed = (reason: string): ImageEngineError => {
  const title = titleOf(reason);
  if (bannedTitles.has(title)) return banned();
  if (wrongTitles.has(title))
    return new ImageEngineError(
      'job_unsuitable',
      'Midjourney 不接受其中的参数，没有扣费，请修改后再试',
      { retriable: false, askerAtFault: true },
    );
  if (fullTitles.has(title)) return full();
  return failed('Midjourney 生成失败，没有扣费，请重试', true);
};
