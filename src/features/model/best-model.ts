import type { LocalModel } from '#contract/local-model.ts';

/** Bytes of a model that a processor reads often enough in a second to write as fast as one reads. */
const perProcessor = 400_000_000;

/** The key of the model to begin with on a machine: the largest that answers well there; else the smallest. */
export const bestModel = (
  list: readonly Pick<LocalModel, 'key' | 'kind' | 'size' | 'memory'>[],
  machine: { memory: number; processors: number },
): string | undefined => {
  const chats = list
    .filter(({ kind, memory }) => kind === 'chat' && memory > 0)
    .sort((a, b) => a.size - b.size);
  const best = chats.findLast(
    ({ size, memory }) => memory <= machine.memory / 2 && size <= machine.processors * perProcessor,
  );
  return (best ?? chats[0])?.key;
};
