import { Readable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Database, Transaction } from '#server/db/database.ts';
import { lockOwner } from '#server/db/person.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import { Refusal, type UploadedFile } from '#server/http/handlers.ts';
import { readJson } from '#server/http/json-text.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenHandlers } from '#server/http/open-handlers.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import * as fileStore from './api-file.store.ts';
import * as store from './batch.store.ts';
import { paged } from './list-page.ts';
import { newId } from './new-id.ts';

/** What the files of a person may have together, and what may be under way. */
const mostBytes = 200 * 1024 * 1024;
const mostFiles = 200;
/** Files that a person may read at once. */
const mostReading = 8;
/** Bytes that are read as text together. */
const decodedAtOnce = 1024 * 1024;
const mostLines = 50_000;
const mostBatches = 100;
/** Characters of one line. */
const lineLength = 4 * 1024 * 1024;
/** For so long lines are looked at before others are served, ms. */
const breathMs = 8;
/** Files are looked through by two at once, of each person one; what one may have waiting. */
const inTurn = createFairQueue(2, 8);

const tooMany = () => new Refusal('too_many_jobs', `等着做的行太多，最多 ${mostLines} 行`);

/** @throws Refusal too_many_jobs, where a person has as much under way as they may */
const requireRoom = (
  now: Awaited<ReturnType<typeof store.underWay>>,
  more: { lines: number; bytes: number },
): void => {
  if (now.lines + more.lines > mostLines) throw tooMany();
  if (now.batches >= mostBatches)
    throw new Refusal('too_many_jobs', `等着做的批处理太多，最多 ${mostBatches} 批`);
  if (now.bytes + more.bytes > mostBytes)
    throw new Refusal('too_many_jobs', '等着做的批处理一共太大，请等前面的做完');
};

const missing = (what: string): ApiRefusal =>
  new ApiRefusal('not_found', `没有这个${what}，或已超过 30 天`, { status: 404 });

const fileOf = ({ id, name, purpose, bytes, at }: fileStore.FileRow) => ({
  id,
  object: 'file',
  bytes,
  created_at: at,
  filename: name,
  purpose,
  status: 'processed',
  expires_at: at + 30 * 86_400,
});

const batchOf = (row: store.BatchRow) => ({
  id: row.id,
  object: 'batch',
  endpoint: '/v1/chat/completions',
  errors: null,
  input_file_id: row.input_file_id,
  completion_window: '24h',
  status: row.status,
  output_file_id: row.output_file_id,
  error_file_id: row.error_file_id,
  created_at: row.at,
  in_progress_at: row.at,
  expires_at: row.at + 86_400,
  finalizing_at: null,
  completed_at: row.status === 'completed' ? row.ended : null,
  failed_at: null,
  expired_at: row.status === 'expired' ? row.ended : null,
  cancelling_at: row.cancelled,
  cancelled_at: row.status === 'cancelled' ? row.ended : null,
  request_counts: { total: row.total, completed: row.done, failed: row.failed },
  metadata: row.metadata,
});

/** Lines of a text that comes in pieces. @throws Refusal too_large, where one is far too long */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineLength) break;
    yield* lines;
  }
  yield rest;
}

const requestIn = (text: string, wrong: (what: string) => Refusal): store.NewLine => {
  if (text.length > lineLength) throw wrong(`太长，一行最多 ${lineLength / 1024 / 1024} M 个字符`);
  let read: Partial<Record<'custom_id' | 'method' | 'url' | 'body', unknown>> | null;
  try {
    read = readJson(text) as typeof read;
  } catch (error) {
    throw wrong(error instanceof Refusal ? `不能用：${error.message}` : '不是有效的 JSON');
  }
  const { custom_id: id, method, url, body } = read ?? {};
  if (typeof id !== 'string' || id === '' || id.length > 200 || id.includes('\0'))
    throw wrong('缺少 custom_id');
  if (method !== 'POST') throw wrong('的 method 应为 POST');
  if (url !== '/v1/chat/completions') throw wrong('的 url 应为 /v1/chat/completions');
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrong('的 body 应为一组字段');
  if ((body as { stream?: unknown }).stream) throw wrong('的 body 不能有 stream');
  return { custom_id: id, body: JSON.stringify(body) };
};

/**
 * The lines of a file, each looked at before any is worked on; others are served meanwhile.
 * @throws Refusal bad_input, naming the line
 */
const requestsIn = async (pieces: AsyncIterable<string>): Promise<store.NewLine[]> => {
  const seen = new Set<string>();
  const lines: store.NewLine[] = [];
  let at = 0;
  let since = performance.now();
  for await (const text of linesOf(pieces)) {
    at += 1;
    if (performance.now() - since > breathMs) {
      await breathe();
      since = performance.now();
    }
    if (text.trim() === '') continue;
    const nth = at;
    const wrong = (what: string) => new Refusal('bad_input', `input_file_id：第 ${nth} 行${what}`);
    const line = requestIn(text, wrong);
    if (seen.has(line.custom_id)) throw wrong(`的 custom_id 与前面的重复：${line.custom_id}`);
    seen.add(line.custom_id);
    lines.push(line);
    if (lines.length > mostLines) throw tooMany();
  }
  if (lines.length === 0) throw new Refusal('bad_input', 'input_file_id：文件里没有请求');
  return lines;
};

interface Works {
  db: Database;
  disk: DiskRoom;
}

/**
 * What comes of a batch is about as large as what it asks, even where nothing of it is done.
 * @throws Refusal too_large
 */
