import type { Parsed } from '#contract/calls.ts';
import { calls } from '#contract/calls.ts';
import { batched } from '#server/db/batched.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { Done } from '#server/http/from.ts';
import { messageSession, publishes } from './among-people.ts';
import { type RecordKind, recordKindOf } from './record-kinds.ts';
import * as store from './records.store.ts';

/** Names of fields by which a call says what it is about, the most exact first. */
const subjects = ['history_id', 'image_id', 'uuid', 'session_id', 'url', 'key', 'id', 'user_id'];
const mostSubject = 200;

/** An address without what may be a key in it: a name and its password, and whatever follows the path. */
const withoutSecrets = (url: string): string =>
  url.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');

const fieldOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return '';
  const fields = value as Record<string, unknown>;
  const found = subjects.find((name) => /^(string|number)$/.test(typeof fields[name]));
  if (found === undefined) return '';
  const told = String(fields[found]);
  return `${found}=${found === 'url' ? withoutSecrets(told) : told}`;
};

/** What something was done to, as far as its input and answer tell it by a number. */
const subjectOf = (input: unknown, answer: unknown): string =>
  [fieldOf(input), fieldOf(answer)].filter(Boolean).join(' ').slice(0, mostSubject);

/** Records that are written in one statement. */
const mostTogether = 64;
const insertTogether = batched(async (db, records: readonly store.NewRecord[]) => {
  await store.insertRecords(db, records);
  return records;
}, mostTogether);

/** Writes down that somebody did something, with what it did. Nothing where no records are kept. */
export const recordCall = async (db: Executor, done: Done): Promise<void> => {
  const { byKey, answer } = done;
  const entered = typeof (answer as { token?: unknown } | null)?.token === 'string';
  const plain = recordKindOf(done.call, { byKey, entered });
  if (plain === null) return;
  const input = (done.input ?? {}) as Record<string, unknown>;
  const subject = subjectOf(done.input, done.answer);
  const record: store.NewRecord = {
    ...done.from,
    userId: done.userId,
    kind: publishes(done.call, input) ? 'publish' : plain,
    call: done.call,
    subject,
    // A message to a person goes by the same call as one to a model.
    session: messageSession(done.call, input),
  };
  await ('$client' in db ? insertTogether(db, record) : store.insertRecords(db, [record]));
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

/** What a call does, without what programs are told of it besides. */
const summaryOf = (call: string): string => {
  const whole = (calls as Record<string, { summary: string } | undefined>)[call]?.summary;
  return whole?.split(/[。；，]/)[0] ?? call;
};

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
  if (!(await store.isPerson(db, userId))) throw new Refusal('not_found', '没有这个人');
  const rows = await store.linesOf(db, { userId, from, to, most: mostLines + 1 });
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
