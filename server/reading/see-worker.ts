import { parentPort } from 'node:worker_threads';
import { PackageMissing } from '../optional-packages.ts';
import { pageBlocks } from './layout.ts';
import type { SeenPage, SeeTask } from './see-pages.ts';
import { see } from './seeing/see.ts';

/** Reads what pictures show, one after the other; whoever started this ends it. */

const answerTo = async ({ data, page }: SeeTask): Promise<SeenPage> => {
  try {
    const blocks = pageBlocks([await see(data, page)], page ?? 1);
    // A picture has no pages.
    return { blocks: page === null ? blocks.map((block) => ({ ...block, place: {} })) : blocks };
  } catch (error) {
    return { missing: error instanceof PackageMissing };
  }
};

parentPort?.on('message', (task: SeeTask) => {
  void answerTo(task).then((answer) => parentPort?.postMessage(answer, []));
});
