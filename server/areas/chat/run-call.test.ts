import { expect, test } from 'vitest';
import type { StoredTool } from '#contract/tool.ts';
import { SignInWanted, ToolFailure, type ToolResult } from '../tool/tool.ts';
import { runCall } from './run-call.ts';

const call: StoredTool = {
  id: '0-0',
  name: 'wait',
  label: '等一等',
  arguments: '{}',
  state: 'running',
  result: '',
  at: 0,
  ms: 0,
  ask: '',
  round: 0,
  callId: 'c',
  own: false,
};

const ran = async (
  run: (signal: AbortSignal) => Promise<ToolResult> | ToolResult,
  { seconds = 60, signal = new AbortController().signal } = {},
) => {
  const faults: unknown[] = [];
  const log = { error: (fault: unknown) => void faults.push(fault) };
  const told = await runCall(call, { seconds }, { run, signal, log });
  return { ...told, faults: faults.length };
};
const never = () => new Promise<never>(() => {});

test('a tool that heeds no deadline is ended by it, and told to stop', async () => {
  let told: AbortSignal | undefined;
  const late = await ran(
    (signal) => {
      told = signal;
      return never();
    },
    { seconds: 0.05 },
  );
  expect(late).toEqual({
    ended: { ...call, state: 'failed', result: '超过了 0.05 秒，没有等到结果' },
    faults: 0,
  });
  expect(told?.aborted).toBe(true);
});

test('what was stopped, refused, or broke says so; only what broke is a fault', async () => {
  const stop = new AbortController();
  const stopped = ran(never, { signal: stop.signal });
  stop.abort();
  expect(await stopped).toMatchObject({ ended: { state: 'stopped' }, faults: 0 });
  const fails = (error: Error) =>
    ran(() => {
      throw error;
    });
  expect(await fails(new ToolFailure('没有这个网页'))).toMatchObject({
    ended: { state: 'failed', result: '没有这个网页' },
    faults: 0,
  });
  expect(await fails(new SignInWanted(7, '请登录'))).toMatchObject({
    ended: { state: 'asking', sign_in: 7 },
    faults: 0,
  });
  expect(await fails(new Error('disk'))).toMatchObject({
    ended: { state: 'failed', result: '工具出错了' },
    faults: 1,
  });
  expect(await ran(() => ({ text: '好' }))).toEqual({ found: { text: '好' }, faults: 0 });
});
