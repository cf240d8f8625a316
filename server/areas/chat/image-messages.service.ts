import * as z from 'zod/mini';
import { storedImageRequest } from '#contract/chat.ts';
import type { Parsed } from '#contract/calls.ts';
import { type ImageAction, imageTask, type ImageReply, type ImageTask } from '#contract/image.ts';
import { taskNames } from '#contract/image-family.ts';
import { readImageWords } from '#contract/image-prompt.ts';
import { sizeFor, toldSize } from '#contract/image-size.ts';
import { limits, tooShortText } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { ClaimedJob, JobEnd } from '#server/jobs/job-kind.ts';
import { release } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { requireUsable } from '../model/usable.ts';
import { noteReply, writableSession, type SessionRow } from '../session/session.service.ts';
import { insertAhead, requireLength, type Locked } from './reply-plan.ts';
import * as store from './chat.store.ts';
import { imagesText, titleOf } from '#common/markdown/digest.ts';
import { lockSession } from './marks.store.ts';
import { bad, type Attachments, type Question } from './question.ts';
import { readReply } from './image-reply.ts';
import { humanText } from './views.ts';
import { noMessage } from './reply.service.ts';

export { madeInSession } from './loop.store.ts';

const isTask = (type: string): type is ImageTask =>
  (imageTask.options as readonly string[]).includes(type);

/** What a message of images asks for; plain words ask for what is usual. */
export const taskOf = (request: store.Request | null): ImageTask => {
  if (request && isTask(request.type)) return request.type;
  return request?.image?.base_image ? 'img2img' : 'txt2img';
};

/** Addresses of the images that a request names. */
export const addressesOf = (image: store.Request['image']): string[] => {
  if (!image) return [];
  const {
    parameters: { bg_image: background = '', blend = [], cref = [], sref = [] },
  } = image;
  const urls = [image.base_image, image.controlnet_image, background];
  const more = [...blend, ...cref, ...sref].map(({ url }) => url);
  return [...urls, ...more].filter((url) => url !== '');
};

/** Tasks that are told what to make by words. */
const needsWords: ReadonlySet<ImageTask> = new Set(['txt2img', 'img2img', 'edit']);

/** The words with the mark of the style that the session was begun with (document 2 §4). */
const inStyle = (human: string, key: string): string =>
  key === '' || human === '' || human.toLowerCase().includes(`<lora:${key.toLowerCase()}`)
    ? human
    : `${human} <lora:${key}:${limits.loraWeight / 100}>`;

/** An edit's words are 2 to 512 characters (document 2 §5). */
const requireEditWords = (human: string): void => {
  const { min, max } = limits.imageEditPrompt;
  const text = `修改图片的提示内容长度在 ${min} 到 ${max} 个字符`;
  if (human.length < min) throw new Refusal('prompt_too_short', text);
  if (human.length > max) throw new Refusal('prompt_too_long', text);
};

/** What the card of a session says, by what stands in `ai` of its newest answer. */
export const summaryOfNewest = (ai: string): string => {
  if (ai === '') return '';
  const reply = readReply(ai);
  return reply ? imagesText(reply.images.filter(({ url }) => url !== '').length) : '';
};

/** Takes a deleted image out of the answer that shows it. */
export const forgetImage = async (
  tx: Transaction,
  historyId: number,
  uuid: string,
): Promise<void> => {
  const reply = readReply(await store.lockAnswer(tx, historyId));
  if (!reply?.images.some((image) => image.uuid === uuid)) return;
  const images = reply.images.map((image) =>
    image.uuid === uuid ? { ...image, url: '', error: '图片已删除' } : image,
  );
  await store.changeAnswer(tx, historyId, JSON.stringify({ ...reply, images }));
};

/** The buttons below the images that a message got; none where it is gone. */
export const offeredActions = async (
  db: Executor,
  historyId: number,
): Promise<readonly ImageAction[]> => readReply(await store.answerOf(db, historyId))?.actions ?? [];

export const createImageMessages = (deps: {
  models: Pick<ModelService, 'findImage'>;
  attachments: Pick<Attachments, 'takeImages'>;
  minPromptBytes: number;
}) => ({
  /** Stores what is to be painted; image/generate begins with it. */
  async send(
    tx: Transaction,
    { session, drawn }: Locked,
    given: Question,
    input: Parsed<'sendMessage'>,
    user: Identity,
  ) {
    if (input.replace !== undefined || input.beside !== undefined || input.context !== undefined)
      throw new Refusal('session_unsuitable', '作画会话里没有分支与并排的回答');
    const model = await deps.models.findImage(tx, session.model);
    if (!model) throw new Refusal('model_unavailable');
    await requireUsable(tx, model, user);
    const task = taskOf(given.request);
    const human = inStyle(given.human, needsWords.has(task) ? session.styleKey : '');
    requireLength(human, model.maxPrompt ?? limits.defaultMaxPrompt);
    if (needsWords.has(task) && human === '') throw bad('msg.prompt', '请输入画图提示内容');
    if (task === 'edit') requireEditWords(human);
    const image = given.request && (given.request.image ?? z.parse(storedImageRequest, {}));
    const request = given.request && {
      ...given.request,
      type: task,
      image: image ?? undefined,
      images: [],
      files: [],
      at_user: null,
    };
    // The words may begin with an address, too.
    const { baseImage, prompt } = readImageWords(human, model.image.family);
    const named = [...addressesOf(image ?? undefined), ...(baseImage === '' ? [] : [baseImage])];
    await deps.attachments.takeImages(tx, named);
    const first = session.prompt === '' && named.length === 0 && input.suggestion === 0;
    if (first && needsWords.has(task) && Buffer.byteLength(given.human) < deps.minPromptBytes)
      throw new Refusal('prompt_too_short', tooShortText(deps.minPromptBytes));
    await insertAhead(tx, {
      ...drawn,
      sessionId: session.id,
      userId: user.id,
      human,
      request,
      withTemplate: false,
      type: sessionTypes.image,
      model: model.name,
      owner: null,
      holdId: null,
      card: { title: titleOf(prompt) || titleOf(human) || taskNames[task] },
    });
    const size = sizeFor(model.image, image?.size ?? limits.defaultImageSize);
    return {
      ...drawn,
      msg: humanText(human, request),
      ...(given.size !== undefined && { size: toldSize(given.size, size) }),
    };
  },
});

