import * as z from 'zod/mini';
import { call, flag, listOf, page, stream, text, time, requestId } from './call.ts';

/** Works that take long. */
export const jobKind = z.enum([
  'image',
  'video',
  'embedding',
  'lora',
  'translate',
  'reconciliation',
  'account-export',
  'ollama',
  'local-model',
]);
export type JobKind = z.output<typeof jobKind>;

/** What a job is about; its number is that of the thing. */
export const subjectKind = z.enum([
  'message',
  'image',
  'project',
  'order',
  'account',
  'local-model',
]);
export type SubjectKind = z.output<typeof subjectKind>;

/** Waiting for a worker, being worked on, or how it ended. */
export const jobState = z.enum(['queued', 'running', 'done', 'error', 'cancelled']);
export type JobState = z.output<typeof jobState>;

export const job = z.object({
  /** The `request_id` of the call that made it. */
  uuid: z.string(),
  kind: jobKind,
  state: jobState,
  /** 0 to 1. */
  progress: z.number(),
  /** How many wait before it; 0 once it runs. */
  position: z.int(),
  /** Seconds until its end as far as can be told; null: not known. */
  remaining: z.nullable(z.int()),
  /** What it is about: the words of the prompt. */
  title: z.string(),
  model: z.string(),
  /** Which service works on it or did; empty before. */
  engine: z.string(),
  subject_kind: subjectKind,
  subject_id: z.int(),
  /** Empty and 0 where it is not about a message. */
  session_uuid: z.string(),
  history_id: z.int(),
  /** Of contract/errors.ts, 0 when nothing failed; and what to tell people. */
  error_code: z.int(),
  error_message: z.string(),
  /** Tokens: what it took, or while it has not ended what is held for it. */
  deduct_tokens: z.int(),
  /** Tokens that were set aside for it: what the same once more takes at most. */
  held_tokens: z.int(),
  created_at: time,
  finished_at: z.nullable(time),
  /**
   * A service has it that takes nothing back: its stop leaves undone what was not sent yet, and what
   * was sent is delivered when it comes and paid.
   */
  sent: z.boolean(),
  /** Its person stopped it. */
  stopping: z.boolean(),
  /** In the list: the first image that it made and that is still there. */
  image: z.optional(z.string()),
  /** In the list: its words were to be translated first, which is paid for beside it. */
  translates: z.optional(z.boolean()),
});
export type Job = z.output<typeof job>;

/** How a job stands now. The image as it looks so far is a data URL, empty: nothing to see yet. */
export const jobEvent = z.object({ job, current_image: z.string() });
export type JobEvent = z.output<typeof jobEvent>;

export const jobCalls = {
  jobList: call({
    method: 'GET',
    path: '/api/job_list',
    access: 'guest',
    summary: '自己的任务，新的在前',
    input: z.object({
      page,
      /** 1: only those that have not ended. */
      running: z._default(flag, 0),
    }),
    output: z.object({ ...listOf(job), running: z.int() }),
  }),
  cancelJob: call({
    method: 'POST',
    path: '/api/cancel_job',
    access: 'guest',
    summary:
      '停止一个任务；预扣的 token 退回。已经发给服务、服务又不肯退回的（任务的 sent）会做完交给您，照常付费，cancelled 为 false',
    input: z.object({ request_id: requestId }),
    output: z.object({ cancelled: z.boolean() }),
  }),
  jobEvents: stream({
    method: 'GET',
    path: '/api/job_events',
    access: 'guest',
    summary: '自己的任务的变化：先是还没有结束的各一条，然后每次变化一条',
    input: z.object({ ticket: z.optional(text(100)) }),
    output: jobEvent,
  }),
};
