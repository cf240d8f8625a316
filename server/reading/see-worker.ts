import { parentPort } from 'node:worker_threads';
import { PackageMissing } from '../optional-packages.ts';
import { pageBlocks, pageLines } from './layout.ts';
import type { SeenPage, SeeTask } from './see-pages.ts';
import { beginLooking, lookedAt, readOn } from './seeing/see.ts';

/** Reads what pictures show, one after the other; whoever started this ends it. */

/** What all threads of this process took of the processor, s. */
const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const answerTo = async (task: SeeTask): Promise<SeenPage> => {
  const { page, bounds } = task;
  const begun = processorTime();
  try {
    const { mark, looking } =
      'looking' in task ? task : await beginLooking(task.data, page, (mark) => mark in task.known);
    if (!looking) return { mark };
    const before = looking.spent;
    const isOver = () => {
      const spent = processorTime() - begun;
      return spent > bounds.turn || before + spent > bounds.all;
    };
    await readOn(looking, isOver);
    looking.spent = before + processorTime() - begun;
    const cut = looking.lines.some(({ text }) => text === null);
    if (cut && looking.spent < bounds.all) return { mark, looking };
    const { pieces, angle, ...size } = lookedAt(looking);
    const lines = pageLines(pieces, size);
    const blocks = pageBlocks([pieces], page ?? 1);
    return {
      // A picture has no pages.
      blocks: page === null ? blocks.map((block) => ({ ...block, place: {} })) : blocks,
      looks: { page: page ?? 0, angle, lines },
      cut,
      mark,
    };
  } catch (error) {
    return { missing: error instanceof PackageMissing };
  }
};

parentPort?.on('message', (task: SeeTask) => {
  void answerTo(task).then((answer) => parentPort?.postMessage(answer, []));
});
