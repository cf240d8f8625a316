import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type ActNote, Refusal } from '#server/http/handlers.ts';
import * as store from './forum.store.ts';

type Note = (act: ActNote) => void;

export const groups = store.listGroups;

const groupOf = async (db: Executor, id: number | undefined) =>
  (await groups(db)).find((each) => each.id === id);

/** @throws Refusal bad_input where there is no such group */
export const requireGroup = async (db: Executor, id: number): Promise<void> => {
  // The first one cannot be deleted.
  if (id !== limits.defaultGroup && !(await store.hasGroup(db, id)))
    throw new Refusal('bad_input', 'group_id：没有这个分组');
};

export const saveGroup = async (
  db: Executor,
  { id, ...values }: Parsed<'saveForumGroup'>,
  note: Note,
): Promise<number> => {
  const before = await groupOf(db, id);
  const saved = await store.saveGroup(db, id, values);
  if (saved === 'missing') throw new Refusal('not_found', '没有这个分组');
  if (saved === 'taken') throw new Refusal('bad_input', 'name：已经有同名的分组');
  note({ subject: `forum_group:${saved}`, from: before, to: values });
  return saved;
};

export const deleteGroup = (db: Executor, id: number, note: Note): Promise<void> =>
  inTransaction(db, async (tx) => {
    note({ subject: `forum_group:${id}`, from: await groupOf(tx, id) });
    if (id === limits.defaultGroup) throw new Refusal('bad_input', 'id：默认分组不能删除');
    if (!(await store.deleteGroup(tx, id))) throw new Refusal('not_found', '没有这个分组');
  });
