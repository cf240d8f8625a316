import pLimit from 'p-limit';
import { sessionTypes } from '#contract/kinds.ts';
import { fileStates, projectStates, trainLimits } from '#contract/train-limits.ts';
import type { Transaction } from '#server/db/database.ts';
import { waiterOf } from '#server/db/person.ts';
import { builtInStyle } from '#server/engines/training/built-in-style.ts';
import {
  TrainingError,
  type TrainedStyle,
  type TrainingIo,
  type TrainingOrder,
} from '#server/engines/training/training-engine.ts';
import { JobError, type ClaimedJob, type JobIo, type JobWork } from '#server/jobs/job-kind.ts';
import { newKey } from '#server/storage/storage.ts';
import { release, settle } from '../ledger/ledger.service.ts';
import { trainingJob } from './begin-training.ts';
import { failFiles } from './end-files.ts';
import { trainingPlace, type Done } from './file-task.ts';
import type { TrainDeps } from './train-deps.ts';
import * as projects from './project.store.ts';
import * as files from './training-file.store.ts';

/** All images of a style are fetched within this time, ms, and so many at once. */
const fetchMs = 120_000;
const fetchedAtOnce = 3;
/** A host that so many images could not be had from is not asked again. */
const mostFailures = 3;

/** The least part of a training's price that is paid once a service has begun it. */
const stoppedTrainingLeast = 0.1;

interface Style {
  fileId: number;
  profile: TrainedStyle['profile'];
  stored: { key: string; name: string; size: number } | null;
  /** Images that it was trained from. */
  count: number;
}

/** What a project's style is trained from. @throws JobError where none of its images can be had */
const orderOf = async (
  deps: TrainDeps,
  { key, settings, userId }: projects.ProjectRow,
  fileId: number,
  io: JobIo,
): Promise<TrainingOrder> => {
  const owner = await waiterOf(deps.db, userId);
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(fetchMs)]);
  const failures = new Map<string, number>();
  const imageOf = async ({ url }: { url: string }) => {
    const host = URL.canParse(url) ? new URL(url).host : '';
    if (signal.aborted || (failures.get(host) ?? 0) >= mostFailures) return null;
    const image = await deps.files.imageAt(url, signal, owner).catch(() => null);
    if (!image) failures.set(host, (failures.get(host) ?? 0) + 1);
    return image;
  };
  const limit = pLimit(fetchedAtOnce);
  const found = await limit.map(settings.images, imageOf);
  io.signal.throwIfAborted();
  const images = [];
  for (const [at, { txt }] of settings.images.entries()) {
    const image = found[at];
    if (image) images.push({ data: image.data, txt });
    else await files.addLog(deps.db, fileId, `第 ${at + 1} 张图片取不到，略过`);
  }
  if (images.length === 0)
    throw new JobError('upload_unreadable', '没有一张图片能读取', { retriable: false });
  const { type, checkpoint, batch_size: batch, epoch: epochs } = settings;
  return { key, images, base: String(type), checkpoint, batch, epochs };
};

/** How an engine tells of its work: to the job, and now and then to the file's log. */
const trainingIo = (
  { db }: TrainDeps,
  { fileId, count, done, io }: { fileId: number; count: number; done: Done; io: JobIo },
): TrainingIo => {
  let told = 0;
  return {
    signal: io.signal,
    progress: (fraction, preview) => {
      io.progress(
        fraction,
        preview && (() => Promise.resolve(`data:image/jpeg;base64,${preview.toString('base64')}`)),
      );
      if (fraction < told + 0.25) return;
      told = fraction;
      // A line of the log is not worth failing for.
      void files
        .changeFile(db, fileId, { overNum: Math.floor(fraction * count) })
        .then(() => files.addLog(db, fileId, `已完成 ${Math.floor(fraction * 100)}%`))
        .catch(() => undefined);
    },
    log: (line) => files.addLog(db, fileId, line),
    remember: (remote) => {
      done.remote = remote;
      return io.remember(done);
    },
    resume: done.remote ?? null,
  };
};

/** What can be measured of a style's images: a service's work shows in 内置画板, too. */
const measured = async (order: TrainingOrder, signal: AbortSignal) => {
  const silent = { progress: () => {}, log: async () => {}, remember: async () => {} };
  return (await builtInStyle.train(order, { ...silent, signal, resume: null })).profile;
};

