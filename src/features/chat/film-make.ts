import { api } from '@/platform/api.ts';
import { readDraft, writeDraft } from '@/platform/draft.ts';
import { toast } from '@/platform/toast.ts';
import type { Model } from '@contract/model.ts';
import type { ChatActs } from './chat-context.ts';
import { changeFilmDraft, readFilmDraft, type FilmAsked } from './film-request.ts';
import { beginWork, sendWork } from './picture-draw.ts';
import type { Thread } from './thread.ts';

const videoType = 4;

/** Begins the film of a message that is with the server. */
export const generateFilm = (thread: Thread, id: number): Promise<void> =>
  beginWork(thread, id, (request_id) =>
    api.generateVideo({ history_id: id, request_id }, { quiet: true, idempotencyKey: request_id }),
  );

/** Sends a request and begins its film. */
export const film = (thread: Thread, asked: FilmAsked): Promise<void> =>
  sendWork(thread, {
    human: JSON.stringify(asked),
    type: videoType,
    begin: (id) => generateFilm(thread, id),
  });

/** An address at the head of the words is the image (document 1 §5). */
const addressed = /^https?:\/\/\S+(?:\s|$)/;

/**
 * Sends the words of a box with the image and what was chosen for it. They leave the box at once and
 * come back when they were not taken.
 */
export const sendFilm = async (
  key: string,
  text: string,
  _model: Model | undefined,
  draw: ChatActs['draw'],
): Promise<void> => {
  const prompt = text.trim();
  const { base_image, cfg_scale, motion_bucket_id } = readFilmDraft(key);
  if (base_image === '' && !addressed.test(prompt)) {
    toast('请填入图片', 'error');
    return;
  }
  writeDraft(key, '');
  changeFilmDraft(key, { base_image: '' });
  const parameters = { cfg_scale, motion_bucket_id };
  if (await draw({ type: 'img2video', app: '', prompt, base_image, parameters })) return;
  // Something may have been written meanwhile.
  writeDraft(key, [prompt, readDraft(key)].filter((each) => each !== '').join('\n'));
  changeFilmDraft(key, { base_image });
};
