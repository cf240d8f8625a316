import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chunksOf } from '#server/areas/embedding/chunk.ts';
import { PassageIndex, questionBytes } from '#server/areas/embedding/passage-index.ts';
import { chanceOf } from '#packages/canvas/chance.ts';
import { builtInDimensions, gramVector } from '#server/engines/embedding/built-in-embedding.ts';
import { readingsOf } from '#server/search/question.ts';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { quantile } from './lib/measure.ts';

/**
 * Knowledge bases at their size. `index`: questions to 1,000,000 passages in memory, p50 and p95 in
 * ms of the processor with recall@10 of the nearest beside the floor, which is to compare every vector. `base`: 100 MB
 * of text learned by a server with the built-in engine, beside the floor, which is to cut and embed
 * the same text in one thread; and what other requests take alone and meanwhile.
 *
 * npx tsx tests/load/knowledge.ts [--part index|base] [--passages 1000000] [--letters 120]
 *   [--rounds 60] [--megabytes 100]
 */
const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'index' },
    passages: { type: 'string', default: '1000000' },
    letters: { type: 'string', default: '120' },
    rounds: { type: 'string', default: '60' },
    megabytes: { type: 'string', default: '100' },
  },
});
const rounds = Number(values.rounds);
const megabyte = 1024 * 1024;

const random = chanceOf(11);
const han = Array.from({ length: 3500 }, (_, at) => String.fromCodePoint(0x4e00 + at * 5));
/** Words as language has them: a few are everywhere, most are rare. */
const vocabulary = Array.from({ length: 30_000 }, () => random.pick(han) + random.pick(han));
const word = (): string => vocabulary[Math.floor(random.next() ** 4 * vocabulary.length)] ?? '';
const topics = Array.from({ length: 4000 }, () => Array.from({ length: 12 }, word));
const passage = (at: number, letters: number): string => {
  const topic = topics[at % topics.length] ?? [];
  let text = '';
  while (text.length < letters)
    text += `${random.is(0.3) ? random.pick(topic) : word()}${random.is(0.12) ? '，' : ''}`;
  return `${text}。`;
};

const told = (name: string, took: readonly number[]): string =>
  `${name}: p50 ${quantile(took, 0.5).toFixed(1)} ms, p95 ${quantile(took, 0.95).toFixed(1)} ms`;

/** The processor's time, which the rest of the machine touches less than the clock. */
const timed = <T>(took: number[], act: () => T): T => {
  const from = process.cpuUsage();
  const made = act();
  const { user, system } = process.cpuUsage(from);
  took.push((user + system) / 1000);
  return made;
};

const measureIndex = (): void => {
  const count = Number(values.passages);
  const letters = Number(values.letters);
  const index = new PassageIndex();
  const asked: string[] = [];
  const all = new Int8Array(count * builtInDimensions);
  const begun = performance.now();
  let adding = 0;
  for (let from = 0; from < count; from += 1000) {
    const texts = Array.from({ length: Math.min(1000, count - from) }, (_, at) =>
      passage(from + at, letters),
    );
    const vectors = new Float32Array(texts.length * builtInDimensions);
    for (const [at, text] of texts.entries()) {
      const vector = gramVector(text);
      vectors.set(vector, at * builtInDimensions);
      all.set(vector, (from + at) * builtInDimensions);
    }
    const step = Math.max(1, Math.floor(count / 1000 / rounds));
    if ((from / 1000) % step === 0) asked.push((texts[500] ?? texts[0] ?? '').slice(20, 44));
    const before = performance.now();
    index.add({
      mark: from,
      ids: texts.map((_, at) => from + at),
      headings: texts.map(() => ''),
      texts,
      vectors: new Uint8Array(vectors.buffer),
      model: 'grams',
    });
    adding += performance.now() - before;
  }
  const { rss, heapUsed } = process.memoryUsage();
  console.log(
    `${count} passages of ${letters} letters in ${((performance.now() - begun) / 1000).toFixed(0)} s, ` +
      `${(adding / 1000).toFixed(0)} s of it to take them in; resident ${(rss / megabyte).toFixed(0)} MB, heap ${(heapUsed / megabyte).toFixed(0)} MB`,
  );
  const ask = (question: string, exact: boolean, words = true) =>
    index.search(
      words ? readingsOf(question) : [],
      {
        numbers: questionBytes(new Uint8Array(Float32Array.from(gramVector(question)).buffer)),
        model: 'grams',
      },
      { exact },
    );
  const nearest = (found: ReturnType<typeof ask>) =>
    found.candidates.filter(({ vectorRank }) => vectorRank > 0 && vectorRank <= 10);
  for (const question of asked.slice(0, 5)) ask(question, false);
  const took: Record<'ours' | 'words' | 'vectors' | 'exact' | 'floor', number[]> = {
    ours: [],
    words: [],
    vectors: [],
    exact: [],
    floor: [],
  };
  let same = 0;
  for (const question of asked) {
    timed(took.ours, () => ask(question, false));
    timed(took.words, () => index.search(readingsOf(question), null));
    const quick = timed(took.vectors, () => ask(question, false, false));
    const exact = timed(took.exact, () => ask(question, true, false));
    const known = new Set(nearest(quick).map(({ id }) => id));
    same += nearest(exact).filter(({ id }) => known.has(id)).length;
    const vector = gramVector(question);
    timed(took.floor, () => {
      let most = 0;
      for (let at = 0; at < all.length; at += builtInDimensions) {
        let sum = 0;
        for (let each = 0; each < builtInDimensions; each += 1)
          sum += (all[at + each] ?? 0) * (vector[each] ?? 0);
        if (sum > most) most = sum;
      }
      return most;
    });
  }
  for (const [name, each] of Object.entries(took)) console.log(told(name, each));
  console.log(
    `recall@10 ${(same / (asked.length * 10)).toFixed(3)} over ${asked.length} questions`,
  );
};

