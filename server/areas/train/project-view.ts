import type { TrainFile, TrainModel } from '#contract/train.ts';
import { fileStates, projectTypes } from '#contract/train-limits.ts';
import type { Executor } from '#server/db/database.ts';
import type { Identity } from '#server/http/handlers.ts';
import { jobsOf } from '#server/jobs/job.service.ts';
import { namesOf, type ProjectRow } from './project.store.ts';
import { readableProject } from './project-access.ts';
import * as files from './training-file.store.ts';

type Addressed = Pick<ProjectRow, 'addressSalt'>;

export const isTranslation = ({ type }: Pick<ProjectRow, 'type'>): boolean =>
  type === projectTypes.translation || type === projectTypes.packed;

const addressOf = (key: string): string => `/api/train/file?key=${encodeURIComponent(key)}`;

/** A stored file's name in addresses: one that was made private begins anew. */
const salted = (key: string, { addressSalt: salt }: Addressed): string =>
  salt === '' ? key : `${key}-${salt}`;

/** Where a stored file of a project is. */
export const fileUrl = (key: string, name: string, project: Addressed): string =>
  addressOf(`${salted(key, project)}/${name}`);

/** A file as whoever may look into its project sees it. */
export const viewFile = (row: files.FileRow, project: Addressed): TrainFile => ({
  id: row.id,
  name: row.name,
  url: row.storageKey ? fileUrl(row.storageKey, row.name, project) : '',
  token: row.token,
  status: row.status,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  size: row.size,
  parent_id: row.parentId ?? 0,
  total_num: row.totalNum,
  over_num: row.overNum,
  error: row.error,
  retriable: row.status === fileStates.failed && !row.hopeless,
  waiting: row.waiting,
  output_url: '',
});

/** Where the translation of a file is; empty: there is none. */
export const outputUrl = (row: files.FileRow, project: ProjectRow): string =>
  isTranslation(project) && row.status === fileStates.done
    ? addressOf(`output/${row.id}/${salted(row.storageKey ?? '', project)}`)
    : '';

/** Projects as somebody sees them; what they are made from is their owners'. */
export const viewProjects = async (
  db: Executor,
  rows: readonly ProjectRow[],
  user: Pick<Identity, 'id'> | null,
): Promise<TrainModel[]> => {
  const ids = rows.map((row) => row.id);
  const names = await namesOf(
    db,
    rows.map((row) => row.userId),
  );
  const counts = await files.countsOf(db, ids);
  const newest = await files.newestFiles(db, ids);
  const own = rows.filter((row) => row.userId === user?.id);
  const jobs = await jobsOf(
    db,
    'project',
    own.map((row) => row.id),
  );
  return rows.map((row) => {
    const { total, over, failed, waiting } = counts.get(row.id) ?? files.noFiles;
    const job = jobs.get(row.id);
    const mine = row.userId === user?.id;
    const file = newest.get(row.id);
    return {
      id: row.id,
      name: row.name,
      key: row.key,
      private: row.private ? 1 : 0,
      type: row.type,
      desc: row.description,
      settings: JSON.stringify(
        mine ? row.settings : { ...row.settings, images: [], glossary: [], instruction: '' },
      ),
      status: row.status,
      token: row.token,
      total_num: total,
      over_num: over,
      title: row.name,
      user_id: row.userId,
      user: { user_name: names.get(row.userId) ?? '' },
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
      mine,
      file: file ? { name: file.name, url: fileUrl(file.storageKey, file.name, row) } : null,
      failed_num: failed,
      waiting_num: waiting,
      engine: row.engine,
      job: job && job.finished_at === null ? job : null,
    };
  });
};

/** One project, as it is now. @throws Refusal not_found */
export const viewProject = async (
  db: Executor,
  id: number,
  user: Pick<Identity, 'id' | 'manager'> | null,
): Promise<TrainModel> => {
  const [model] = await viewProjects(db, [await readableProject(db, id, user)], user);
  if (!model) throw new Error(`project ${id} was not viewed`);
  return model;
};
