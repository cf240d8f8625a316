import { parentPort } from 'node:worker_threads';
import { PackageMissing } from '../optional-packages.ts';
import { pageBlocks, pageLines } from './layout.ts';
import type { SeenPage, SeeTask } from './see-pages.ts';
import { see } from './seeing/see.ts';

/** Reads what pictures show, one after the other; whoever started this ends it. */

const answerTo = async ({ data, page }: SeeTask): Promise<SeenPage> => {
  try {
    const { pieces, angle, ...size } = await see(data, page);
    const lines = pageLines(pieces, size);
    const blocks = pageBlocks([pieces], page ?? 1);
    return {
      // A picture has no pages.
      blocks: page === null ? blocks.map((block) => ({ ...block, place: {} })) : blocks,
      looks: { page: page ?? 0, angle, lines },
    };
  } catch (error) {
    return { missing: error instanceof PackageMissing };
  }
};

parentPort?.on('message', (task: SeeTask) => {
  void answerTo(task).then((answer) => parentPort?.postMessage(answer, []));
});
