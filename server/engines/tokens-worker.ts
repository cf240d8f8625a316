import { parentPort } from 'node:worker_threads';
import { countTokens } from './tokens.ts';

parentPort?.on('message', ({ id, texts }: { id: number; texts: readonly string[] }) => {
  parentPort?.postMessage({ id, counts: texts.map(countTokens) }, []);
});
