import { and, desc, eq, gt, max, sql } from 'drizzle-orm';
import type { Parsed } from '#contract/calls.ts';
import { calls } from '#contract/calls.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import type { Executor } from '#server/db/database.ts';
import { users } from '#server/db/schema.ts';
import type { ManagerAct } from '#server/http/handlers.ts';
import { managerActs } from './stats.tables.ts';

/** What nobody may read later, also not in the log. */
const secret = /pass(word)?$|(^|_)(key|secret|code|token|header)s?$/i;
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

/** Whether the log has had the same within an hour. */
const isNoted = async (db: Executor, { userId, call, subject = '' }: ManagerAct) => {
  const rows = await db
    .select({ id: managerActs.id })
    .from(managerActs)
    .where(
      and(
        eq(managerActs.subject, subject),
        eq(managerActs.userId, userId),
        eq(managerActs.call, call),
        gt(managerActs.createdAt, sql`now() - interval '1 hour'`),
      ),
    )
    .limit(1);
  return rows.length > 0;
};

/** Writes a line of the log, in the transaction of the act. */
export const keepAct = async (db: Executor, act: ManagerAct): Promise<void> => {
  if (act.hourly && (await isNoted(db, act))) return;
  await db.insert(managerActs).values({
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

/** Each name once: the index is jumped through from one to the next. */
const usedCalls = async (db: Executor): Promise<string[]> => {
  const { rows } = await db.execute<{ call: string }>(sql`
    WITH RECURSIVE used AS (
      SELECT min(call) AS call FROM manager_acts
      UNION ALL
      SELECT (SELECT min(m.call) FROM manager_acts m WHERE m.call > used.call) FROM used
      WHERE used.call IS NOT NULL
    ) SELECT call FROM used WHERE call IS NOT NULL`);
  return rows.map(({ call }) => call);
};

export const listActs = async (db: Executor, input: Parsed<'adminActList'>) => {
  const wanted = and(
    input.user_id === undefined ? undefined : eq(managerActs.userId, input.user_id),
    input.call === undefined ? undefined : eq(managerActs.call, input.call),
    input.subject === undefined ? undefined : eq(managerActs.subject, input.subject),
  );
  const rows = await db
    .select({ act: managerActs, userName: users.userName })
    .from(managerActs)
    .innerJoin(users, eq(users.id, managerActs.userId))
    .where(wanted)
    .orderBy(desc(managerActs.id))
    .offset((input.page - 1) * pageSize)
    .limit(pageSize);
  const total = await countUpTo(db, managerActs, wanted);
  const used = await usedCalls(db);
  return {
    list: rows.map(({ act, userName }) => {
      const { from, to } = changedOf(act.before, act.after);
      return {
        id: act.id,
        user_id: act.userId,
        user_name: userName,
        call: act.call,
        summary: summaryOf(act.call),
        subject: act.subject,
        // Once more: what counts as secret was less before.
        input: textOf(shortened(act.input)),
        from: textOf(from),
        to: textOf(to),
        ip: act.ip,
        created_at: act.createdAt.toISOString(),
      };
    }),
    calls: used.map((call) => ({ call, summary: summaryOf(call) })),
    page: input.page,
    page_count: Math.ceil(total / pageSize),
    page_size: pageSize,
    total,
  };
};

/** When each manager last did something. */
export const lastActs = async (db: Executor): Promise<Map<number, Date | null>> => {
  const rows = await db
    .select({ userId: managerActs.userId, at: max(managerActs.createdAt) })
    .from(managerActs)
    .where(sql`true`)
    .groupBy(managerActs.userId);
  return new Map(rows.map(({ userId, at }) => [userId, at]));
};
