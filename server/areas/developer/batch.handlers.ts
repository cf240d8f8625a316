import { randomUUID } from 'node:crypto';
import type { Database } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenHandlers } from '#server/http/open-routes.ts';
import * as store from './batch.store.ts';
import { lockOwner } from './developer.store.ts';

/** What the files of a person may have together, and how many lines may wait. */
const mostBytes = 200 * 1024 * 1024;
const mostFiles = 200;
const mostLines = 50_000;

export const newId = (kind: string): string => `${kind}-${randomUUID().replaceAll('-', '')}`;

const missing = (what: string): ApiRefusal =>
  new ApiRefusal('not_found', `没有这个${what}，或已超过 30 天`, { status: 404 });

const fileOf = ({ id, name, purpose, bytes, at }: store.FileRow) => ({
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

/** The lines of a file, each looked at before any is worked on. @throws Refusal bad_input, naming the line */
export const linesIn = (content: string): store.NewLine[] => {
  const seen = new Set<string>();
  const lines: store.NewLine[] = [];
  for (const [at, text] of content.split('\n').entries()) {
    if (text.trim() === '') continue;
    const wrong = (what: string): Refusal =>
      new Refusal('bad_input', `input_file_id：第 ${at + 1} 行${what}`);
    let read: Partial<Record<'custom_id' | 'method' | 'url' | 'body', unknown>>;
    try {
      read = JSON.parse(text) as typeof read;
    } catch {
      throw wrong('不是有效的 JSON');
    }
    const { custom_id: id, method, url, body } = read ?? {};
    if (typeof id !== 'string' || id === '' || id.length > 200) throw wrong('缺少 custom_id');
    if (seen.has(id)) throw wrong(`的 custom_id 与前面的重复：${id}`);
    seen.add(id);
    if (method !== 'POST') throw wrong('的 method 应为 POST');
    if (url !== '/v1/chat/completions') throw wrong('的 url 应为 /v1/chat/completions');
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw wrong('的 body 应为一组字段');
    if ((body as { stream?: unknown }).stream) throw wrong('的 body 不能有 stream');
    lines.push({ custom_id: id, body });
  }
  if (lines.length === 0) throw new Refusal('bad_input', 'input_file_id：文件里没有请求');
  return lines;
};

const paged = <T extends { id: string }, R>(
  rows: readonly T[],
  most: number,
  view: (row: T) => R,
) => {
  const shown = rows.slice(0, most);
  return {
    json: {
      object: 'list',
      data: shown.map(view),
      first_id: shown[0]?.id ?? null,
      last_id: shown.at(-1)?.id ?? null,
      has_more: rows.length > most,
    },
  };
};

export const createBatchHandlers = ({
  db,
}: {
  db: Database;
}): Pick<
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
  const batch = async (id: string, { keyId }: ApiCaller) => {
    const row = await store.findBatch(db, keyId, id);
    if (!row) throw missing('批处理');
    return { json: batchOf(row) };
  };
  return {
    async createFile({ purpose }, { caller, files }) {
      const [file] = files;
      if (!file) throw new Refusal('bad_input', 'file：请选择一个文件');
      let content: string;
      try {
        content = new TextDecoder('utf-8', { fatal: true }).decode(file.data);
      } catch {
        throw new Refusal('bad_input', 'file：应是 UTF-8 的 JSONL 文字');
      }
      if (content.includes('\0')) throw new Refusal('bad_input', 'file：不能有 NUL');
      const row = await db.transaction(async (tx) => {
        await lockOwner(tx, caller.user.id);
        const held = await store.filesHeld(tx, caller.user.id);
        if (held.count >= mostFiles || held.bytes + file.data.length > mostBytes)
          throw new Refusal('too_large', '文件太多，请先删除一些');
        return store.insertFile(tx, {
          id: newId('file'),
          keyId: caller.keyId,
          userId: caller.user.id,
          name: file.name || 'batch.jsonl',
          purpose,
          content,
        });
      });
      return { json: fileOf(row) };
    },

    async listFiles({ limit, after }, { caller }) {
      return paged(await store.filesOf(db, caller.keyId, after, limit + 1), limit, fileOf);
    },

    async readFile({ file_id: given }, { caller }) {
      const [, id = given, content] = /^([^/]+)(\/content)$/.exec(given) ?? [];
      if (content === undefined) {
        const row = await store.findFile(db, caller.keyId, id);
        if (!row) throw missing('文件');
        return { json: fileOf(row) };
      }
      const text = await store.contentOf(db, caller.keyId, id);
      if (text === null) throw missing('文件');
      return { text, type: 'application/jsonl; charset=utf-8' };
    },

    async deleteFile({ file_id: id }, { caller }) {
      if (!(await store.removeFile(db, caller.keyId, id))) throw missing('文件');
      return { json: { id, object: 'file', deleted: true } };
    },

    async createBatch({ input_file_id: fileId, metadata }, { caller }) {
      const content = await store.contentOf(db, caller.keyId, fileId);
      if (content === null)
        throw new ApiRefusal('not_found', '没有这个文件，或已超过 30 天', {
          status: 404,
          param: 'input_file_id',
        });
      const lines = linesIn(content);
      const row = await db.transaction(async (tx) => {
        await lockOwner(tx, caller.user.id);
        if ((await store.linesOpen(tx, caller.user.id)) + lines.length > mostLines)
          throw new Refusal('too_many_jobs', `等着做的行太多，最多 ${mostLines} 行`);
        const { keyId, user } = caller;
        const made = { id: newId('batch'), keyId, userId: user.id, fileId };
        return store.insertBatch(tx, { ...made, metadata: metadata ?? {} }, lines);
      });
      return { json: batchOf(row) };
    },

    async listBatches({ limit, after }, { caller }) {
      return paged(await store.batchesOf(db, caller.keyId, after, limit + 1), limit, batchOf);
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
