import { sessionTypes } from '#contract/kinds.ts';
import { api } from '#src/platform/api.ts';
import { holdBox, readDraft, writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import type { Model } from '#contract/model.ts';
import type { Making } from '#src/widgets/conversation/session-type.ts';
import { changeVideoDraft, readVideoDraft, type VideoAsked } from './video-request.ts';
import { beginWork, sendWork } from '#src/widgets/conversation/work.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';

/** Begins the film of a message that is with the server. */
export const generateVideo = (thread: Thread, id: number): Promise<void> =>
  beginWork(thread, id, (request_id) =>
    api.generateVideo({ history_id: id, request_id }, { quiet: true, idempotencyKey: request_id }),
  );

/** Sends a request and begins its film. */
export const makeVideo = (thread: Thread, asked: VideoAsked): Promise<void> =>
  sendWork(thread, {
    human: JSON.stringify(asked),
    type: sessionTypes.video,
    begin: (id) => generateVideo(thread, id),
  });

/** An address at the head of the words is the image (document 1 §5). */
const addressed = /^https?:\/\/\S+(?:\s|$)/;

/**
 * Sends the words of a box with the image and what was chosen for it. They leave the box at once and
 * come back when they were not taken.
 */
export const sendVideo = async (
  key: string,
  text: string,
  model: Model | undefined,
  { thread, follow }: Making,
): Promise<void> => {
  const prompt = text.trim();
  const { base_image, cfg_scale, motion_bucket_id, move } = readVideoDraft(key);
  if (base_image === '' && !addressed.test(prompt)) {
    toast('请填入图片', 'error');
    return;
  }
  const parameters = {
    cfg_scale,
    motion_bucket_id,
    ...(move && model?.video?.moves ? { move } : {}),
  };
  const asked: VideoAsked = { type: 'img2video', app: '', prompt, base_image, parameters };
  // A kill finds the words in the box or in the message, never in both and never in neither.
  const release = holdBox(key);
  try {
    writeDraft(key, '');
    changeVideoDraft(key, { base_image: '' });
    if (await follow(makeVideo(thread, asked))) return;
    // Something may have been written meanwhile.
    writeDraft(key, [prompt, readDraft(key)].filter((each) => each !== '').join('\n'));
    changeVideoDraft(key, { base_image });
  } finally {
    release();
  }
};
