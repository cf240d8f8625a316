import type { Job } from '#contract/job.ts';
import { expect, test } from 'vitest';
import { stopWords } from './job-stop.ts';

const job = (more: Partial<Job>) =>
  ({ kind: 'image', state: 'running', progress: 0, held_tokens: 500, sent: false, ...more }) as Job;

test('the button that stops a job says what stopping costs', () => {
  expect(stopWords(job({}))).toEqual({ label: '取消', sure: '' });
  expect(stopWords(job({ sent: true }))).toMatchObject({
    label: '停止（已发出，仍需付费）',
    sure: expect.stringContaining('500 tokens'),
  });
  expect(stopWords(job({ sent: true, held_tokens: 0 })).label).toBe('停止（已发出）');
  expect(stopWords(job({ kind: 'lora', progress: 0.4 }))).toMatchObject({
    label: '停止（练了的仍需付费）',
    sure: expect.stringContaining('40%'),
  });
});
