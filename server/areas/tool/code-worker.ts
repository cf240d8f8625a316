import { parentPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import { ChartError } from './chart-svg.ts';
import { createLeavings } from './code-files.ts';
import { runPython } from './code-python.ts';
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

const runJavaScript = async ({ code, seconds, memory, files }: CodeTask): Promise<CodeAnswer> => {
  const engine = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = engine.newRuntime();
  runtime.setMemoryLimit(memory);
  runtime.setMaxStackSize(1024 * 1024);
  // The process is this program's alone.
  const begun = process.cpuUsage();
  runtime.setInterruptHandler(() => {
    const { user, system } = process.cpuUsage(begun);
    return user + system > seconds * 1e6;
  });
  const context = runtime.newContext();
  let printed = '';
  const print = context.newFunction('print', (...words) => {
    if (printed.length >= most) return;
    printed += `${words.map((word) => context.getString(word)).join(' ')}\n`;
  });
  context.setProp(context.global, '__print', print);
  const leavings = createLeavings();
  /** Gives what is wrong, which is thrown within. */
  const outside: Record<string, (...words: string[]) => string | undefined | void> = {
    __write: (name: string, text: string) => leavings.keep(name, Buffer.from(text)),
    __read: (name: string) => {
      const found = files.find((each) => each.name === name);
      return found ? Buffer.from(found.data).toString() : undefined;
    },
    __chart: (json: string) => {
      try {
        leavings.chart(json);
      } catch (error) {
        if (error instanceof ChartError) return error.message;
        throw error;
      }
      return undefined;
    },
  };
  for (const [name, act] of Object.entries(outside)) {
    const made = context.newFunction(name, (...given) => {
      const told = act(...given.map((each) => context.getString(each)));
      return typeof told === 'string' ? context.newString(told) : context.undefined;
    });
    context.setProp(context.global, name, made);
  }
  const prepared = context.evalCode(
    `globalThis.__show = ${shower};
     globalThis.console = {};
     for (const name of ['log', 'info', 'warn', 'error', 'debug'])
       console[name] = ((show, print) => (...given) => print(...given.map(show)))(__show, __print);
     ((write, read, draw) => {
       globalThis.writeFile = (name, text) => { write(String(name), typeof text === 'string' ? text : __show(text)); };
       globalThis.readFile = (name) => {
         const text = read(String(name));
         if (text === undefined) throw new Error('没有文件 ' + name);
         return text;
       };
       globalThis.chart = (given) => {
         const wrong = draw(JSON.stringify(given) ?? 'null');
         if (wrong !== undefined) throw new Error(wrong);
       };
     })(__write, __read, __chart);
     for (const name of ['__print', '__write', '__read', '__chart']) delete globalThis[name];`,
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
  return leavings.end(`${printed}${shown}`.slice(0, most));
};

try {
  const task = workerData as CodeTask;
  const run = task.language === 'python' ? runPython : runJavaScript;
  parentPort?.postMessage(await run(task), []);
} catch (error) {
  const told: CodeAnswer = { refused: `代码没有运行成：${String(error).slice(0, 300)}` };
  parentPort?.postMessage(told, []);
}
