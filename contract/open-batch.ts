import * as z from 'zod/mini';
import { open, text } from './call.ts';
import { listPage } from './open-page.ts';

/** Files of programs and chats in bulk, as OpenAI has them. */

const fileRow = z.looseObject({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int(),
  filename: z.string(),
  purpose: z.string(),
});
const batchRow = z.looseObject({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.string(),
  status: z.string(),
  input_file_id: z.string(),
});
const listOf = <T extends z.ZodMiniType>(row: T) =>
  z.looseObject({ object: z.literal('list'), data: z.array(row), has_more: z.boolean() });

/** Bytes of one file. */
export const apiFileBytes = 20 * 1024 * 1024;

export const openBatchCalls = {
  createFile: open({
    method: 'POST',
    path: '/v1/files',
    wire: 'openai',
    summary: '上传批处理用的 JSONL 文件，保留 30 天',
    maxBytes: apiFileBytes,
    files: ['file'],
    input: z.strictObject({
      purpose: z.literal('batch', { error: '只收 purpose 为 batch 的文件' }),
    }),
    output: fileRow,
  }),
  listFiles: open({
    method: 'GET',
    path: '/v1/files',
    wire: 'openai',
    summary: '这个 KEY 的文件，新的在前；order 为 asc 时旧的在前',
    input: z.strictObject({
      ...listPage,
      purpose: z.optional(text(64)),
    }),
    output: listOf(fileRow),
  }),
  readFile: open({
    method: 'GET',
    path: '/v1/files/*',
    wire: 'openai',
    summary: '一个文件；后面加 /content 是它的内容',
    input: z.strictObject({ file_id: text(100) }),
    output: fileRow,
  }),
  deleteFile: open({
    method: 'DELETE',
    path: '/v1/files/*',
    wire: 'openai',
    summary: '删除一个文件',
    input: z.strictObject({ file_id: text(100) }),
    output: z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) }),
  }),
  createBatch: open({
    method: 'POST',
    path: '/v1/batches',
    wire: 'openai',
    summary: '批处理：一行一个对话，半价，一分钟后空闲时做，24 小时内完成',
    input: z.strictObject({
      input_file_id: text(100),
      endpoint: z.literal('/v1/chat/completions', { error: '批处理只做 /v1/chat/completions' }),
      completion_window: z.literal('24h', { error: '只有 24h' }),
      metadata: z.optional(z.nullable(z.record(text(64), text(512)))),
    }),
    output: batchRow,
  }),
  listBatches: open({
    method: 'GET',
    path: '/v1/batches',
    wire: 'openai',
    summary: '这个 KEY 的批处理，新的在前',
    input: z.strictObject({ limit: listPage.limit, after: listPage.after }),
    output: listOf(batchRow),
  }),
  readBatch: open({
    method: 'GET',
    path: '/v1/batches/*',
    wire: 'openai',
    summary: '一个批处理做到哪里了',
    input: z.strictObject({ batch_id: text(100) }),
    output: batchRow,
  }),
  cancelBatch: open({
    method: 'POST',
    path: '/v1/batches/*',
    wire: 'openai',
    summary: '地址后面加 /cancel：不再做剩下的行，做完的照样给出',
    inQuery: ['batch_id'],
    input: z.strictObject({ batch_id: text(110) }),
    output: batchRow,
  }),
};
