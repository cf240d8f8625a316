import { sessionTypes } from '#contract/kinds.ts';
import {
  allKept,
  allReady,
  clearAttachments,
  imagesOf,
  messageWith,
  readAttachments,
  setAttachments,
} from '#src/platform/attach/attach-store.ts';
import { lineIsWell } from '#src/platform/line.ts';
import { partsOf } from '#src/platform/attach/parts.ts';
import type { Model } from '#contract/model.ts';
import type { SessionDetail } from '#contract/session.ts';
import { readChoices } from './chat-choices.ts';
import { clearCompose, readCompose, setCompose } from './compose-store.ts';
import type { SendOptions } from '#src/widgets/conversation/thread-commands.ts';

/** A message as it is sent, with what was added to it. */
export interface Outgoing {
  /** Plain text, or JSON of `structuredMessage` where `options.format` is 1. */
  text: string;
  options: SendOptions;
  /** It was not taken: what was added comes back. */
  restore: () => void;
}

/**
 * Whether uploads must be finished first; the message then goes by itself after them. Without a
 * network they are left to the outbox together with it.
 */
export const waitForUploads = (uuid: string): boolean => {
  const attachments = readAttachments(uuid);
  const waits = !allReady(attachments) && (lineIsWell() || !allKept(attachments));
  if (waits) setAttachments(uuid, { sendWhenReady: true });
  return waits;
};

/** Images are worth a message of any length. */
export const hasImages = (uuid: string): boolean => imagesOf(readAttachments(uuid)).length > 0;

/** Why the draft's images can not go to one of those that answer; empty when they can. */
export const imagesRefused = (
  uuid: string,
  model: Model | undefined,
  all: readonly Model[],
): string => {
  if (!hasImages(uuid) || !model) return '';
  const { beside } = readChoices(uuid);
  const blind = [model, all.find(({ name }) => name === beside)].find(
    (each) => each && !each.vision,
  );
  return blind ? `「${blind.label}」看不了图片，请换一个模型，或在图片下面认出文字` : '';
};

/** Takes the draft's additions and the session's choices together with the words. */
export const takeMessage = async (session: SessionDetail, prompt: string): Promise<Outgoing> => {
  const { uuid } = session;
  const attachments = readAttachments(uuid);
  const compose = readCompose(uuid);
  const choices = readChoices(uuid);
  const parts = partsOf(attachments.items);
  const { msg, format } = messageWith(prompt, attachments, compose.atUser, parts.length > 0);
  const options: SendOptions = { format };
  if (parts.length > 0) {
    const { leaveUploads } = await import('#src/platform/attach/intake.ts');
    leaveUploads(parts.map(({ id }) => id));
    options.parts = parts;
  }
  if (compose.ai !== '') options.ai = compose.ai;
  if (
    session.type === sessionTypes.chat &&
    choices.beside !== '' &&
    choices.beside !== session.model
  )
    options.beside = choices.beside;
  if (session.scenario) options.withTemplate = choices.withTemplate ? 1 : 0;
  if (session.embedding_key !== '') options.strictMode = choices.strict ? 1 : 0;
  clearAttachments(uuid);
  clearCompose(uuid);
  return {
    text: msg,
    options,
    restore: () => {
      setAttachments(uuid, { ...attachments, sendWhenReady: false });
      setCompose(uuid, compose);
    },
  };
};