const requireOutputRoom = async (
  db: Database,
  userId: number,
  { bytes }: fileStore.FileRow,
): Promise<void> => {
  const held = await fileStore.filesHeld(db, userId);
  if (held.bytes + bytes > mostBytes)
    throw new Refusal(
      'too_large',
      `input_file_id：文件一共最多 ${mostBytes / 1024 / 1024} MB，这一批的回答会放不下，请先删除一些（以前各批的输出也算）`,
    );
};

/**
 * Files are written by three at once, of each person one: the others wait without a connection to the
 * database, for half a minute.
 */
const oneByOne = createFairQueue(3, Infinity, 1, 30_000);

/** @throws Refusal too_large, bad_input */
const keepFile = async (
  tx: Transaction,
  { keyId, user }: ApiCaller,
  { file, purpose }: { file: UploadedFile; purpose: string },
): Promise<fileStore.FileRow> => {
  await lockOwner(tx, user.id);
  const held = await fileStore.filesHeld(tx, user.id);
  if (held.count >= mostFiles || held.bytes + file.data.length > mostBytes)
    throw new Refusal('too_large', '文件太多，请先删除一些');
  const kept = await fileStore.beginFile(tx, {
    id: newId('file'),
    keyId,
    userId: user.id,
    name: file.name || 'batch.jsonl',
    purpose,
  });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < file.data.length; at += decodedAtOnce) {
    const end = at + decodedAtOnce;
    let text: string;
    try {
      text = decoder.decode(file.data.subarray(at, end), { stream: end < file.data.length });
    } catch {
      throw new Refusal('bad_input', 'file：应是 UTF-8 的 JSONL 文字');
    }
    if (text.includes('\0')) throw new Refusal('bad_input', 'file：不能有 NUL');
    await kept.write(text);
  }
  return kept.end();
};

export const createBatchHandlers = ({
  db,
  disk,
}: Works): Pick<
  OpenHandlers,
  | 'createFile'
  | 'listFiles'
  | 'readFile'
  | 'deleteFile'
  | 'createBatch'
  | 'listBatches'
  | 'readBatch'
  | 'cancelBatch'
> => {
  /** By person: files that are being read. */
  const reading = new Map<number, number>();
  const batch = async (id: string, { keyId }: ApiCaller) => {
    const row = await store.findBatch(db, keyId, id);
    if (!row) throw missing('批处理');
    return { json: batchOf(row) };
  };
  return {
    async createFile({ purpose }, { caller, files }) {
      const [file] = files;
      if (!file) throw new Refusal('bad_input', 'file：请选择一个文件');
      await disk.require(caller.user);
      const row = await oneByOne(caller.user, () =>
        db.transaction((tx) => keepFile(tx, caller, { file, purpose })),
      );
      return { json: fileOf(row) };
    },

    async listFiles({ limit, after, order, purpose }, { caller }) {
      const page = { after, order, most: limit + 1 };
      return paged(await fileStore.filesOf(db, caller.keyId, page, purpose), limit, fileOf);
    },

    async readFile({ file_id: given }, { caller }) {
      const [, id = given, content] = /^([^/]+)(\/content)$/.exec(given) ?? [];
      if (content === undefined) {
        const row = await fileStore.findFile(db, caller.keyId, id);
        if (!row) throw missing('文件');
        return { json: fileOf(row) };
      }
      if (!(await fileStore.findFile(db, caller.keyId, id))) throw missing('文件');
      const { id: userId } = caller.user;
      const open = reading.get(userId) ?? 0;
      if (open >= mostReading)
        throw new Refusal('too_many', '同时读取的文件太多，请等前面的读完', { retry_after: 5 });
      reading.set(userId, open + 1);
      const stream = Readable.from(fileStore.piecesOf(db, id), { objectMode: false });
      stream.once('close', () => {
        const left = (reading.get(userId) ?? 1) - 1;
        if (left > 0) reading.set(userId, left);
        else reading.delete(userId);
      });
      return { stream, type: 'application/jsonl; charset=utf-8' };
    },

    async deleteFile({ file_id: id }, { caller }) {
      if (!(await fileStore.removeFile(db, caller.keyId, id))) throw missing('文件');
      return { json: { id, object: 'file', deleted: true } };
    },

    async createBatch({ input_file_id: fileId, metadata }, { caller }) {
      const { keyId, user } = caller;
      const file = await fileStore.findFile(db, keyId, fileId);
      if (!file)
        throw new ApiRefusal('not_found', '没有这个文件，或已超过 30 天', {
          status: 404,
          param: 'input_file_id',
        });
      await disk.require(user);
      const row = await inTurn(user, async () => {
        requireRoom(await store.underWay(db, user.id), { lines: 1, bytes: file.bytes });
        await requireOutputRoom(db, user.id, file);
        const lines = await requestsIn(fileStore.piecesOf(db, fileId));
        return db.transaction(async (tx) => {
          await lockOwner(tx, user.id);
          const { bytes } = file;
          requireRoom(await store.underWay(tx, user.id), { lines: lines.length, bytes });
          const made = { id: newId('batch'), keyId, userId: user.id, fileId, bytes };
          return store.insertBatch(tx, { ...made, metadata: metadata ?? {} }, lines);
        });
      });
      return { json: batchOf(row) };
    },

    async listBatches({ limit, after }, { caller }) {
      const page = { after, most: limit + 1 };
      return paged(await store.batchesOf(db, caller.keyId, page), limit, batchOf);
    },

    readBatch: ({ batch_id: id }, { caller }) => batch(id, caller),

    async cancelBatch({ batch_id: given }, { caller }) {
      const [, id] = /^([^/]+)\/cancel$/.exec(given) ?? [];
      if (id === undefined) throw missing('接口');
      await store.cancelBatch(db, caller.keyId, id);
      return batch(id, caller);
    },
  };
};
