import { parentPort } from 'node:worker_threads';
import type { Grey } from './grey.ts';
import { lineReader } from './networks.ts';
import { readLine } from './read-line.ts';

/** Reads lines, one after the other. It loads what it needs before the first one comes. */
const reader = lineReader();

parentPort?.on('message', (line: Grey) => {
  void reader
    .then((network) => readLine(line, network))
    .then((read) => parentPort?.postMessage(read, []));
});
