import type { Executor } from '#server/db/database.ts';
import type { Reading } from '#server/search/question.ts';
import { startTaskThread, type TaskThread } from '#server/task-thread.ts';
import { workerUrl } from '#server/worker-url.ts';
import type { FromKnowledge, ToKnowledge } from './knowledge-task.ts';
import type { Found, IndexedFile } from './passage-index.ts';
import * as store from './embedding.store.ts';

/** How long the thread keeps its passages without being asked, ms. */
const idleMs = 10 * 60_000;
/** Passages that are read from the database at once. */
const batch = 1000;

interface Waiting {
  resolve: (said: FromKnowledge) => void;
  reject: (error: Error) => void;
}
type Wanted<K> = K extends unknown ? Omit<K, 'id'> : never;

let thread: TaskThread<Waiting> | null = null;
/** What each base in the thread was read up to. */
const revisions = new Map<number, { revision: number; model: string | null }>();
/** Reading of a base that is going on. */
const reading = new Map<number, Promise<unknown>>();

const started = (): TaskThread<Waiting> => {
  thread ??= startTaskThread<Waiting, FromKnowledge>({
    url: workerUrl('./knowledge-worker.ts', import.meta.url),
    idleMs,
    onMessage: (said, own) => {
      const waiting = own.take(said.id);
      if (said.kind === 'failed') waiting?.reject(new Error(said.message));
      else waiting?.resolve(said);
    },
    onEnd: (left, own) => {
      if (thread === own) {
        thread = null;
        revisions.clear();
      }
      for (const { reject } of left) reject(new Error('the index is gone'));
    },
  });
  return thread;
};

const ask = (task: Wanted<ToKnowledge>): Promise<FromKnowledge> =>
  new Promise((resolve, reject) => {
    const own = started();
    own.post({ ...task, id: own.add({ resolve, reject }) });
  });

type Row = Awaited<ReturnType<typeof store.chunksOfFiles>>[number];

/** Passages of a file that has many, a batch at a time. */
async function* batchesOfFile(db: Executor, fileId: number): AsyncGenerator<Row[]> {
  let after = -1;
  for (;;) {
    const rows = await store.chunksOfFiles(db, [fileId], { after, most: batch });
    yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < batch) return;
    after = last.seq;
  }
}

/** Passages of the files, a batch at a time: short files together, a long one in parts. */
async function* batchesOf(
  db: Executor,
  files: readonly { id: number; passages: number }[],
): AsyncGenerator<Row[]> {
  let together: number[] = [];
  let passages = 0;
  for (const file of files) {
    if (file.passages > batch) {
      yield* batchesOfFile(db, file.id);
      continue;
    }
    if (passages + file.passages > batch) {
      yield await store.chunksOfFiles(db, together);
      together = [];
      passages = 0;
    }
    together.push(file.id);
    passages += file.passages;
  }
  if (together.length > 0) yield await store.chunksOfFiles(db, together);
}

/** Of one file all passages were embedded in one way, but for one that changed in between. */
const indexedFiles = (rows: readonly Row[], marks: ReadonlyMap<number, number>): IndexedFile[] => {
  const same = new Map<string, Row[]>();
  for (const row of rows) {
    const key = `${row.fileId} ${row.model ?? ''}`;
    const own = same.get(key);
    if (own) own.push(row);
    else same.set(key, [row]);
  }
  return [...same.values()].map((own) => ({
    mark: marks.get(own[0]!.fileId) ?? 0,
    ids: own.map((row) => row.id),
    headings: own.map((row) => row.heading),
    texts: own.map((row) => row.content),
    vectors: new Uint8Array(Buffer.concat(own.map((row) => row.vector))),
    model: own[0]!.model,
  }));
};

/** Brings the thread's passages of a base to what the rows say. */
const bring = async (db: Executor, base: number): Promise<string | null> => {
  const told = await ask({ kind: 'files', base });
  if (told.kind !== 'files') throw new Error('the index did not tell its files');
  let { model } = told;
  const there = await store.filesWithChunks(db, base);
  const known = new Set(told.files);
  const marks = new Map(there.map(({ id, mark }) => [id, mark]));
  const wanted = new Set(marks.values());
  const gone = told.files.filter((mark) => !wanted.has(mark));
  if (gone.length > 0) await ask({ kind: 'drop', base, files: gone });
  /** The thread takes passages in while the next ones are read. */
  let taking: Promise<unknown> = Promise.resolve();
  const take = async (files: IndexedFile[]) => {
    const said = await ask({ kind: 'add', base, files });
    if (said.kind === 'done') ({ model } = said);
  };
  const missing = there.filter(({ mark }) => !known.has(mark));
  for await (const rows of batchesOf(db, missing)) {
    await taking;
    taking = take(indexedFiles(rows, marks));
    // What is wrong with it is told where it is waited for.
    taking.catch(() => undefined);
  }
  await taking;
  return model;
};

/**
 * Makes ready to search a base as it stands at this revision; gives the model that most of its
 * passages were embedded with, null where none has a vector.
 */
export const ready = async (
  db: Executor,
  base: { id: number; revision: number },
): Promise<string | null> => {
  while (reading.has(base.id)) await reading.get(base.id)?.catch(() => undefined);
  const known = revisions.get(base.id);
  if (known && known.revision >= base.revision && thread) return known.model;
  const work = bring(db, base.id);
  reading.set(base.id, work);
  try {
    const model = await work;
    revisions.set(base.id, { revision: base.revision, model });
    return model;
  } finally {
    reading.delete(base.id);
  }
};

/** The best passages of a base that was made ready. */
export const search = async (
  base: number,
  question: string,
  vector: { bytes: Uint8Array; model: string } | null,
): Promise<Found & { readings: Reading[] }> => {
  const said = await ask({ kind: 'search', base, question, vector });
  if (said.kind !== 'found') throw new Error('the index did not search');
  return { ...said.found, readings: said.readings };
};

/** Ends the thread: what it read belongs to the database of a server that ends. */
export const closeIndexes = (): void => thread?.end();

/** How a text is said, as pinyin; the thread has the dictionary for it. */
export const soundOf = async (text: string): Promise<string> => {
  const said = await ask({ kind: 'sound', text });
  if (said.kind !== 'sound') throw new Error('the index did not say it');
  return said.text;
};
