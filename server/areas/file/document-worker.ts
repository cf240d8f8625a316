import { parentPort, workerData } from 'node:worker_threads';
import { Unwanted } from '#server/reading/block.ts';
import { readFile } from '#server/reading/read.ts';
import { textOf } from '#server/reading/text-of.ts';
import type { DocumentAnswer, DocumentTask } from './document.ts';

/** Reads one document and says what is in it; whoever started this ends it. */

const read = async ({ kind, data, most, seen }: DocumentTask): Promise<DocumentAnswer> => {
  try {
    const { blocks, cut, pictures } = await readFile(kind, data, most);
    const all = seen
      ? [...blocks, ...seen].sort((one, other) => (one.place.page ?? 0) - (other.place.page ?? 0))
      : blocks;
    return { text: textOf(all), cut, pictures };
  } catch (error) {
    // Whatever else is wrong with it, it cannot be read.
    return { refused: error instanceof Unwanted ? error.message : '文件已损坏、已加密或无法读取' };
  }
};

parentPort?.postMessage(await read(workerData as DocumentTask), []);
