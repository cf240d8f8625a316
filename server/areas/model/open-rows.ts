import type { Executor } from '#server/db/database.ts';
import { groupOf } from '../ledger/group-of.ts';
import type { ServedModel } from './model.store.ts';

/** Channels may serve some groups of people alone. */

const groupsOf = ({ channel }: Pick<ServedModel, 'channel'>): readonly number[] =>
  channel.options.groups ?? [];

const isClosed = (row: Pick<ServedModel, 'channel'>): boolean => groupsOf(row).length > 0;

export const isMember = (groups: readonly number[], group: { id: number } | null): boolean =>
  group !== null && groups.includes(group.id);

/** Those that serve this person; null: a visitor. Nothing is asked where all of them serve everybody. */
export const rowsFor = async (
  db: Executor,
  rows: readonly ServedModel[],
  userId: number | null,
): Promise<ServedModel[]> => {
  if (!rows.some(isClosed)) return [...rows];
  const group = await groupOf(db, userId);
  return rows.filter((row) => !isClosed(row) || isMember(groupsOf(row), group));
};

/** Those that tell what a model can do: the ones that serve everybody, where there are any. */
export const openRows = (rows: readonly ServedModel[]): ServedModel[] => {
  const open = rows.filter((row) => !isClosed(row));
  return open.length > 0 ? open : [...rows];
};

/** The only groups that may use a model of these rows; null: everybody. */
export const openTo = (rows: readonly ServedModel[]): readonly number[] | null =>
  rows.length > 0 && rows.every(isClosed) ? [...new Set(rows.flatMap(groupsOf))] : null;

/** By their models, in their order. */
export const byModel = (
  rows: readonly ServedModel[],
): ReadonlyMap<string, [ServedModel, ...ServedModel[]]> => {
  const found = new Map<string, [ServedModel, ...ServedModel[]]>();
  for (const row of rows) {
    const known = found.get(row.model.name);
    if (known) known.push(row);
    else found.set(row.model.name, [row]);
  }
  return found;
};
