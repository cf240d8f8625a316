import { parentPort } from 'node:worker_threads';
import { saidAs } from '#server/search/glosses.ts';
import { readingsOf } from '#server/search/question.ts';
import type { FromKnowledge, ToKnowledge } from './knowledge-task.ts';
import { PassageIndex, questionBytes } from './passage-index.ts';

/** Holds the passages of knowledge bases that were asked lately, so that nothing else waits for them. */

/** Passages of all bases together; beyond these the one that was not asked for longest goes. */
const mostPassages = 1_200_000;

interface Base {
  index: PassageIndex;
  files: Set<number>;
}
const bases = new Map<number, Base>();

const baseOf = (id: number): Base => {
  const known = bases.get(id) ?? { index: new PassageIndex(), files: new Set<number>() };
  // The last one in a map is the one that was asked last.
  bases.delete(id);
  bases.set(id, known);
  return known;
};

const makeRoom = (): void => {
  let all = [...bases.values()].reduce((sum, { index }) => sum + index.size, 0);
  for (const [id, { index }] of bases) {
    if (all <= mostPassages || bases.size === 1) return;
    all -= index.size;
    bases.delete(id);
  }
};

const answer = (task: ToKnowledge): FromKnowledge => {
  const { id, kind } = task;
  if (kind === 'sound') return { kind, id, text: saidAs(task.text) };
  const base = baseOf(task.base);
  if (kind === 'files') {
    if (base.index.stale) {
      bases.delete(task.base);
      return { kind, id, files: [], model: null };
    }
    return { kind, id, files: [...base.files], model: base.index.model };
  }
  if (kind === 'add') {
    for (const file of task.files) {
      base.index.add(file);
      base.files.add(file.mark);
    }
    makeRoom();
    return { kind: 'done', id, model: base.index.model };
  }
  if (kind === 'drop') {
    for (const file of task.files) {
      base.index.drop(file);
      base.files.delete(file);
    }
    return { kind: 'done', id, model: base.index.model };
  }
  const { vector } = task;
  const numbers = vector && {
    numbers: questionBytes(vector.bytes),
    model: vector.model,
  };
  const readings = readingsOf(task.question, base.index.holds);
  return { kind: 'found', id, readings, found: base.index.search(readings, numbers) };
};

parentPort?.on('message', (task: ToKnowledge) => {
  let said: FromKnowledge;
  try {
    said = answer(task);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown';
    said = { kind: 'failed', id: task.id, message };
  }
  parentPort?.postMessage(said, []);
});
