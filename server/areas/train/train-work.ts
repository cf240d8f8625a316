import { projectStates, projectTypes } from '#contract/train-limits.ts';
import type { Transaction } from '#server/db/database.ts';
import { type ClaimedJob, type JobIo, type JobWork } from '#server/jobs/job-kind.ts';
import { beginTraining, doneOf, trainingJob, type TrainingInput } from './begin-training.ts';
import { failFile, failFiles, stopFiles } from './end-files.ts';
import {
  FileFailure,
  mostPassages,
  trainingPlace,
  turnOver,
  type Done,
  type FileTask,
} from './file-task.ts';
import type { TrainDeps } from './train-deps.ts';
import { learnFile } from './learn-file.ts';
import * as projects from './project.store.ts';
import { openReader } from './reading/read-file.ts';
import { createStyleWork } from './style-work.ts';
import * as files from './training-file.store.ts';
import { leaveAsItIs, readAgain } from './read-again.ts';
import { translateFile } from './translate-file.ts';
import { unpackArchive } from './unpack-archive.ts';

type DoFile = (deps: TrainDeps, task: FileTask) => Promise<void>;

/** Takes away what was stored by a worker that died before its row was. */
const clearKeys = async (
  { db, storage }: TrainDeps,
  job: Pick<ClaimedJob, 'remote' | 'subject_id'>,
): Promise<void> => {
  const { keys = [] } = (job.remote ?? {}) as Done;
  if (keys.length === 0) return;
  const rows = await files.allFiles(db, job.subject_id);
  const known = new Set(rows.map(({ storageKey }) => storageKey));
  for (const key of keys) if (!known.has(key)) await storage.delete(key);
};

/** Thousands of files are counted no more often than that, ms. */
const countMs = 1_000;

/**
 * Tells a project's progress by the part of a file that is worked on: those that are done count, too.
 * By bytes: an archive that is not open yet is as much as hundreds of files.
 */
const followFiles = ({ db }: TrainDeps, projectId: number, io: JobIo) => {
  let counts = files.noFiles;
  let counted = 0;
  return async ({ size }: files.FileRow) => {
    if (Date.now() - counted > countMs) {
      counts = (await files.countsOf(db, [projectId])).get(projectId) ?? files.noFiles;
      counted = Date.now();
    }
    const { bytes, bytesOver } = counts;
    const tell = (part: number) =>
      io.progress(Math.min(0.99, (bytesOver + size * part) / Math.max(1, bytes)));
    // A short file says nothing while it is learned.
    tell(0);
    return tell;
  };
};

const lanes: readonly files.Lane[] = ['archives', 'others'];

/**
 * Works on the files of a project, those that come meanwhile included: of each lane one, so that what
 * came first is learned while other archives are opened.
 */
