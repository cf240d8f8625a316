import type { FastifyBaseLogger } from 'fastify';
import { codes } from '#contract/errors.ts';
import { modelTypes, sessionTypes } from '#contract/kinds.ts';
import type { FilmMove, MadeVideo } from '#contract/video.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { waiterOf } from '#server/db/person.ts';
import { lookAtMedia } from '#server/engines/media.ts';
import { markedFilm } from '#server/engines/video/marked-film.ts';
import { VideoEngineError, type MadeFilm } from '#server/engines/video/video-engine.ts';
import { askable, type AtService, engineIo, turnInMs } from '#server/jobs/engine-io.ts';
import {
  JobError,
  type ClaimedJob,
  type JobIo,
  type JobWork,
  messageOf,
} from '#server/jobs/job-kind.ts';
import { newKey } from '#server/storage/storage.ts';
import { excerptOf, filmText } from '#common/markdown/digest.ts';
import { endMade, finishMade } from '../chat/image-messages.service.ts';
import { wantsFilmMarks } from '../compliance/foot.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import type { FileService } from '../file/file.service.ts';
import { noteFailedUse, payForMade } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { MediaChannel } from '../model/resolved-model.ts';
import { filmAddresses, type FilmFiles, type FilmMime } from './film-files.ts';
import * as store from './video.store.ts';

type Channel = MediaChannel<(typeof modelTypes)['video']>;

/** What a job is to make; stands in its row. */
export interface FilmPlan {
  human: string;
  baseImage: string;
  cfgScale: number;
  motion: number;
  seed: number;
  move?: FilmMove | undefined;
  reverse?: boolean;
  /** Tokens for the film. */
  price: number;
}

interface Filmed {
  key: string;
  mime: FilmMime;
  width: number;
  height: number;
  /** Ms. */
  duration: number;
  size: number;
  /** What made it. */
  channelId: number;
}

/** What stands in a job's `remote`: what was done already, for whoever takes it over. */
interface Done extends AtService {
  /** Key of the files that were about to be stored. */
  key?: string;
}

/** It was made for a call within a reply, which shows it itself. */
const withinReply = ({ subject_kind: kind }: Pick<ClaimedJob, 'subject_kind'>): boolean =>
  kind === 'account';

/** From its call to its end, ms. */
export const filmLivesMs = 30 * 60_000;

interface FilmDeps {
  db: Database;
  models: Pick<ModelService, 'mediaEngines' | 'reportMediaOutcome'>;
  files: Pick<FileService, 'imageAt' | 'preview'>;
  films: FilmFiles;
  log: FastifyBaseLogger;
}

/** Has one service make a film, or go on with it where it began. */
const runAt = async (
  { db, files }: FilmDeps,
  { channelId, engine, upstreamName }: Channel,
  job: ClaimedJob,
  done: Done,
  io: JobIo,
): Promise<MadeFilm> => {
  const plan = job.input as FilmPlan;
  const owner = await waiterOf(db, job.user_id);
  const base = await files.imageAt(plan.baseImage, io.signal, owner);
  io.signal.throwIfAborted();
  if (!base)
    throw new JobError('address_unreachable', codes.address_unreachable.text, {
      retriable: false,
    });
  return engine.run(
    {
      model: upstreamName,
      prompt: plan.human,
      base: base.data,
      width: base.width,
      height: base.height,
      cfgScale: plan.cfgScale,
      motion: plan.motion,
      seed: plan.seed,
      move: plan.move,
      reverse: plan.reverse === true,
      marked: await wantsFilmMarks(db),
    },
    engineIo(io, channelId, done, files.preview),
  );
};

/** Looks at what a service gave before anybody trusts it, and stores it. */
const keep = async (
  { db, films, log }: FilmDeps,
  film: MadeFilm,
  job: ClaimedJob,
  done: Done,
  io: JobIo,
): Promise<Omit<Filmed, 'channelId'>> => {
  const facts = await lookAtMedia(film.data, io.signal);
  const mime = facts?.mime;
  if (!facts || facts.width === 0 || (mime !== 'video/webm' && mime !== 'video/mp4'))
    throw new VideoEngineError('engine_failed', '视频服务给的不是一个完整的视频，没有扣费', {
      retriable: true,
      taken: true,
    });
  const key = newKey();
  // Whoever takes over from a worker that dies between here and the end finds what it stored.
  done.key = key;
  await io.remember(done);
  const label = await makeLabel(db, { kind: 'video', userId: job.user_id, model: job.model });
  const owner = { person: String(job.user_id), guest: false };
  const work = { signal: io.signal, owner };
  const shown =
    film.marked === true || !(await wantsFilmMarks(db))
      ? film
      : await markedFilm(film, work, () =>
          log.warn({ job: job.id, mime }, 'the words could not be drawn on a film'),
        );
  const size = await films.keep(key, { ...shown, mime }, label, work, (error) => {
    log.warn({ err: error, job: job.id }, 'a film cannot be labelled as made by a model');
  });
  const { width, height, seconds } = facts;
  return { key, mime, width, height, duration: Math.round(seconds * 1000), size };
};

