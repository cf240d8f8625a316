import type { Out, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type ActNote, Refusal } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import * as store from './project.store.ts';
import { countsOf, noFiles } from './training-file.store.ts';
import { noProject } from './project-access.ts';

type Note = (act: ActNote) => void;

/** People's projects, as managers see them: what they teach stays their owners'. */
export const managedProjects = async (
  db: Executor,
  input: Parsed<'adminTrainList'>,
): Promise<Out<'adminTrainList'>> => {
  const { page, page_size: size } = input;
  const filter = {
    userId: input.user_id,
    key: input.unique_key,
    name: input.name,
    type: input.type,
    status: input.status,
    sort: input.sort,
    order: input.order,
  };
  const window = windowOf(page, size);
  const { rows, total } = await store.managedProjects(db, filter, window);
  const names = await store.namesOf(
    db,
    rows.map((row) => row.userId),
  );
  const counts = await countsOf(
    db,
    rows.map((row) => row.id),
  );
  return {
    list: rows.map((row) => {
      const { total: all, over, failed } = counts.get(row.id) ?? noFiles;
      return {
        id: row.id,
        name: row.name,
        key: row.key,
        type: row.type,
        status: row.status,
        private: row.private ? 1 : 0,
        desc: row.description,
        token: row.token,
        total_num: all,
        over_num: over,
        failed_num: failed,
        user_id: row.userId,
        user_name: names.get(row.userId) ?? '',
        created_at: row.createdAt.toISOString(),
        updated_at: row.updatedAt.toISOString(),
      };
    }),
    ...pageOf(total, page, size),
  };
};

/** @throws Refusal not_found; manage_unsuitable: what is private only its owner opens */
export const changeProject = (
  db: Executor,
  { id, name, desc, private: hidden }: Parsed<'setTrainProject'>,
  note: Note,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await store.lockProject(tx, id);
    if (!row) throw noProject();
    if (hidden === 0 && row.private)
      throw new Refusal('manage_unsuitable', '只有它的主人能公开它，这里只能设为私有');
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(desc === undefined ? {} : { description: desc }),
      ...(hidden === undefined ? {} : { private: hidden === 1 }),
    };
    await store.changeProject(tx, id, change);
    note({
      subject: `train:${id}`,
      from: { name: row.name, description: row.description, private: row.private },
      to: change,
    });
  });
