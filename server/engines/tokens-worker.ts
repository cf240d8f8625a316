import { parentPort } from 'node:worker_threads';
import { countTokens } from './tokens.ts';

parentPort?.on('message', (task: { id: number; texts: readonly string[]; model: string }) => {
  const { id, texts, model } = task;
  parentPort?.postMessage({ id, counts: texts.map((text) => countTokens(text, model)) }, []);
});
