import * as z from 'zod/mini';
import { call, id, listOf, page, slowCall, text, time, wholeNumber, many } from './call.ts';
import { knowledgeLimits } from './train-limits.ts';
import { trainFile } from './train.ts';

/** What the owner of a knowledge base does with its passages; to others it is as if none were there. */

export const passage = z.object({
  id: z.int(),
  /** Where in the file, in words; empty: it has no parts. */
  place: z.string(),
  /** Of a question with its answer: the question. */
  heading: z.string(),
  text: z.string(),
  /** It is kept and found no more. */
  off: z.boolean(),
});
export type Passage = z.output<typeof passage>;

/** A file that is read again from its address each day. */
export const watch = z.object({
  file_id: z.int(),
  url: z.string(),
  /** False: after failures, or by its owner, it is read no more. */
  live: z.boolean(),
  read_at: time,
  /** Null: it never changed. */
  changed_at: z.nullable(time),
  /** What changed last, in words. */
  changed: z.string(),
  /** Why it was not read last time; empty: it was. */
  error: z.string(),
});
export type Watch = z.output<typeof watch>;

const words = (most: number, none: string) =>
  z.string().check(z.trim(), z.minLength(1, none), z.maxLength(most, `最多 ${most} 个字`));
const passageText = words(knowledgeLimits.passage, '请写下这一段的文字');

export const knowledgeCalls = {
  passageList: call({
    method: 'GET',
    path: '/api/train/passages',
    access: 'user',
    summary: '自己知识库里一个文件的段落，依次；停用的也在',
    input: z.object({ file_id: id, page }),
    output: z.object({ ...listOf(passage), name: z.string() }),
  }),
  savePassage: slowCall({
    method: 'POST',
    path: '/api/train/save_passage',
    access: 'user',
    summary: '改一段资料，或停用、启用它；改后的段落有新的编号',
    input: z.object({
      id,
      text: z.optional(passageText),
      /** Of a question with its answer. */
      heading: z.optional(text(knowledgeLimits.pairQuestion)),
      off: z.optional(z.boolean()),
    }),
    output: z.object({ passage }),
    codes: ['balance', 'engine_failed'],
  }),
  delPassage: call({
    method: 'POST',
    path: '/api/train/del_passage',
    access: 'user',
    summary: '删掉一段资料',
    input: z.object({ id }),
    output: z.object({}),
  }),
  addPair: slowCall({
    method: 'POST',
    path: '/api/train/add_pair',
    access: 'user',
    idempotent: true,
    summary: '给知识库添一条问答；同样的问题从“没有找到”里去掉',
    input: z.object({
      model_id: id,
      question: words(knowledgeLimits.pairQuestion, '请写下问题'),
      answer: words(knowledgeLimits.pairAnswer, '请写下回答'),
    }),
    output: z.object({ passage }),
    codes: ['training_too_many', 'file_quota', 'balance', 'engine_failed'],
  }),
  actOnFiles: call({
    method: 'POST',
    path: '/api/train/act_on_files',
    access: 'user',
    writes: many,
    summary: '一次去掉许多文件，或让失败的再试一次',
    input: z.object({
      model_id: id,
      ids: z.array(id).check(z.minLength(1), z.maxLength(knowledgeLimits.filesAtOnce)),
      act: z.enum(['remove', 'retry']),
    }),
    output: z.object({ done: z.int() }),
    codes: ['too_many_jobs'],
  }),
  addAddress: slowCall({
    method: 'POST',
    path: '/api/train/add_address',
    access: 'user',
    idempotent: true,
    summary: '把一个公开的网址加进知识库，每天再读一次',
    input: z.object({
      model_id: id,
      url: words(knowledgeLimits.address, '请填写网址'),
    }),
    output: z.object({ file: trainFile }),
    codes: ['training_too_many', 'file_quota', 'upload_unreadable', 'too_many_jobs'],
  }),
  watchList: call({
    method: 'GET',
    path: '/api/train/watches',
    access: 'user',
    summary: '自己知识库里每天再读的网址',
    input: z.object({ model_id: id }),
    output: z.object({ list: z.array(watch) }),
  }),
  setWatch: call({
    method: 'POST',
    path: '/api/train/set_watch',
    access: 'user',
    summary: '停止或恢复每天读一个网址；恢复后马上再读一次',
    input: z.object({ file_id: id, live: z.boolean() }),
    output: z.object({}),
    codes: ['training_too_many'],
  }),
  gapList: call({
    method: 'GET',
    path: '/api/train/gaps',
    access: 'user',
    summary: '自己的知识库被问过而没有找到的，问得多的在前；不说是谁问的',
    input: z.object({ model_id: id }),
    output: z.object({
      list: z.array(z.object({ id: z.int(), question: z.string(), asked: z.int(), last_at: time })),
    }),
  }),
  delGap: call({
    method: 'POST',
    path: '/api/train/del_gap',
    access: 'user',
    summary: '不再列出一个没有找到的问题',
    input: z.object({ model_id: id, id: wholeNumber(1, Number.MAX_SAFE_INTEGER) }),
    output: z.object({}),
  }),
};