const drop = async (
  { db, films }: Pick<FilmDeps, 'db' | 'films'>,
  key: string | undefined,
): Promise<void> => {
  // The row may have been stored although the answer to that got lost.
  if (key === undefined || (await store.knownKeys(db, [key])).length > 0) return;
  await films.drop(key);
};
const clear = (deps: Pick<FilmDeps, 'db' | 'films'>, job: ClaimedJob): Promise<void> =>
  drop(deps, (job.remote as Done | null)?.key);

/** Has services make a film, one after the other until one has. */
const work = async (deps: FilmDeps, job: ClaimedJob, io: JobIo) => {
  const { db, models, log } = deps;
  const done = (job.remote ?? {}) as Done;
  await clear(deps, job);
  const all = await models.mediaEngines(db, modelTypes.video, job.model, job.user_id);
  const channels = askable(all, done);
  const [firstChannel] = channels;
  if (!firstChannel)
    throw all.length > 0
      ? new JobError('engine_failed', codes.engine_failed.text, { retriable: false })
      : new JobError('model_unavailable', codes.model_unavailable.text, { retriable: true });
  let failure: JobError | null = null;
  for (const channel of channels) {
    if (failure && io.stopped.aborted) throw failure;
    const { channelId, label, engine } = channel;
    const outcome = { channel, model: job.model, userId: job.user_id };
    if (!(await io.place({ channelId, label, places: engine.concurrency }))) continue;
    try {
      const result = await keep(deps, await runAt(deps, channel, job, done, io), job, done, io);
      models.reportMediaOutcome({ ...outcome, failure: null });
      return { result: { ...result, channelId } };
    } catch (error) {
      io.signal.throwIfAborted();
      if (!(error instanceof VideoEngineError)) throw error;
      models.reportMediaOutcome({ ...outcome, failure: error });
      // That work is over. It is billed once it is begun: the next try orders elsewhere.
      if (error.taken || done.at?.channelId === channelId)
        done.spent = [...(done.spent ?? []), channelId];
      delete done.at;
      await io.remember(done);
      failure = new JobError(error.codeName, error.message, {
        retriable: error.retriable && askable(all, done).length > 0,
        ...(error.busy ? { turnInMs } : {}),
      });
      log.warn({ err: error, job: job.id, channelId }, 'a service did not make the film');
      if (!error.retriable) throw failure;
    }
  }
  if (failure) throw failure;
  return { waitFor: firstChannel.channelId };
};

/** Takes what a film costs; gives the tokens. */
const charge = (tx: Transaction, job: ClaimedJob, channelId: number): Promise<number> => {
  const plan = job.input as FilmPlan;
  return payForMade(tx, job, {
    type: sessionTypes.video,
    channelId,
    price: plan.price,
    human: excerptOf(plan.human),
  });
};

/** Stores the film with the message, and takes what it costs. */
const deliver = async (
  tx: Transaction,
  job: ClaimedJob,
  { channelId, ...film }: Filmed,
): Promise<number> => {
  const plan = job.input as FilmPlan;
  const at = messageOf(job);
  const row = await store.insertVideo(tx, {
    userId: job.user_id,
    ...at,
    jobId: job.id,
    ...film,
    model: job.model,
    prompt: plan.human,
  });
  const reply: MadeVideo[] = [
    {
      ...row,
      ...filmAddresses(film.key, film.mime),
      width: film.width,
      height: film.height,
      duration: film.duration / 1000,
      error: '',
    },
  ];
  const deductTokens = await charge(tx, job, channelId);
  if (withinReply(job)) return deductTokens;
  await finishMade(tx, at, {
    state: 'done',
    ai: JSON.stringify(reply),
    summary: filmText,
    deductTokens,
  });
  return deductTokens;
};

/** The work on films: a service makes one, it is kept with its label, and paid with its message. */
export const createVideoWork = (deps: FilmDeps): JobWork<unknown> => {
  const filming: JobWork<Filmed> = {
    kind: 'video',
    livesMs: filmLivesMs,
    words: {
      name: '视频',
      failed: '没有做成',
      done: async (_db, ids) => new Map(ids.map((id) => [id, '视频做好了'])),
    },
    work: (job, io) => work(deps, job, io),
    discard: ({ key }) => drop(deps, key),
    clear: (job) => clear(deps, job),
    finish: async (tx, job, end) => {
      if (end.state === 'error')
        await noteFailedUse(tx, job.user_id, { type: sessionTypes.video, model: job.model });
      return endMade(tx, job, end, {
        deliver: (film) => deliver(tx, job, film),
        charge: ({ channelId }) => charge(tx, job, channelId),
        within: withinReply(job),
      });
    },
  };
  // What it made goes through the worker unread.
  return filming as JobWork<unknown>;
};
