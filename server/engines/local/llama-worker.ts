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

const open = async (file: string) => {
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
  return { LlamaChatSession, model: await llama.loadModel({ modelPath: file }) };
};

const load = async (file: string, context: number) => {
  const { LlamaChatSession, model } = await open(file);
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

/** Tokens of a text that are read at once; a longer one is read in parts. */
const window = 1024;
/** Parts of one text that are read. */
const mostParts = 8;
/** A question with a text, tokens. */
const pair = 1536;

const openForVectors = async (file: string) => {
  const { model } = await open(file);
  const size = Math.min(window, model.trainContextSize);
  const context = await model.createEmbeddingContext({
    contextSize: { max: size },
    batchSize: size,
    threads,
  });
  // The model puts up to two of its own around a text, and one stays free.
  return { model, context, room: size - 4 };
};

const openForRanks = async (file: string) => {
  const { model } = await open(file);
  const size = Math.min(pair, model.trainContextSize);
  const context = await model.createRankingContext({
    contextSize: { max: size },
    batchSize: size,
    threads,
  });
  return { model, context };
};

let vectors: ReturnType<typeof openForVectors> | null = null;
let ranks: ReturnType<typeof openForRanks> | null = null;

/** Of length 1. */
const unit = (vector: readonly number[]): number[] => {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
};

const embed = async ({ file, texts }: LlamaOrder & { kind: 'embed' }): Promise<void> => {
  vectors ??= openForVectors(file);
  const { model, context, room } = await vectors;
  const made: string[] = [];
  let tokens = 0;
  for (const text of texts) {
    if (stop.signal.aborted) return tell({ kind: 'vectors', vectors: [], tokens: 0 });
    const read = model.tokenize(text === '' ? ' ' : text);
    tokens += read.length;
    let sum: number[] = [];
    for (let at = 0, parts = 0; at < Math.max(1, read.length) && parts < mostParts; parts += 1) {
      const part = read.slice(at, at + room);
      const { vector } = await context.getEmbeddingFor(part);
      const one = unit(vector);
      sum = sum.length === 0 ? one : sum.map((value, index) => value + (one[index] ?? 0));
      at += room;
    }
    made.push(Buffer.from(Float32Array.from(unit(sum)).buffer).toString('base64'));
  }
  tell({ kind: 'vectors', vectors: made, tokens });
};

const rank = async ({ file, question, texts }: LlamaOrder & { kind: 'rank' }): Promise<void> => {
  ranks ??= openForRanks(file);
  const { model, context } = await ranks;
  const asked = model.tokenize(question).slice(0, Math.floor(context.contextSize / 4));
  const scores: number[] = [];
  for (const text of texts) {
    if (stop.signal.aborted) return tell({ kind: 'scores', scores: [] });
    const read = model.tokenize(text);
    scores.push(await context.rank(asked, read, { onOverflow: 'maxChunk' }));
  }
  tell({ kind: 'scores', scores });
};

const work = { write, embed, rank };

process.on('disconnect', () => process.exit(0));
process.on('message', (order: LlamaOrder) => {
  if (order.kind === 'stop') {
    stop.abort();
    return;
  }
  stop = new AbortController();
  (work[order.kind] as (order: LlamaOrder) => Promise<void>)(order).catch((error: unknown) =>
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
