import { timesFactor } from '#contract/price.ts';
import { projectSettings } from '#contract/train.ts';
import { fileStates, projectTypes, trainLimits } from '#contract/train-limits.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { openJobsOf } from '#server/jobs/job.service.ts';
import { groupOf } from '../ledger/group-of.ts';
import { contentOf, directionFor, translationPrice } from './estimate.ts';
import * as outputs from './output.service.ts';
import * as projects from './project.store.ts';
import { kindFor } from './reading/kinds.ts';
import { openReader, UnreadableFile } from './reading/read-file.ts';
import type { TrainDeps } from './train-deps.ts';
import { keepFile } from './training-file.service.ts';
import * as files from './training-file.store.ts';
import type { Direction } from './translation/ask-translation.ts';

/** One file that is translated from elsewhere than the page of translations: a project of its own. */
export type OneFileDeps = Pick<TrainDeps, 'storage' | 'prompts' | 'settings'>;

type Person = Waiter & { id: number };

interface Given {
  name: string;
  data: Buffer;
  /** Null: as its language asks for. */
  direction: Direction | null;
}

const { translation } = projectTypes;

/**
 * What translating a file will take, guessed, into which language, and by whom.
 * @throws Refusal upload_type, upload_unreadable, too_large, bad_input where there is nothing to do
 */
export const quoteFile = async (
  { prompts, settings }: OneFileDeps,
  db: Executor,
  { name, data, direction }: Given,
  user: Person,
) => {
  const kind = kindFor(translation, name, data);
  if (kind === null || kind === 'archive') throw new Refusal('upload_type', '这种文件不能翻译');
  if (data.length > trainLimits.fileBytes) throw new Refusal('too_large', '要翻译的文件超过 4 MB');
  const writer = await prompts.writer({ id: user.id, guest: false });
  if (!writer) throw new Refusal('model_unavailable', '还没有连接可以翻译的模型');
  const reader = openReader({ seconds: settings.documentSeconds, owner: user });
  try {
    const read = { want: 'segments', kind, data: new Uint8Array(data), learned: false } as const;
    const { segments } = await reader.read<'segments'>(read);
    const content = contentOf(segments);
    const into = direction ?? directionFor([content]);
    if (into === null) throw new Refusal('bad_input', '看不出文件是什么语言，请写明译成哪种');
    if (content.work[into - 1]?.requests === 0)
      throw new Refusal('bad_input', `文件里没有要译的${into === 1 ? '英文' : '中文'}`);
    const factor = (await groupOf(db, user.id))?.factor ?? 1;
    const tokens = timesFactor(translationPrice(writer, [content], into), factor);
    return { tokens, direction: into, label: writer.label };
  } catch (error) {
    if (error instanceof UnreadableFile) throw new Refusal('upload_unreadable', error.message);
    throw error;
  } finally {
    reader.close();
  }
};

/**
 * Begins to translate a file, in a project that is called after it.
 * @throws Refusal training_too_many, file_quota, too_many_jobs, upload_type …
 */
export const beginFile = (
  deps: OneFileDeps,
  db: Executor,
  { key, name, data, direction }: Given & { key: string; direction: Direction },
  { id }: Person,
): Promise<unknown> =>
  inTransaction(db, async (tx) => {
    const { projects: most } = trainLimits;
    if ((await projects.countProjects(tx, id)) >= most)
      throw new Refusal('training_too_many', `每人最多 ${most} 个翻译与训练项目，请先删除一些`);
    const row = await projects.insertProject(tx, {
      userId: id,
      key,
      name: name.slice(0, trainLimits.name),
      type: translation,
      private: true,
      description: '',
      settings: projectSettings.parse({ type: direction }),
    });
    if (!row) throw new Refusal('training_key_taken');
    return keepFile(deps, tx, { name, data, start: true, modelId: row.id }, { id });
  });

/** How that stands; null: it was never begun, or its person deleted it. */
export const stateOfFile = async (db: Executor, key: string, userId: number) => {
  const project = await projects.ownOfKey(db, key, userId);
  const [file] = project ? await files.allFiles(db, project.id) : [];
  if (!project || !file) return null;
  const { status, error, token, totalNum: sentences } = file;
  return {
    id: file.id,
    projectId: project.id,
    state: status === fileStates.done ? 'done' : status === fileStates.failed ? 'failed' : 'open',
    error,
    token,
    sentences,
  } as const;
};

/** The work that goes on for a project. */
export const jobsOfProject = async (db: Executor, projectId: number): Promise<number[]> =>
  (await openJobsOf(db, { subject: 'project', id: projectId })).map(({ id }) => id);

/** The translation as it is now. @throws Refusal not_found, upload_unreadable */
export const writtenFile = (deps: OneFileDeps, db: Executor, id: number, owner: Waiter) =>
  outputs.translation(deps, db, id, owner);
