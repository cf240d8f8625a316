import { sql } from 'drizzle-orm';
import { usualCompliance } from '#contract/compliance.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import type { RecordKind } from './record-kinds.ts';

const months = sql`coalesce((settings ->> 'record_months')::int, ${usualCompliance.record_months})`;

const insert = statement(
  'records_insert',
  `INSERT INTO records (user_id, kind, call, subject, ip, port)
   SELECT user_id, CASE WHEN EXISTS (SELECT FROM sessions WHERE uuid = in_uuid AND type = $9)
       OR EXISTS (SELECT FROM sessions WHERE id = in_id AND type = $9) THEN 'publish' ELSE kind END,
     call, subject, ip, nullif(port, 0)
   FROM compliance, unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[],
     $7::uuid[], $8::bigint[]) AS done (user_id, kind, call, subject, ip, port, in_uuid, in_id)
   WHERE coalesce((settings ->> 'record_months')::int, $10::int) > 0`,
);

/** What somebody did. */
export interface NewRecord {
  userId: number;
  kind: RecordKind;
  call: string;
  subject: string;
  ip: string;
  port: number | null;
  /** What is done in this session is `publish` where it is among people. */
  session: string | null;
}

/** A session by its uuid or its number, as a pair of values of which one is null. */
const sessionRef = (ref: string | null): [string | null, number | null] =>
  ref === null ? [null, null] : ref.includes('-') ? [ref, null] : [null, Number(ref)];

/** Nothing is written where no records are kept. */
export const insertRecords = async (db: Executor, records: readonly NewRecord[]): Promise<void> => {
  const sessions = records.map(({ session }) => sessionRef(session));
  await insert(db, [
    records.map(({ userId }) => userId),
    records.map(({ kind }) => kind),
    records.map(({ call }) => call),
    records.map(({ subject }) => subject),
    records.map(({ ip }) => ip),
    records.map(({ port }) => port ?? 0),
    sessions.map(([uuid]) => uuid),
    sessions.map(([, id]) => id ?? 0),
    sessionTypes.people,
    usualCompliance.record_months,
  ]);
};

const amongPeople = statement(
  'session_among_people',
  'SELECT FROM sessions WHERE (uuid = $1 OR id = $2) AND type = $3',
  { shared: true },
);

/** Whether a session, by its uuid or number, is one among people. */
export const isAmongPeople = async (db: Executor, ref: string): Promise<boolean> =>
  (await amongPeople(db, [...sessionRef(ref), sessionTypes.people])).length > 0;

/** Rows that one round of the housekeeping takes away. */
const removedAtOnce = 5_000;

/** Records older than they are kept. */
export const removeOldRecords = async (db: Executor): Promise<void> => {
  await db.execute(sql`DELETE FROM records WHERE id IN (
    SELECT id FROM records WHERE at < (SELECT now() - make_interval(months => ${months}) FROM compliance)
    ORDER BY id LIMIT ${removedAtOnce})`);
};

export const isPerson = async (db: Executor, userId: number): Promise<boolean> => {
  const { rows } = await db.execute(sql`SELECT FROM users WHERE id = ${userId}`);
  return rows.length > 0;
};

interface Line extends Record<string, unknown> {
  at: string;
  kind: RecordKind | 'label' | 'consent';
  what: string;
  subject: string;
  ip: string;
  port: number | null;
}

/** What is written of a person from one day to another, both with them, in Beijing's time. */
export const linesOf = async (
  db: Executor,
  { userId, from, to, most }: { userId: number; from: string; to: string; most: number },
): Promise<Line[]> => {
  const span = (column: string) =>
    sql`user_id = ${userId} AND ${sql.identifier(column)} >= (${from}::date::timestamp AT TIME ZONE 'Asia/Shanghai')
      AND ${sql.identifier(column)} < ((${to}::date + 1)::timestamp AT TIME ZONE 'Asia/Shanghai')`;
  const { rows } = await db.execute<Line>(sql`
    SELECT to_char(at AT TIME ZONE 'Asia/Shanghai', 'YYYY-MM-DD HH24:MI:SS') AS at, kind, what,
      subject, ip, port FROM (
      SELECT at, kind, call AS what, subject, ip, port FROM records WHERE ${span('at')}
      UNION ALL SELECT created_at, 'label', model, id, '', NULL FROM labels WHERE ${span('created_at')}
      UNION ALL SELECT created_at, 'consent', kind, version::text, '', NULL FROM consents
        WHERE ${span('created_at')}
    ) all_of ORDER BY all_of.at LIMIT ${most}`);
  return rows;
};
