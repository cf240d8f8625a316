import { randomUUID } from 'node:crypto';
import type { JobKind } from '#contract/job.ts';
import { projectTypes, trainLimits, trainTexts } from '#contract/train-limits.ts';
import type { Transaction } from '#server/db/database.ts';
import type { JobWork } from '#server/jobs/job-kind.ts';
import { beginJob, openJobsOf, requireRoomForJob } from '#server/jobs/job.service.ts';
import { holdPrice } from '../ledger/ledger.service.ts';
import { lockProject, type ProjectRow } from './project.store.ts';
import { allFiles } from './training-file.store.ts';

/** From its beginning to its end, ms. */
export const trainingLivesMs = 24 * 3_600_000;

/** What the jobs of all kinds of training have in common. */
export const trainingJob = ({
  name,
  done,
  failed = '没有训练成功',
  path,
}: {
  /** What one without a title is called. */
  name: string;
  /** What is said of one that is done. */
  done: string;
  failed?: string;
  /** The page's, where the project is shown. */
  path: string;
}): Required<Pick<JobWork<unknown>, 'livesMs' | 'words' | 'lock'>> => ({
  livesMs: trainingLivesMs,
  words: {
    name,
    failed,
    done: (_db, ids) => Promise.resolve(new Map(ids.map((id) => [id, done]))),
    url: (id) => `${path}?model_id=${id}`,
  },
  lock: async (tx, job) => {
    await lockProject(tx, job.subject_id);
  },
});

const jobKindOf = (type: number): JobKind =>
  type === projectTypes.knowledge ? 'embedding' : type === projectTypes.lora ? 'lora' : 'translate';

const workNames: Partial<Record<JobKind, string>> = {
  embedding: '知识库',
  lora: '画风',
  translate: '文档翻译',
};

/** How much of a project was done when a job began: one that gets on is not given up. */
export interface TrainingInput {
  done: number;
  /** Tokens that the project had taken. */
  token: number;
}

/** Passages and sentences that are done. */
export const doneOf = async (tx: Transaction, projectId: number): Promise<number> =>
  (await allFiles(tx, projectId)).reduce(
    (sum, file) => sum + file.overNum + (file.status === 0 ? 0 : 1),
    0,
  );

/**
 * Begins work on a locked project's files, unless it goes on already: then it comes to them, too.
 * @param options `paid`: a service does it that takes tokens from the start; `again`: one that just
 *   ended is followed by it; `reading`: no file is new, its passages get vectors
 * @throws Refusal too_many_jobs, balance
 */
export const beginTraining = async (
  tx: Transaction,
  project: ProjectRow,
  {
    paid = false,
    again = false,
    reading = false,
  }: { paid?: boolean; again?: boolean; reading?: boolean } = {},
): Promise<void> => {
  // What ends now is still open while it ends.
  const open = await openJobsOf(tx, { subject: 'project', id: project.id });
  if (!again) {
    if (open.length > 0) return;
    await requireRoomForJob(tx, project.userId);
  }
  const kind = jobKindOf(project.type);
  const amount = kind === 'lora' && paid ? trainLimits.loraTokens : 0;
  const uuid = randomUUID();
  const holdId = await holdPrice(tx, {
    userId: project.userId,
    amount,
    reference: `job:${uuid}`,
    ttlMs: trainingLivesMs + 60_000,
  });
  await beginJob(tx, {
    uuid,
    userId: project.userId,
    kind,
    title: project.name,
    model: reading ? trainTexts.rereading : (workNames[kind] ?? ''),
    subject: { kind: 'project', id: project.id },
    input: { done: await doneOf(tx, project.id), token: project.token } satisfies TrainingInput,
    holdId,
    heldTokens: amount,
    livesMs: trainingLivesMs,
  });
};
