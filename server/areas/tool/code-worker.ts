import { parentPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  shouldInterruptAfterDeadline,
} from 'quickjs-emscripten-core';
import type { CodeAnswer, CodeTask } from './run-code.ts';

/** Runs one program and says what it printed; whoever started this ends it. */

const most = 20_000;

/** How a value is shown; it runs inside, where it can do no harm. */
const shower = `(value) => {
  if (typeof value === 'string') return value;
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (value instanceof Error) return String(value);
  try { return JSON.stringify(value, (_, v) => typeof v === 'bigint' ? v + 'n' : v) ?? String(value); }
  catch { return String(value); }
}`;

const run = async ({ code, seconds, memory }: CodeTask): Promise<CodeAnswer> => {
  const engine = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = engine.newRuntime();
  runtime.setMemoryLimit(memory);
  runtime.setMaxStackSize(1024 * 1024);
  runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + seconds * 1000));
  const context = runtime.newContext();
  let printed = '';
  const print = context.newFunction('print', (...words) => {
    if (printed.length >= most) return;
    printed += `${words.map((word) => context.getString(word)).join(' ')}\n`;
  });
  context.setProp(context.global, '__print', print);
  const prepared = context.evalCode(
    `globalThis.__show = ${shower};
     globalThis.console = {};
     for (const name of ['log', 'info', 'warn', 'error', 'debug'])
       console[name] = ((show, print) => (...given) => print(...given.map(show)))(__show, __print);
     delete globalThis.__print;`,
  );
  context.unwrapResult(prepared).dispose();
  const ran = context.evalCode(code, 'code.js', { type: 'global' });
  const jobs = runtime.executePendingJobs(10_000);
  const problem = ran.error ?? jobs.error;
  if (problem) {
    const told = context.dump(problem) as { name?: string; message?: string } | string;
    const words =
      typeof told === 'object' ? `${told.name ?? 'Error'}: ${told.message ?? ''}` : told;
    const why = words.includes('interrupted')
      ? `代码运行超过了 ${seconds} 秒，已停下`
      : words.includes('out of memory')
        ? '代码用的内存超过了上限，已停下'
        : `代码出错了：${words.slice(0, 1000)}`;
    return { refused: printed === '' ? why : `${why}\n此前的输出：\n${printed.slice(0, 4000)}` };
  }
  const last = context.unwrapResult(ran);
  const show = context.getProp(context.global, '__show');
  const shown =
    context.typeof(last) === 'undefined'
      ? ''
      : context.getString(
          context.unwrapResult(context.callFunction(show, context.undefined, last)),
        );
  const text = `${printed}${shown}`.slice(0, most).trim();
  return { text: text === '' ? '（没有输出）' : text };
};

try {
  parentPort?.postMessage(await run(workerData as CodeTask), []);
} catch (error) {
  const told: CodeAnswer = { refused: `代码没有运行成：${String(error).slice(0, 300)}` };
  parentPort?.postMessage(told, []);
}
