import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import { call, flag, id, listOf, page, text, wholeNumber } from './call.ts';
import { keywordType } from './image.ts';
import { named } from './text-fields.ts';

const promptType = wholeNumber(0, 1);

const modelNames = z._default(z.array(text(100)).check(z.maxLength(50)), []);
/** Names of models: offered with these alone (empty: with all), and not with those. */
const attrs = z.object({ include: modelNames, exclude: modelNames });

const promptTemplate = z.object({
  id: z.int(),
  type: z.int(),
  attrs: z.object({ include: z.array(z.string()), exclude: z.array(z.string()) }),
  prompt_json: z.object({
    /** The same twice: the names that chat and image clients know it by. */
    act: z.string(),
    title: z.string(),
    prompt: z.string(),
    content: z.string(),
    /** What stands in `{{…}}` in it, each once, to be filled in. */
    vars: z.array(z.string()),
  }),
  /** The asker put it first, or does not want to see it. */
  top: z.boolean(),
  hidden: z.boolean(),
  /** The asker made it. */
  own: z.boolean(),
});
export type PromptTemplate = z.output<typeof promptTemplate>;

/** A word of the library for prompts of images, as managers see it. */
const managedKeyword = z.object({
  id: z.int(),
  /** English, as models read it. */
  text: z.string(),
  lang_zh: z.string(),
  type: keywordType,
  /** Group and group within it. */
  dir: z.string(),
  sub_dir: z.string(),
  /** 1: it came with the program. */
  built_in: z.int(),
  /** Of one that came with the program: a manager wrote it anew, or took it away. */
  changed: z.int(),
  removed: z.int(),
});
export type ManagedKeyword = z.output<typeof managedKeyword>;

/** Which words of the library are listed. */
export const keywordStates = z.enum(['own', 'changed', 'removed']);
/** Words that managers may add. */
export const mostKeywords = 5000;

/** Either name of each, or both; the chat's goes first. */
const promptWords = z.pipe(
  z.pipe(
    z.object({
      act: z.optional(text(200)),
      title: z.optional(text(200)),
      prompt: z.optional(text(10_000)),
      content: z.optional(text(10_000)),
      vars: z.optional(z.array(text(200)).check(z.maxLength(100))),
    }),
    z.transform(({ act, title, prompt, content }) => ({
      title: act ?? title ?? '',
      content: prompt ?? content ?? '',
    })),
  ),
  z.object({ title: named(bounds.template.title), content: named(bounds.template.content) }),
);

const written = {
  id: z.optional(id),
  type: promptType,
  attrs: z._default(attrs, { include: [], exclude: [] }),
  prompt_json: promptWords,
};

export const promptCalls = {
  promptList: call({
    method: 'GET',
    path: '/api/prompt_list',
    access: 'public',
    summary: '提示词模板：0 聊天，1 画图。置顶的在前，隐藏的也在（hidden）',
    input: z.object({ type: z._default(promptType, 0) }),
    output: z.object({ prompts: z.array(promptTemplate) }),
  }),
  topPrompt: call({
    method: 'POST',
    path: '/api/top_prompt',
    access: 'guest',
    summary: '置顶一个提示词模板，再次取消',
    input: z.object({ id, type: promptType }),
    output: z.object({ set: z.boolean() }),
  }),
  hidePrompt: call({
    method: 'POST',
    path: '/api/hide_prompt',
    access: 'guest',
    summary: '隐藏一个提示词模板，再次取消',
    input: z.object({ id, type: promptType }),
    output: z.object({ set: z.boolean() }),
  }),
  savePrompt: call({
    method: 'POST',
    path: '/api/save_prompt',
    access: 'guest',
    summary: '新建或修改自己的提示词模板',
    input: z.object(written),
    output: z.object({ id: z.int() }),
    idempotent: true,
  }),
  delPrompt: call({
    method: 'POST',
    path: '/api/del_prompt',
    access: 'guest',
    summary: '删除自己的提示词模板',
    input: z.object({ id }),
    output: z.object({}),
  }),
  managePromptList: call({
    method: 'GET',
    path: '/api/admin/prompt_list',
    access: 'manager',
    summary: '大家都能看到的提示词模板',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 15),
      query: z.optional(text(100)),
      type: z.optional(promptType),
    }),
    output: z.object(listOf(promptTemplate)),
  }),
  managePrompt: call({
    method: 'POST',
    path: '/api/admin/save_prompt',
    access: 'manager',
    summary: '新建或修改大家都能看到的提示词模板',
    input: z.object(written),
    output: z.object({ id: z.int() }),
    idempotent: true,
  }),
  removePrompt: call({
    method: 'POST',
    path: '/api/admin/del_prompt',
    access: 'manager',
    summary: '删除大家都能看到的提示词模板',
    input: z.object({ id }),
    output: z.object({}),
  }),
  manageKeywordList: call({
    method: 'GET',
    path: '/api/admin/keyword_list',
    access: 'manager',
    summary: '管理：画图关键词库，自己添加的在前',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 20),
      query: z.optional(text(100)),
      type: z.optional(keywordType),
      state: z.optional(keywordStates),
    }),
    output: z.object({ ...listOf(managedKeyword), dirs: z.array(z.string()) }),
  }),
  manageKeyword: call({
    method: 'POST',
    path: '/api/admin/save_keyword',
    access: 'manager',
    summary: '管理：添加画图关键词，或修改一个；自带的也可以改',
    input: z.object({
      id: z.optional(id),
      type: keywordType,
      text: named(bounds.keyword.text),
      lang_zh: named(bounds.keyword.chinese),
      dir: named(bounds.keyword.group),
      sub_dir: named(bounds.keyword.group),
    }),
    output: z.object({ id: z.int() }),
    codes: ['manage_unsuitable'],
    idempotent: true,
  }),
  removeKeyword: call({
    method: 'POST',
    path: '/api/admin/del_keyword',
    access: 'manager',
    summary: '管理：删除一个画图关键词；自带的从此不再提供，restore 为 1 时恢复原样',
    input: z.object({ id, restore: z._default(flag, 0) }),
    output: z.object({}),
  }),
};
