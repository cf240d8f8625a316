import { sql } from 'drizzle-orm';
import type { Parsed } from '#contract/calls.ts';
import { calls } from '#contract/calls.ts';
import { usualCompliance } from '#contract/compliance.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Done } from '#server/http/from.ts';
import { type RecordKind, recordKindOf } from './record-kinds.ts';

const months = sql`coalesce((settings ->> 'record_months')::int, ${usualCompliance.record_months})`;

/** Names of fields by which a call says what it is about, the most exact first. */
const subjects = ['history_id', 'image_id', 'uuid', 'session_id', 'url', 'key', 'id', 'user_id'];
const mostSubject = 200;

const fieldOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return '';
  const fields = value as Record<string, unknown>;
  const found = subjects.find((name) => /^(string|number)$/.test(typeof fields[name]));
  return found === undefined ? '' : `${found}=${String(fields[found])}`;
};

/** What something was done to, as far as its input and answer tell it by a number. */
const subjectOf = (input: unknown, answer: unknown): string =>
  [fieldOf(input), fieldOf(answer)].filter(Boolean).join(' ').slice(0, mostSubject);

/** Writes down that somebody did something, with what it did. Nothing where no records are kept. */
export const recordCall = async (db: Executor, done: Done): Promise<void> => {
  const kind = recordKindOf(done.call, done.byKey);
  if (kind === null) return;
  await db.execute(sql`
    INSERT INTO records (user_id, kind, call, subject, ip, port)
    SELECT ${done.userId}::bigint, ${kind}, ${done.call}, ${subjectOf(done.input, done.answer)},
      ${done.from.ip}, ${done.from.port}::int
    FROM compliance WHERE ${months} > 0`);
};

/** Rows that one round of the housekeeping takes away. */
const removedAtOnce = 5_000;

/** Records older than they are kept. */
export const removeOldRecords = async (db: Executor): Promise<void> => {
  await db.execute(sql`DELETE FROM records WHERE id IN (
    SELECT id FROM records WHERE at < (SELECT now() - make_interval(months => ${months}) FROM compliance)
    ORDER BY id LIMIT ${removedAtOnce})`);
};

/** Lines of one export. */
const mostLines = 200_000;

const words: Readonly<Record<RecordKind, string>> = {
  sign_in: '登录',
  publish: '发布',
  generate: '生成',
  act: '操作',
};

/** A field of a table as programs for tables read it; what looks like a formula stays text. */
const cell = (value: string): string => {
  const safe = /^[=+\-@\t]/.test(value) ? `'${value}` : value;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const summaryOf = (call: string): string =>
  (calls as Record<string, { summary: string } | undefined>)[call]?.summary ?? call;

interface Line extends Record<string, unknown> {
  at: string;
  kind: RecordKind | 'label' | 'consent';
  what: string;
  subject: string;
  ip: string;
  port: number | null;
}

/**
 * What one person did in a span, as a table (CSV): records, what was generated with its label, and
 * what was agreed to. Nobody else stands in it, and no words of theirs.
 * @throws Refusal not_found, manage_unsuitable
 */
export const exportRecords = async (
  db: Executor,
  { user_id: userId, from, to }: Parsed<'exportRecords'>,
): Promise<{ name: string; text: string; count: number }> => {
  if (to < from) throw new Refusal('manage_unsuitable', '结束的一天在开始之前');
  const person = await db.execute<{ account: string | null }>(
    sql`SELECT account FROM users WHERE id = ${userId}`,
  );
  if (person.rows.length === 0) throw new Refusal('not_found', '没有这个人');
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
    ) all_of ORDER BY all_of.at LIMIT ${mostLines + 1}`);
  if (rows.length > mostLines)
    throw new Refusal('manage_unsuitable', `这段时间的记录超过 ${mostLines} 条，请缩短`);
  const lines = rows.map(({ at, kind, what, subject, ip, port }) => [
    at,
    kind === 'label' ? '标识' : kind === 'consent' ? '同意协议' : words[kind],
    kind === 'label' || kind === 'consent' ? what : summaryOf(what),
    subject,
    ip,
    port === null ? '' : String(port),
  ]);
  const head = ['时间（北京）', '种类', '内容', '对象', '地址', '端口'];
  const text = [head, ...lines].map((line) => line.map(cell).join(',')).join('\r\n');
  return {
    name: `records-${userId}-${from}-${to}.csv`,
    text: `\uFEFF${text}\r\n`,
    count: rows.length,
  };
};
