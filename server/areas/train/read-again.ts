import type { Transaction } from '#server/db/database.ts';
import { EmbeddingError } from '#server/engines/embedding/embedding-engine.ts';
import { type ClaimedJob, type JobIo, JobError } from '#server/jobs/job-kind.ts';
import { passages } from '../embedding/passages.service.ts';
import { beginTraining } from './begin-training.ts';
import * as projects from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';

/** Bases that are begun in one go, a minute. */
const atOnce = 3;
/** One that did not succeed is tried again after this; one that its owner stopped is left for long, s. */
const tryAgain = { failed: 30 * 60, stopped: 30 * 86_400 } as const;
/** Passages after which those who search are given the new vectors. */
const step = 500;

/** Begins reading bases again that a model of this machine has not embedded yet, for nothing. */
export const beginReadingAgain = async (
  { embeddings, log }: Pick<TrainDeps, 'embeddings' | 'log'>,
  tx: Transaction,
): Promise<void> => {
  const free = await embeddings.freeNames();
  if (free.length === 0) return;
  const names = await embeddings.names();
  for (const project of await projects.takeToReadAgain(tx, { names, free }, atOnce)) {
    await projects.readAgainAfter(tx, project.id, tryAgain.failed);
    await beginTraining(tx, project, { again: true, reading: true });
    log.info({ project: project.id }, 'a base is read again by a model of this machine');
  }
};

/** Its owner stopped it: it is not begun again at once. */
export const leaveAsItIs = (tx: Transaction, id: number): Promise<void> =>
  projects.readAgainAfter(tx, id, tryAgain.stopped);

/**
 * Gives those passages of a base their vectors by a model of this machine that have others' or none.
 * What is written while it goes on is embedded by whoever writes it.
 * @throws JobError
 */
export const readAgain = async (
  { db, embeddings }: Pick<TrainDeps, 'db' | 'embeddings'>,
  job: Pick<ClaimedJob, 'subject_id'>,
  io: Pick<JobIo, 'signal' | 'progress'>,
): Promise<void> => {
  const project = await projects.findProject(db, job.subject_id);
  if (!project) return;
  const engine = await embeddings.engine(project.settings.model ?? '');
  if (!engine?.free || project.vectors === engine.model) return;
  const { model } = engine;
  const total = await passages.countNotOf(db, project.id, model);
  let after = 0;
  let done = 0;
  for (;;) {
    io.signal.throwIfAborted();
    const rows = await passages.notOf(db, project.id, { model, after, most: engine.batch });
    const last = rows.at(-1);
    if (!last) break;
    after = last.id;
    const texts = rows.map(({ heading, content }) => `${heading}\n${content}`.trim());
    let vectors: Buffer[];
    try {
      ({ vectors } = await engine.embed(texts, io.signal));
    } catch (error) {
      if (!(error instanceof EmbeddingError)) throw error;
      throw new JobError('engine_failed', error.message, { retriable: error.retriable });
    }
    await db.transaction(async (tx) => {
      for (const [at, row] of rows.entries()) {
        const vector = vectors[at];
        if (vector) await passages.changeVector(tx, row, { vector, model });
      }
    });
    const before = done;
    done += rows.length;
    io.progress(Math.min(0.99, done / Math.max(1, total)));
    if (Math.floor(done / step) > Math.floor(before / step))
      await projects.noteChange(db, project.id);
  }
  await db.transaction(async (tx) => {
    // Whoever writes a passage locks it, too: after this none can come that is not counted.
    if (!(await projects.lockProject(tx, project.id))) return;
    if ((await passages.countNotOf(tx, project.id, model)) === 0)
      await projects.noteVectors(tx, project.id, model);
    if (done > 0) await projects.noteChange(tx, project.id);
  });
};
