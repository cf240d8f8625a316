import { projectStates, projectTypes } from '#contract/train-limits.ts';
import type { Transaction } from '#server/db/database.ts';
import type { ClaimedJob, JobIo, JobWork } from '#server/jobs/job-kind.ts';
import { beginTraining, doneOf, trainingJob, type TrainingInput } from './begin-training.ts';
import { failFile, failFiles, stopFiles } from './end-files.ts';
import { FileFailure, here, type Done, type FileTask } from './file-task.ts';
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

/** Tells a project's progress by the part of the file that is worked on: those that are done count, too. */
const progressOf = async ({ db }: TrainDeps, projectId: number, io: JobIo) => {
  const { total, over, failed } =
    (await files.countsOf(db, [projectId])).get(projectId) ?? files.noFiles;
  return (part: number) => io.progress(Math.min(0.99, (over + failed + part) / Math.max(1, total)));
};

/** Does one file of a project after the other, those that come meanwhile included. */
const workOnFiles = async (deps: TrainDeps, job: ClaimedJob, io: JobIo, doFile: DoFile) => {
  const { db } = deps;
  const done = (job.remote ?? {}) as Done;
  await clearKeys(deps, job);
  await io.place(here);
  const begun = await projects.findProject(db, job.subject_id);
  if (!begun) return { result: null };
  const reader = openReader({
    seconds: deps.settings.documentSeconds * 2,
    owner: { person: String(begun.userId), guest: false },
  });
  try {
    for (;;) {
      io.signal.throwIfAborted();
      const project = await projects.findProject(db, job.subject_id);
      const file = await files.nextFile(db, job.subject_id);
      if (!project) return { result: null };
      if (!file) {
        if (project.type === projectTypes.knowledge) await readAgain(deps, job, io);
        return { result: null };
      }
      const work = file.kind === 'archive' ? unpackArchive : doFile;
      try {
        const progress = await progressOf(deps, project.id, io);
        await work(deps, { file, project, io, progress, reader, done });
      } catch (error) {
        if (!(error instanceof FileFailure)) throw error;
        const { message: why, hopeless } = error;
        await db.transaction((tx) => failFile(tx, file.id, { why, hopeless }));
      }
    }
  } finally {
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
