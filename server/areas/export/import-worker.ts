import { parentPort, workerData } from 'node:worker_threads';
import { runImport } from './import-run.ts';

/** Reads one import; whoever started this ends it. */

const port = parentPort;
if (!port) throw new Error('this runs in a thread alone');
const { text, now } = workerData as { text: string; now: number };
runImport(text, now, (message) => port.postMessage(message, []));