/**
 * A message of images that somebody wants to have painted, with its session, both locked until the
 * transaction ends. Others' are as if missing. @throws Refusal not_found, session_deleted …
 */
export const lockImages = async (
  tx: Transaction,
  historyId: number,
  user: Identity,
  type: number = sessionTypes.image,
): Promise<{ message: store.FoundMessage; session: SessionRow }> => {
  const found = await store.findMessage(tx, historyId);
  if (found?.userId !== user.id) throw noMessage();
  const session = await writableSession(tx, String(found.sessionId), user);
  if (session.type !== type) throw new Refusal('session_unsuitable');
  // It may have been deleted while the session was waited for.
  const message = await store.findMessage(tx, historyId);
  if (!message) throw noMessage();
  return { message, session };
};

export const startImages = store.restartImages;

/**
 * Whether the message is still there, which it is until the transaction ends. Its session is locked
 * before it and before the wallet, as by whoever sends the next one.
 */
const imagesWanted = async (
  tx: Transaction,
  { historyId, sessionId }: { historyId: number; sessionId: number },
): Promise<boolean> => {
  await lockSession(tx, sessionId);
  return store.messageIsThere(tx, historyId);
};

/** How the work on a message ended; `summary`: what its session's card says of it. */
export type MadeEnd =
  | { state: 'done'; ai: string; summary: string; deductTokens: number }
  | { state: 'error'; code: string; message: string }
  | { state: 'stopped'; message?: string };

/** Writes what became of a message of images or films, and what its session's card says of it. */
export const finishMade = async (
  tx: Transaction,
  at: { historyId: number; sessionId: number },
  end: MadeEnd,
): Promise<void> => {
  const done = end.state === 'done';
  const failed = end.state === 'error';
  await store.endImages(tx, at.historyId, {
    state: end.state,
    ai: done ? end.ai : '',
    errorCode: failed ? end.code : '',
    errorMessage: done ? '' : (end.message ?? ''),
    deductTokens: done ? end.deductTokens : 0,
  });
  if (!done) return;
  await noteReply(tx, at.sessionId, { replies: 1, summary: end.summary });
};

/**
 * Ends the job of a message, in the transaction of `JobKind.finish`: what was made is delivered, or
 * what was held for it is given back, and the message says why there is nothing. What a service
 * made that took nothing back is paid although its message is gone.
 * @param how `deliver` stores and charges it, `charge` charges alone; both give the tokens it took.
 * With `within` it was made for a call within the message's reply, which says itself how it ended.
 */
export const endMade = async <Result>(
  tx: Transaction,
  job: Pick<ClaimedJob, 'id' | 'session_id' | 'history_id' | 'hold_id' | 'sent'>,
  end: JobEnd<Result>,
  how: {
    deliver: (result: Result) => Promise<number>;
    charge: (result: Result) => Promise<number>;
    within?: boolean;
  },
): Promise<{ state: JobEnd<Result>['state']; deductTokens: number }> => {
  const { session_id: sessionId, history_id: historyId } = job;
  if (sessionId === null || historyId === null) throw new Error(`job ${job.id} has no message`);
  const at = { sessionId, historyId };
  const wanted = await imagesWanted(tx, at);
  if (end.state === 'done' && wanted)
    return { state: 'done', deductTokens: await how.deliver(end.result) };
  if (end.state === 'done' && job.sent)
    return { state: 'cancelled', deductTokens: await how.charge(end.result) };
  if (job.hold_id !== null) await release(tx, job.hold_id);
  if (!wanted) return { state: 'cancelled', deductTokens: 0 };
  if (how.within) return { state: end.state, deductTokens: 0 };
  if (end.state === 'error')
    await finishMade(tx, at, { state: 'error', code: end.codeName, message: end.message });
  else await finishMade(tx, at, { ...end, state: 'stopped' });
  return { state: end.state, deductTokens: 0 };
};

/** `finishMade` of images. */
export const finishImages = (
  tx: Transaction,
  at: { historyId: number; sessionId: number },
  end:
    | { state: 'done'; reply: ImageReply; deductTokens: number }
    | Exclude<MadeEnd, { ai: string }>,
): Promise<void> => {
  if (end.state !== 'done') return finishMade(tx, at, end);
  const { reply, deductTokens } = end;
  const count = reply.images.filter(({ url }) => url !== '').length;
  const summary = imagesText(count);
  return finishMade(tx, at, { state: 'done', ai: JSON.stringify(reply), summary, deductTokens });
};
