import type { Job } from '#contract/job.ts';
import { expect, test } from 'vitest';
import { progressText } from './job-text.ts';

const job = (more: Partial<Job>): Job => ({
  uuid: 'a',
  kind: 'image',
  state: 'running',
  progress: 0,
  position: 0,
  remaining: null,
  title: '',
  model: 'm',
  engine: 'e',
  subject_kind: 'message',
  subject_id: 1,
  session_uuid: '',
  history_id: 1,
  error_code: 0,
  error_message: '',
  deduct_tokens: 0,
  held_tokens: 0,
  sent: false,
  stopping: false,
  created_at: '',
  finished_at: null,
  ...more,
});

test('progress is told as far as it is known, and never as done before it is', () => {
  expect(progressText(job({}))).toBe('正在画');
  expect(progressText(job({ progress: 0.14, remaining: 60 }))).toBe('正在画 14% · 约 1 分钟');
  expect(progressText(job({ progress: 0.5, remaining: 12 }))).toBe('正在画 50% · 约 12 秒');
  expect(progressText(job({ progress: 0.999, remaining: 0 }))).toBe('正在画 99%');
  expect(progressText(job({ progress: 1 }))).toBe('正在画 99%');
  expect(progressText(job({ state: 'queued', position: 2, remaining: 90 }))).toBe(
    '排队中，前面还有 2 个 · 约 2 分钟',
  );
  expect(progressText(job({ state: 'queued' }))).toBe('排队中，轮到就开始');
});