const measureBase = async (): Promise<void> => {
  const files: string[] = [];
  let text = '';
  let own = 0;
  let bytes = 0;
  const goal = Number(values.megabytes) * megabyte;
  for (let at = 0; bytes < goal; at += 1) {
    const paragraph = `${passage(at, 180)}\n\n`;
    const size = Buffer.byteLength(paragraph);
    if (own + size > 3.9 * megabyte) {
      files.push(text);
      text = '';
      own = 0;
    }
    text += paragraph;
    own += size;
    bytes += size;
  }
  files.push(text);
  const server = await startServer({ embedded: true, env: { UPLOAD_LIMIT: '10000' } });
  try {
    const person = await TestClient.register(server.baseURL);
    const other = await TestClient.register(server.baseURL);
    const others = async (took: number[], goesOn: () => boolean) => {
      while (goesOn()) {
        const from = performance.now();
        await other.call('sessionList', { channel: 'private' });
        await other.call('models', {});
        took.push(performance.now() - from);
        await sleep(40);
      }
    };
    const alone: number[] = [];
    const until = performance.now() + 10_000;
    await others(alone, () => performance.now() < until);

    const { model } = await person.call('newTrainModel', {
      name: '大',
      key: `large_${Date.now()}`,
      type: 0,
      settings: { chunk_size: 400 },
    });
    const begun = performance.now();
    let working = true;
    const meanwhile: number[] = [];
    const watching = others(meanwhile, () => working);
    for (const [at, file] of files.entries()) {
      const form = new FormData();
      form.set('model_id', String(model.id));
      form.set('file', new Blob([file]), `${at}.txt`);
      const answer = await fetch(`${server.baseURL}/api/train/upload_file`, {
        method: 'POST',
        headers: person.headers(),
        body: form,
      });
      const said = (await answer.json()) as { code: number; message: string };
      if (said.code !== 0) throw new Error(said.message);
    }
    for (;;) {
      const now = (await person.call('trainModel', { model_id: model.id })).model;
      if (now.failed_num > 0) throw new Error(`${now.failed_num} files failed`);
      if (now.over_num === files.length) break;
      await sleep(500);
    }
    const seconds = (performance.now() - begun) / 1000;
    working = false;
    await watching;
    const { list } = await person.call('trainFileList', { model_id: model.id, page_size: 256 });
    const passages = list.reduce((sum, file) => sum + file.total_num, 0);
    console.log(
      `${(bytes / megabyte).toFixed(0)} MB in ${files.length} files, ${passages} passages: ${seconds.toFixed(1)} s`,
    );
    console.log(told('others alone', alone));
    console.log(told('others meanwhile', meanwhile));
    const asked: number[] = [];
    for (let at = 0; at < rounds; at += 1) {
      const file = files[at % files.length] ?? '';
      const question = file.slice(at * 1000 + 20, at * 1000 + 44);
      const from = performance.now();
      await person.call('askKnowledge', { embedding_key: model.key, question });
      asked.push(performance.now() - from);
    }
    console.log(`the first question, which reads the index: ${(asked[0] ?? 0).toFixed(0)} ms`);
    console.log(told('questions over the wire', asked.slice(1)));
    const from = performance.now();
    for (const file of files)
      for (const { content } of chunksOf([{ kind: 'text', text: file, place: {} }], {
        separator: '',
        size: 400,
      }))
        gramVector(content);
    console.log(
      `floor, cut and embedded in one thread: ${((performance.now() - from) / 1000).toFixed(1)} s`,
    );
  } finally {
    await server.stop();
  }
};

if (values.part === 'base') await measureBase();
else measureIndex();
