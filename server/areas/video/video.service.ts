import { randomInt } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import type { Job } from '#contract/job.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import { videoDeduction } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { ListedVideo } from '#contract/video.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { beginJob, openJobsOf, repeatedJob, requireRoomForJob } from '#server/jobs/job.service.ts';
import type { NewJob } from '#server/jobs/job.store.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { filmOf } from '../chat/films.service.ts';
import { lockImages, startImages } from '../chat/image-messages.service.ts';
import type { FileService } from '../file/file.service.ts';
import { hold } from '../ledger/ledger.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedMediaModel } from '../model/resolved-model.ts';
import { requireUsable } from '../model/usable.ts';
import type { ToolUser } from '../tool/tool.ts';
import { filmAddresses } from './film-files.ts';
import { filmLivesMs, type FilmPlan } from './video-work.ts';
import * as store from './video.store.ts';

/** A list reaches no further back. */
const reach = 10_000;
/** Films of a free model that one person may make in a day. */
const freeADay = 100;
/** How much longer than its work a hold lives, ms: until its end is noticed. */
const graceMs = 60_000;

/** Sets aside what the film costs; null: nothing. */
const holdFor = async (
  tx: Transaction,
  amount: number,
  model: ResolvedMediaModel,
  payer: { id: number; vip: boolean; reference: string },
): Promise<{ holdId: string | null; heldTokens: number }> => {
  if (amount === 0) {
    if ((await store.countToday(tx, payer.id)) >= freeADay)
      throw new Refusal('too_many_jobs', `免费的视频每天最多做 ${freeADay} 个，请明天再试`);
    return { holdId: null, heldTokens: 0 };
  }
  const holdId = await hold(tx, {
    userId: payer.id,
    amount,
    reference: payer.reference,
    vipAllowed: !model.vipExcluded,
    ttlMs: filmLivesMs + graceMs,
  });
  if (!holdId) throw new Refusal(payer.vip && model.vipExcluded ? 'balance_excluded' : 'balance');
  return { holdId, heldTokens: amount };
};

/** The job, its entry in the queue and the hold at once. */
const begin = async (
  tx: Transaction,
  work: {
    uuid: string;
    title: string;
    subject: NewJob['subject'];
    message: NonNullable<NewJob['message']>;
    plan: FilmPlan;
  },
  model: ResolvedMediaModel,
  payer: { id: number; vip: boolean },
): Promise<Job> => {
  const { plan, title, ...rest } = work;
  const reference = `job:${work.uuid}`;
  const { holdId, heldTokens } = await holdFor(tx, plan.price, model, { ...payer, reference });
  return beginJob(tx, {
    ...rest,
    userId: payer.id,
    kind: 'video',
    title,
    model: model.name,
    input: plan,
    holdId,
    heldTokens,
    livesMs: filmLivesMs,
  });
};

export const createVideoService = (deps: {
  models: Pick<ModelService, 'findMedia' | 'defaultMedia'>;
  files: Pick<FileService, 'takeImages' | 'requireRoom'>;
}) => {
  return {
    /** What makes films where nobody named a model. @throws Refusal model_unavailable */
    async usualModel(db: Executor, user: ToolUser): Promise<ResolvedMediaModel> {
      const model = await deps.models.defaultMedia(db, modelTypes.video, user);
      if (!model) throw new Refusal('model_unavailable', '没有可以用的视频模型');
      return model;
    },

    /** Begins a film of an own image for a call within a reply. @throws Refusal */
    forCall(
      db: Executor,
      call: { key: string; prompt: string; image: string; at: NonNullable<NewJob['message']> },
      user: ToolUser,
    ): Promise<Job> {
      return inTransaction(db, async (tx) => {
        const model = await this.usualModel(tx, user);
        await deps.files.takeImages(tx, [call.image]);
        await requireRoomForJob(tx, user.id);
        await deps.files.requireRoom(tx, user);
        const plan = {
          human: call.prompt,
          baseImage: call.image,
          cfgScale: limits.film.cfgScale.usual,
          motion: limits.film.motion.usual,
          seed: randomInt(2 ** 32 - 1),
          price: videoDeduction(model),
        };
        const subject = { kind: 'account', id: user.id } as const;
        const work = { uuid: call.key, title: call.prompt, subject, message: call.at, plan };
        return begin(tx, work, model, { id: user.id, vip: user.vip === true });
      });
    },

    /** Begins the work on a message's film: the job, its entry in the queue and the hold at once. */
    generate(db: Executor, input: Parsed<'generateVideo'>, user: Identity): Promise<Job> {
      return inTransaction(db, async (tx) => {
        const { message, session } = await lockImages(
          tx,
          input.history_id,
          user,
          sessionTypes.video,
        );
        const subject = { kind: 'message', id: message.id } as const;
        const repeated = await repeatedJob(tx, input.request_id, user.id, subject);
        if (repeated) return repeated;
        if ((await openJobsOf(tx, { subject: 'message', id: message.id })).length > 0)
          throw new Refusal('session_busy', '这条消息的视频正在制作');
        if (message.state === 'done')
          throw new Refusal('session_unsuitable', '这条消息的视频已经做好了，再做一个请重新发送');
        const named = input.model ?? input.parameters?.cfg_model ?? session.model;
        if (named !== session.model) throw new Refusal('bad_input', 'model：应与会话的模型相同');
        const model = await deps.models.findMedia(tx, modelTypes.video, session.model);
        if (!model) throw new Refusal('model_unavailable');
        await requireUsable(tx, model, user);
        const film = filmOf(message.human, message.request);
        const parameters = { ...film.parameters, ...input.parameters };
        if (film.base_image === '') throw new Refusal('job_unsuitable', '请填入图片');
        const { move, reverse } = parameters;
        if ((move !== undefined || reverse === 1) && model.video?.moves !== true)
          throw new Refusal('job_unsuitable', 'move：这个模型自己决定镜头怎样动');
        await deps.files.takeImages(tx, [film.base_image]);
        await requireRoomForJob(tx, user.id);
        await deps.files.requireRoom(tx, user);
        if (message.state !== 'none') await startImages(tx, message.id, model.name);
        return begin(
          tx,
          {
            uuid: input.request_id,
            title: message.human || session.prompt,
            subject,
            message: { sessionId: session.id, historyId: message.id },
            plan: {
              human: message.human,
              baseImage: film.base_image,
              cfgScale: parameters.cfg_scale ?? limits.film.cfgScale.usual,
              motion: parameters.motion_bucket_id ?? limits.film.motion.usual,
              seed: parameters.seed ?? randomInt(2 ** 32 - 1),
              move,
              reverse: reverse === 1,
              price: videoDeduction(model),
            },
          },
          model,
          { id: user.id, vip: session.ownerVip },
        );
      });
    },
  };
};

/** A page of films, newest first. @throws Refusal unauthorized for a visitor's own */
export const listVideos = async (
  db: Executor,
  input: Parsed<'videoIndex'>,
  user: Identity | null,
) => {
  if (input.private === 1 && !user) throw new Refusal('unauthorized');
  const shelf = user && input.private === 1 ? { userId: user.id } : 'public';
  const pageSize = limits.film.page;
  const rows = await store.videoPage(db, shelf, windowOf(input.page, pageSize, reach));
  const total = await store.countVideos(db, shelf, reach);
  return {
    list: rows.map(({ key, mime, duration, created_at: made, ...row }): ListedVideo => ({
      ...row,
      ...filmAddresses(key, mime),
      duration: duration / 1000,
      created_at: new Date(made).toISOString(),
    })),
    ...pageOf(total, input.page, pageSize),
  };
};