const workOnFiles = async (deps: TrainDeps, job: ClaimedJob, io: JobIo, doFile: DoFile) => {
  const { db } = deps;
  const done = (job.remote ?? {}) as Done;
  const place = await trainingPlace(deps);
  if (!(await io.place(place))) return { waitFor: place.channelId };
  await clearKeys(deps, job);
  const begun = await projects.findProject(db, job.subject_id);
  if (!begun) return { result: null };
  const reader = openReader({
    seconds: deps.settings.documentSeconds * 2,
    owner: { person: String(begun.userId), guest: false },
  });
  const progressOf = followFiles(deps, job.subject_id, io);
  const room = { passages: mostPassages - (await files.passagesOfPerson(db, begun.userId)) };
  const turnEnds = Date.now() + deps.settings.documentSeconds * 1000;
  const turnIsOver = async () => Date.now() > turnEnds && (await io.othersWait());
  const doOne = async (file: files.FileRow, project: projects.ProjectRow) => {
    const work = file.kind === 'archive' ? unpackArchive : doFile;
    try {
      const progress = await progressOf(file);
      await work(deps, { file, project, io, progress, reader, done, room, turnIsOver });
    } catch (error) {
      if (!(error instanceof FileFailure)) throw error;
      const { message: why, hopeless } = error;
      await db.transaction((tx) => failFile(tx, file.id, { why, hopeless }));
    }
  };
  /** One that failed stays, for the race that tells it. */
  const busy = new Map<files.Lane, Promise<unknown>>();
  try {
    for (;;) {
      io.signal.throwIfAborted();
      const project = await projects.findProject(db, job.subject_id);
      if (!project) return { result: null };
      for (const lane of lanes) {
        const file = busy.has(lane) ? null : await files.nextFile(db, project.id, lane);
        if (!file) continue;
        const work = doOne(file, project).then(() => busy.delete(lane));
        work.catch(() => undefined);
        busy.set(lane, work);
      }
      if (busy.size === 0) {
        if (project.type === projectTypes.knowledge) await readAgain(deps, job, io);
        return { result: null };
      }
      await Promise.race(busy.values());
      // Thousands of files hold a worker no longer than one file may, where somebody waits for it.
      if (await turnIsOver()) throw turnOver();
    }
  } finally {
    // Whoever takes it over meets nothing of it that goes on.
    await Promise.allSettled(busy.values());
    reader.close();
  }
};

/** The state of a project is what its files say. */
const settleState = async (tx: Transaction, projectId: number): Promise<void> => {
  const { over, failed } = (await files.countsOf(tx, [projectId])).get(projectId) ?? files.noFiles;
  const { trained, failed: none, open } = projectStates;
  const status = over > 0 ? trained : failed > 0 ? none : open;
  await projects.changeProject(tx, projectId, { status });
};

/** Ends a job of files, or begins another where there is more to do. */
const finishFiles: JobWork<unknown>['finish'] = async (tx, job, end) => {
  const project = await projects.lockProject(tx, job.subject_id);
  if (!project) return { state: 'cancelled', deductTokens: 0 };
  const begun = job.input as TrainingInput;
  const took = Math.max(0, project.token - begun.token);
  // A worker that died now and again does not stop what gets on; nor does it end before what came
  // while the last file was ending.
  const goesOn =
    end.state === 'done' ||
    (end.state === 'error' &&
      end.codeName === 'engine_failed' &&
      (await doneOf(tx, project.id)) > begun.done);
  if (goesOn && (await files.nextFile(tx, project.id))) {
    await beginTraining(tx, project, { again: true });
    return { state: 'done', deductTokens: took };
  }
  if (end.state === 'error') await failFiles(tx, project.id, end.message);
  const stopped = end.state === 'cancelled' ? await stopFiles(tx, project) : 0;
  if (end.state === 'cancelled') await leaveAsItIs(tx, project.id);
  await settleState(tx, project.id);
  return { state: end.state, deductTokens: took + stopped };
};

const fileWork = (
  deps: TrainDeps,
  kind: 'embedding' | 'translate',
  doFile: DoFile,
  common: ReturnType<typeof trainingJob>,
): JobWork<unknown> => ({
  ...common,
  kind,
  work: (job, io) => workOnFiles(deps, job, io, doFile),
  finish: finishFiles,
  discard: () => Promise.resolve(),
  clear: (job) => clearKeys(deps, job),
});

/** The three kinds of job that train: knowledge bases, translations and styles of images. */
export const createTrainWorks = (deps: TrainDeps): JobWork<unknown>[] => {
  const learning = trainingJob({ name: '知识库训练', done: '知识库训练好了', path: '/train' });
  const translating = trainingJob({
    name: '文档翻译',
    done: '文档译好了',
    failed: '没有翻译成功',
    path: '/translate',
  });
  return [
    fileWork(deps, 'embedding', learnFile, learning),
    fileWork(deps, 'translate', translateFile, translating),
    createStyleWork(deps) as JobWork<unknown>,
  ];
};
