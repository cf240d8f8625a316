import type { Parsed } from '#contract/calls.ts';
import { calls } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import type { ManagerAct } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import * as store from './acts.store.ts';

/** What nobody may read later, also not in the log. */
const secret = /pass(word)?$|(^|_)(key|secret|code|token|header)s?$|^body$/i;
/** Characters of a text that are kept: the log says what was done, it is no archive. */
const mostText = 2000;

/** Calls whose input holds keys within one text. */
const inputsWithKeys: ReadonlySet<string> = new Set(['importChannels']);

const shortened = (value: unknown, name = ''): unknown => {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') {
    if (value !== '' && secret.test(name) && name !== 'unique_key') return '（未记录）';
    return value.length > mostText ? `${value.slice(0, mostText)}…` : value;
  }
  if (Array.isArray(value)) return value.slice(0, 100).map((part) => shortened(part));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, shortened(part, key)]),
    );
  return value;
};

/** Writes a line of the log, in the transaction of the act. */
export const keepAct = async (db: Executor, act: ManagerAct): Promise<void> => {
  if (act.hourly && (await store.isNoted(db, act))) return;
  await store.insertAct(db, {
    userId: act.userId,
    call: act.call,
    subject: act.subject ?? '',
    input: inputsWithKeys.has(act.call) ? {} : (shortened(act.input) ?? {}),
    before: shortened(act.from) ?? null,
    after: shortened(act.to) ?? null,
    ip: act.ip,
  });
};

const pageSize = 20;
const summaryOf = (call: string): string =>
  (calls as Record<string, { summary: string } | undefined>)[call]?.summary.replace(
    /^管理：/,
    '',
  ) ?? call;
const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : JSON.stringify(value);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of what was before and is after a change, the fields that changed. */
const changedOf = (before: unknown, after: unknown): { from: unknown; to: unknown } => {
  if (!isRecord(before) || !isRecord(after)) return { from: before, to: after };
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const only = (all: Record<string, unknown>) =>
    Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
  return { from: only(before), to: only(after) };
};

export const listActs = async (db: Executor, input: Parsed<'adminActList'>) => {
  const { rows, total } = await store.pageOfActs(db, input, pageSize);
  const used = await store.usedCalls(db);
  const managers = await store.actors(db);
  return {
    list: rows.map(({ act, userName, person }) => {
      const { from, to } = changedOf(act.before, act.after);
      return {
        id: act.id,
        user_id: act.userId,
        user_name: userName,
        call: act.call,
        summary: summaryOf(act.call),
        subject: act.subject,
        person: person && { user_id: person.id, user_name: person.userName },
        // Once more: what counts as secret was less before.
        input: textOf(shortened(act.input)),
        from: textOf(from),
        to: textOf(to),
        ip: act.ip,
        created_at: act.createdAt.toISOString(),
      };
    }),
    calls: used.map((call) => ({ call, summary: summaryOf(call) })),
    managers,
    ...pageOf(total, input.page, pageSize),
  };
};

export { lastActs } from './acts.store.ts';
