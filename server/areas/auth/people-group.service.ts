import type { Out, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { type ActNote, type Identity, Refusal } from '#server/http/handlers.ts';
import * as store from './people-group.store.ts';

type Note = (act: ActNote) => void;

const missing = () => new Refusal('not_found', '没有这个用户组');

export const listPeopleGroups = async (db: Executor): Promise<Out<'peopleGroups'>> => ({
  list: (await store.listGroups(db)).map((row) => ({
    ...row,
    created_at: new Date(row.created_at).toISOString(),
  })),
});

/** Managers give nothing to themselves, nor to each other: what one of them pays an owner says. */
const requireOwner = async (db: Executor, id: number, by: Identity): Promise<void> => {
  if (!by.owner && (await store.hasManager(db, id)))
    throw new Refusal('manage_unsuitable', '组里有管理员，只有所有者可以更改它的倍率');
};

/** @throws Refusal not_found */
export const requireGroup = async (db: Executor, id: number) => {
  const row = await store.lockGroup(db, id);
  if (!row) throw missing();
  return row;
};

export const savePeopleGroup = async (
  db: Executor,
  { id, ...input }: Parsed<'savePeopleGroup'>,
  by: Identity,
  note: Note,
): Promise<Out<'savePeopleGroup'>> => {
  const values = { name: input.name.trim(), factor: input.factor };
  if (values.name === '') throw new Refusal('bad_input', 'name：请填写名称');
  const before = id === undefined ? null : await requireGroup(db, id);
  if (before && before.factor !== values.factor) await requireOwner(db, before.id, by);
  const namesake = await store.groupNamed(db, values.name);
  if (namesake && namesake.id !== before?.id)
    throw new Refusal('bad_input', 'name：已经有同名的用户组');
  if (before) await store.changeGroup(db, before.id, values);
  const made = before?.id ?? (await store.insertGroup(db, values));
  note({
    subject: `people_group:${made}`,
    from: before && { name: before.name, factor: before.factor },
    to: values,
  });
  return { id: made };
};

export const removePeopleGroup = async (
  db: Executor,
  id: number,
  by: Identity,
  note: Note,
): Promise<void> => {
  const { name, factor } = await requireGroup(db, id);
  await requireOwner(db, id, by);
  const channel = await store.channelOnlyFor(db, id);
  if (channel !== null)
    throw new Refusal('manage_unsuitable', `服务“${channel}”只给这个组用，请先改它`);
  await store.removeGroup(db, id);
  note({ subject: `people_group:${id}`, from: { name, factor } });
};