/** Trains a project's style. @throws JobError */
const trainStyle = async (deps: TrainDeps, job: ClaimedJob, io: JobIo) => {
  const { db, storage } = deps;
  const done = (job.remote ?? {}) as Done;
  const place = await trainingPlace(deps);
  if (!(await io.place(place))) return { waitFor: place.channelId };
  const project = await projects.findProject(db, job.subject_id);
  const file = await files.nextFile(db, job.subject_id);
  if (!project || !file) return { result: null };
  const order = await orderOf(deps, project, file.id, io);
  const count = order.images.length;
  await files.addLog(db, file.id, `${count} 张图片，批大小 ${order.batch}，${order.epochs} 轮`);
  const engine = job.hold_id === null ? builtInStyle : await deps.training();
  await files.addLog(
    db,
    file.id,
    engine.label === ''
      ? '内置的画风统计：量出颜色、明暗与颗粒，由内置画板使用；不是神经网络'
      : `由 ${engine.label} 训练，大约十分钟`,
  );
  try {
    const made = await engine.train(order, trainingIo(deps, { fileId: file.id, count, done, io }));
    const profile = made.profile ?? (await measured(order, io.signal));
    let stored: Style['stored'] = null;
    if (made.artifact) {
      const { name, data } = made.artifact;
      stored = { key: newKey(), name, size: data.length };
      done.keys = [stored.key];
      await io.remember(done);
      await storage.put(stored.key, data, 'application/octet-stream');
    }
    return { result: { fileId: file.id, profile, stored, count } };
  } catch (error) {
    if (!(error instanceof TrainingError)) throw error;
    throw new JobError('engine_failed', error.message, { retriable: error.retriable });
  }
};

/** Takes this part of what a training costs, 0 to 1; gives the tokens taken. */
const charge = async (
  { training }: TrainDeps,
  tx: Transaction,
  job: ClaimedJob,
  { part, name }: { part: number; name: string },
): Promise<number> => {
  if (job.hold_id === null) return 0;
  const { spent } = await settle(tx, job.hold_id, Math.ceil(trainLimits.loraTokens * part), {
    type: sessionTypes.image,
    model: 'lora',
    human: `训练画风：${name}`,
    prompt_tokens: 0,
    completion_tokens: 0,
    channelId: (await training()).channelId ?? null,
  });
  return spent;
};

/** Writes a style that is wanted into its project, with its charge; gives the tokens taken. */
const keepStyle = async (
  deps: TrainDeps,
  tx: Transaction,
  job: ClaimedJob,
  { project, style }: { project: projects.ProjectRow; style: Style },
): Promise<number> => {
  const { fileId, profile, stored } = style;
  const spent = await charge(deps, tx, job, { part: 1, name: project.name });
  if (project.artifactKey && stored) await deps.storage.delete(project.artifactKey);
  await projects.changeProject(tx, project.id, {
    status: projectStates.trained,
    profile,
    engine: job.hold_id === null ? '' : (await deps.training()).label,
    ...(stored
      ? { artifactKey: stored.key, artifactName: stored.name, artifactSize: stored.size }
      : {}),
  });
  await files.changeFile(tx, fileId, { token: spent });
  await projects.noteChange(tx, project.id, { tokens: spent });
  const cost = spent > 0 ? `，花费 ${spent} tokens` : '';
  await files.addLog(tx, fileId, `训练完成${cost}：作画时写 <lora:${project.key}:0.7>`);
  return spent;
};

/** Ends a training that brought nothing, or nothing that is wanted any more. */
const dropStyle = async (
  deps: TrainDeps,
  tx: Transaction,
  job: ClaimedJob,
  { project, part, why }: { project: projects.ProjectRow | null; part: number; why: string },
): Promise<number> => {
  const name = project?.name ?? job.title;
  const spent = part > 0 ? await charge(deps, tx, job, { part, name }) : 0;
  if (job.hold_id !== null && part === 0) await release(tx, job.hold_id);
  if (project) {
    await failFiles(tx, project.id, why);
    const status = project.profile ? projectStates.trained : projectStates.failed;
    await projects.changeProject(tx, project.id, { status });
  }
  return spent;
};

/** The job that trains a style of images. */
export const createStyleWork = (deps: TrainDeps): JobWork<Style | null> => ({
  ...trainingJob({ name: '画风训练', done: '画风训练好了', path: '/train' }),
  kind: 'lora',
  work: (job, io) => trainStyle(deps, job, io),
  discard: async (style) => {
    if (style?.stored) await deps.storage.delete(style.stored.key);
  },
  clear: async (job) => {
    const { keys = [] } = (job.remote ?? {}) as Done;
    const project = await projects.findProject(deps.db, job.subject_id);
    for (const key of keys) if (project?.artifactKey !== key) await deps.storage.delete(key);
  },
  finish: async (tx, job, end) => {
    const project = await projects.lockProject(tx, job.subject_id);
    const style = end.state === 'done' ? end.result : null;
    const count = style?.count ?? 0;
    const wanted =
      project &&
      style &&
      (await files.endFile(tx, style.fileId, {
        status: fileStates.done,
        totalNum: count,
        overNum: count,
        error: '',
      }));
    if (wanted)
      return { state: 'done', deductTokens: await keepStyle(deps, tx, job, { project, style }) };
    const failed = end.state === 'error';
    // The service bills the time until it was stopped.
    const begun = !failed && Boolean((job.remote as Done | null)?.remote);
    const part = !begun ? 0 : style ? 1 : Math.max(stoppedTrainingLeast, job.progress);
    const why = failed ? end.message : '已取消';
    return {
      state: failed ? 'error' : 'cancelled',
      deductTokens: await dropStyle(deps, tx, job, { project, part, why }),
    };
  },
});
