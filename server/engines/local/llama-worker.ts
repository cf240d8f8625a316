import { availableParallelism } from 'node:os';
import { loadOptional } from '#server/optional-packages.ts';
import type { LlamaAnswer, LlamaOrder } from './llama-process.ts';

/**
 * A process that holds one language model of this machine and writes with it, one reply at a time.
 * It ends with the process that started it.
 */

/**
 * Its threads wait for each other without sleeping: more of them than there are free processors
 * write a hundred times slower than one.
 */
const threads = Math.max(1, availableParallelism() - 1);

const tell = (answer: LlamaAnswer): void => {
  process.send?.(answer);
};

const load = async (file: string, context: number) => {
  // The package tries its binary in a process of its own, which must not run what this one does.
  process.execArgv = [];
  const { getLlama, LlamaChatSession } = await loadOptional('node-llama-cpp');
  const llama = await getLlama({
    build: 'never',
    gpu: false,
    progressLogs: false,
    skipDownload: true,
    logLevel: 'error',
    maxThreads: threads,
  });
  const model = await llama.loadModel({ modelPath: file });
  const size = Math.min(context, model.trainContextSize);
  const { getSequence } = await model
    .createContext({ contextSize: { max: size }, sequences: 1, threads })
    .then((made) => ({ getSequence: () => made.getSequence() }));
  return { sequence: getSequence(), LlamaChatSession };
};

let loaded: ReturnType<typeof load> | null = null;
let stop = new AbortController();

const write = async (order: LlamaOrder & { kind: 'write' }): Promise<void> => {
  loaded ??= load(order.file, order.context);
  const { sequence, LlamaChatSession } = await loaded;
  if (stop.signal.aborted) return;
  const session = new LlamaChatSession({ contextSequence: sequence });
  const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter;
  try {
    session.setChatHistory(
      order.messages.map(({ role, text }) =>
        role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text },
      ),
    );
    await session.prompt(order.prompt, {
      signal: stop.signal,
      stopOnAbortSignal: true,
      temperature: order.temperature,
      maxTokens: order.maxTokens,
      onResponseChunk: ({ type, text: written }) => {
        // No database keeps such a letter, and small models write it now and then.
        const text = written.replaceAll('\0', '');
        if (text !== '') tell({ kind: type === 'segment' ? 'reasoning' : 'text', text });
      },
    });
  } finally {
    session.dispose({ disposeSequence: false });
  }
  const used = sequence.tokenMeter;
  tell({
    kind: 'done',
    promptTokens: used.usedInputTokens - usedInputTokens,
    completionTokens: used.usedOutputTokens - usedOutputTokens,
  });
};

process.on('disconnect', () => process.exit(0));
process.on('message', (order: LlamaOrder) => {
  if (order.kind === 'stop') {
    stop.abort();
    return;
  }
  stop = new AbortController();
  write(order).catch((error: unknown) =>
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
