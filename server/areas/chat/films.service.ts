import * as z from 'zod/mini';
import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import { sessionTypes } from '#contract/kinds.ts';
import {
  madeVideo,
  videoMessage,
  videoParameters,
  type MadeVideo,
  type VideoMessage,
} from '#contract/video.ts';
import type { Transaction } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import { requireUsable } from '../model/usable.ts';
import { insertAhead, requireLength, type Locked } from './reply-plan.ts';
import type { Request } from './chat.store.ts';
import { filmText, titleOf } from '#common/markdown/digest.ts';
import { bad, cleaned, type Attachments, parsed, readAs } from './question.ts';
import { humanText } from './views.ts';

/** What a message without words is called. */
const untitled = '图生视频';

/** An address at the head of plain words is the image to start from (document 1 §5). */
const addressed = /^(https?:\/\/\S+)(?:\s+|$)/;

/** The documents' form has what moves the film beside the image (document 2 §3). */
const withFilmForm = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return given;
  const beside = Object.entries(given).filter(
    ([name, value]) => name in videoParameters.shape && value !== '' && value !== null,
  );
  const { parameters } = given as { parameters?: object | null };
  return beside.length === 0
    ? given
    : { ...given, parameters: { ...parameters, ...Object.fromEntries(beside) } };
};

/** What a message of a session of films asks for, as it came. Throws a Refusal that names the field. */
const readFilm = ({ msg, format }: { msg: string; format: 0 | 1 }): VideoMessage => {
  const plain = z.parse(videoMessage, {});
  let film = plain;
  if (format === 0) film = { ...plain, prompt: cleaned(msg) };
  else {
    const read = readAs(videoMessage, withFilmForm(parsed(msg)));
    film = { ...read, prompt: cleaned(read.prompt) };
  }
  const address = addressed.exec(film.prompt)?.[1];
  return film.base_image === '' && address !== undefined
    ? { ...film, base_image: address, prompt: film.prompt.slice(address.length).trim() }
    : film;
};

/** What a stored message of a session of films asks for. */
export const filmOf = (human: string, request: Request | null): VideoMessage => {
  const read = z.safeParse(videoMessage, { ...request, prompt: human });
  return read.success ? read.data : z.parse(videoMessage, { prompt: human });
};

/** The films of an answer; none where it is none. */
export const readFilms = (ai: string): MadeVideo[] => {
  try {
    const read = z.safeParse(z.array(madeVideo), JSON.parse(ai));
    return read.success ? read.data : [];
  } catch {
    return [];
  }
};

/** What the card of a session says, by what stands in `ai` of its newest answer. */
export const summaryOfFilms = (ai: string): string => (readFilms(ai).length > 0 ? filmText : '');

export const createFilmsService = (deps: {
  models: Pick<ModelService, 'findMedia'>;
  attachments: Pick<Attachments, 'takeImages'>;
}) => ({
  /** Stores what is to be filmed; video/generate_video begins with it. */
  async send(
    tx: Transaction,
    { session, drawn }: Locked,
    input: Parsed<'sendMessage'>,
    user: Identity,
  ) {
    if (input.replace !== undefined || input.beside !== undefined || input.context !== undefined)
      throw new Refusal('session_unsuitable', '视频会话里没有分支与并排的回答');
    const model = await deps.models.findMedia(tx, modelTypes.video, session.model);
    if (!model) throw new Refusal('model_unavailable');
    await requireUsable(tx, model, user);
    const { prompt: human, ...film } = readFilm(input);
    requireLength(human, limits.defaultMaxPrompt);
    if (film.base_image === '') throw bad('msg.base_image', '请填入图片');
    await deps.attachments.takeImages(tx, [film.base_image]);
    // Its columns are those of every message; what films say beside them is read by filmOf.
    const request = film as unknown as Request;
    await insertAhead(tx, {
      ...drawn,
      sessionId: session.id,
      userId: user.id,
      human,
      request,
      withTemplate: false,
      type: sessionTypes.video,
      model: model.name,
      owner: null,
      holdId: null,
      card: { title: titleOf(human) || untitled },
    });
    return { ...drawn, msg: humanText(human, request) };
  },
});
