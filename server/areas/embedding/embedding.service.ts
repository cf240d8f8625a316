import type { Embedding, FoundPassage, StoredSource } from '#contract/embedding.ts';
import type { Executor } from '#server/db/database.ts';
import type { Reading } from '#server/search/question.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { canDraw } from '#server/reading/draw-page.ts';
import { help } from '../help/help.service.ts';
import * as store from './embedding.store.ts';
import * as gaps from './gaps.service.ts';
import { groundsOf, type Grounds } from './grounds.ts';
import type { Originals } from './originals.ts';
import * as indexes from './open-indexes.ts';
import { type Relevance, relevanceOf, searchedText } from '#server/search/relevance.ts';
import type { Candidate, Found } from './passage-index.ts';
import { type Place, placeText } from '#server/reading/place.ts';
import type { PageLooks } from '#server/reading/see-pages.ts';
import { readingsOf } from '#server/search/question.ts';
import type { Quotable } from '#server/search/quotes.ts';

/** Share of the question's words that a passage must hold to be about it. */
const enough = 0.3;
/**
 * How well the best passage fits by its words where the question has an answer: of 50 questions
 * without one 45 stay below (tests/load/no-answer.ts).
 */
const fitting = 0.77;
/** Or how near it must be to it by a service's vectors. */
const near = 0.45;
/** So many passages go along with a question at most, and so many are shown to who tries one. */
const mostPassages = 4;
const mostShown = 8;
/** So many of the best a reranker is asked about, and how long it may take, ms. */
const reranked = 20;
const rerankMs = 2_000;
/** Of both lists, those that are looked at a second time. */
const lookedAt = 50;
/** What words near each other, and a run of the question's own letters, count beside BM25. */
const beside = { together: 0.8, run: 0.4 } as const;
/** How much slower the weights of two lists fall with the rank where they are put together. */
const ranks = 20;
/** Letters of a question that count. */
const questionLength = 200;
/** How long a question waits for its vector before it is looked up by words alone, ms. */
const vectorMs = 2_500;
/** Vectors of questions that are kept. */
const mostQuestions = 500;

const placeOf = ({ page, heading, place }: Pick<store.ChunkRow, 'page' | 'heading' | 'place'>) =>
  Object.keys(place).length > 0
    ? placeText(place)
    : placeText({ ...(page > 0 ? { page } : {}), heading: heading === '' ? [] : [heading] });

/** Whether the service of vectors may be asked now, which the house pays for: words alone find much, too. */
type MayAsk = () => Promise<boolean>;
const always: MayAsk = () => Promise.resolve(true);

const standsAt = ({ page, slide, sheet, row, toRow }: Place) => ({
  page,
  slide,
  sheet,
  row,
  to_row: toRow,
});

/** A passage as it was found, with what it can be quoted by. */
export interface Ranked extends FoundPassage {
  file: string;
  place: string;
  quotable: Quotable;
}

const helpPassages = (question: string, most: number): Ranked[] => {
  const [reading] = readingsOf(question);
  if (!reading) return [];
  const values = reading.slots.map(({ weight }) => weight);
  return help()
    .search(question, most)
    .map(({ item: { page, heading, text }, coverage, score }, at) => ({
      id: 0,
      file: page.title,
      place: heading,
      quotable: { heading: `${page.title} ${heading}`, content: text, reading, values },
      title: heading === '' ? page.title : `${page.title} · ${heading}`,
      text,
      url: `/help?page=${encodeURIComponent(page.slug)}`,
      score,
      words_rank: at + 1,
      vector_rank: 0,
      coverage,
      terms: [],
      used: coverage >= enough && at < mostPassages,
      fits: coverage >= 0.5,
    }));
};

/** A base whose passages are searched. */
interface BaseRow {
  id: number;
  /** Grows with each change of its passages. */
  revision: number;
  settings: { instruction?: string };
}

/** A file that passages were made of. */
export interface FileOfBase {
  name: string;
  kind: string;
  storageKey: string | null;
  project: { key: string; name: string; userId: number };
}

/** Who may ask what; `userId`: null stands for a visitor. */
export interface KnowledgeBases {
  /** Those that a person may ask, their own first. */
  list: (db: Executor, userId: number | null, query?: string) => Promise<Embedding[]>;
  /** Null where there is none, or it is not open to this person. */
  find: (db: Executor, key: string, userId: number | null) => Promise<Embedding | null>;
  /** Those of these keys that are open to this person. */
  findAll: (db: Executor, keys: readonly string[], userId: number | null) => Promise<Embedding[]>;
  /** Of one with passages of its own; null as with `find`. */
  rowFor: (db: Executor, key: string, userId: number | null) => Promise<BaseRow | null>;
  fileOf: (db: Executor, fileId: number) => Promise<FileOfBase | null>;
  filesByIds: (db: Executor, ids: readonly number[]) => Promise<{ id: number; name: string }[]>;
}

/** Places in both lists in one number. */
const fusedRank = ({ wordsRank, vectorRank }: Candidate): number =>
  (wordsRank > 0 ? 1 / (ranks + wordsRank) : 0) + (vectorRank > 0 ? 1 / (ranks + vectorRank) : 0);

/** How well a passage fits, and to which reading of the question. */
interface Fit {
  words: number;
  relevance: Relevance;
  at: number;
}

/** How well a passage answers by its words, by the reading of the question that it fits best. */
const byWords = (
  candidate: Candidate,
  row: { heading: string; content: string },
  readings: readonly Reading[],
  values: Found['values'],
): Fit => {
  const text = searchedText(`${row.heading}\n${row.content}`);
  let best: Fit | null = null;
  for (const [at, reading] of readings.entries()) {
    const relevance = relevanceOf(reading, values[at] ?? [], text);
    const words =
      reading.weight *
      ((candidate.scores[at] ?? 0) +
        relevance.together * beside.together +
        relevance.run * beside.run);
    if (!best || words > best.words) best = { words, relevance, at };
  }
  return best ?? { words: 0, relevance: { coverage: 0, together: 0, run: 0, terms: [] }, at: 0 };
};

export const createKnowledgeService = ({
  embeddings,
  bases,
  originals,
}: {
  embeddings: EmbeddingModels;
  bases: KnowledgeBases;
  originals: Originals;
}) => {
  const questions = new Map<string, Buffer>();

  /** The question's vector by the model of the passages; null: none can be had now. */
  const vectorOf = async (question: string, model: string, mayAsk: MayAsk) => {
    const key = `${model}\n${question}`;
    const known = questions.get(key);
    if (known) return { bytes: new Uint8Array(known), model };
    try {
      if (!(await mayAsk())) return null;
      const engine = await embeddings.exact(model);
      if (!engine) return null;
      const { vectors } = await engine.embed([question], AbortSignal.timeout(vectorMs), true);
      const [vector] = vectors;
      if (!vector) return null;
      questions.set(key, vector);
      const [oldest] = questions.keys();
      if (questions.size > mostQuestions && oldest !== undefined) questions.delete(oldest);
      return { bytes: new Uint8Array(vector), model };
    } catch {
      // Words alone find most of it.
      return null;
    }
  };

  /** How well each passage answers, as a connected reranker says; null: there is none, or it did not say. */
  const rerank = async (
    question: string,
    rows: readonly Pick<store.ChunkRow, 'heading' | 'content'>[],
    mayAsk: MayAsk,
  ): Promise<number[] | null> => {
    const reranker = rows.length > 1 ? await embeddings.reranker() : null;
    if (!reranker || !(await mayAsk())) return null;
    const texts = rows.map(({ heading, content }) => `${heading}\n${content}`.trim());
    return reranker(question, texts, AbortSignal.timeout(rerankMs));
  };

  const searchBase = async (
    db: Executor,
    base: BaseRow,
    asked: string,
    most: number,
    mayAsk: MayAsk,
  ): Promise<Ranked[]> => {
    const question = asked.slice(0, questionLength);
    const model = await indexes.ready(db, base);
    const vector = model === null ? null : await vectorOf(question, model, mayAsk);
    const { candidates, values, readings } = await indexes.search(base.id, question, vector);
    const looked = candidates
      .map((candidate) => ({ candidate, fused: fusedRank(candidate) }))
      .sort((one, other) => other.fused - one.fused)
      .slice(0, lookedAt);
    const rows = new Map(
      (
        await store.chunksById(
          db,
          looked.map(({ candidate }) => candidate.id),
        )
      ).map((row) => [row.id, row]),
    );
    const seen = looked.flatMap(({ candidate, fused }) => {
      const row = rows.get(candidate.id);
      return row && !row.off
        ? [{ row, candidate, fused, ...byWords(candidate, row, readings, values) }]
        : [];
    });
    const mostByWords = Math.max(...seen.map(({ words }) => words), 1e-9);
    const bestFused = 2 / (ranks + 1);
    const found = seen
      .map((each) => ({
        ...each,
        score:
          vector === null
            ? each.words
            : (each.words / mostByWords) * 0.6 +
              (each.fused / bestFused) * 0.4 +
              Math.max(0, each.candidate.likeness) * 0.5,
      }))
      .sort((one, other) => other.score - one.score)
      .slice(0, Math.max(most, reranked));
    const said = await rerank(
      question,
      found.map(({ row }) => row),
      mayAsk,
    );
    const ranked = (
      said
        ? found
            .map((each, at) => ({ ...each, score: said[at] ?? 0 }))
            .sort((one, other) => other.score - one.score)
        : found
    ).slice(0, most);
    const files = new Map(
      (
        await bases.filesByIds(
          db,
          ranked.map(({ row }) => row.fileId),
        )
      ).map((file) => [file.id, file.name]),
    );
    return ranked.map(({ row, relevance, words, candidate, score, at: reading }, at) => ({
      id: row.id,
      file: files.get(row.fileId) ?? '',
      place: placeOf(row),
      quotable: {
        heading: row.heading,
        content: row.content,
        reading: readings[reading] ?? { text: '', weight: 0, slots: [] },
        values: values[reading] ?? [],
      },
      title: [files.get(row.fileId) ?? '', placeOf(row)].filter((part) => part !== '').join(' · '),
      text: row.content,
      url: `/train/passage?id=${row.id}`,
      score,
      words_rank: candidate.wordsRank,
      vector_rank: candidate.vectorRank,
      coverage: relevance.coverage,
      terms: relevance.terms,
      used: at < mostPassages && (relevance.coverage >= enough || candidate.likeness >= near),
      fits: words >= fitting || candidate.likeness >= near,
    }));
  };

  const passages = async (
    db: Executor,
    key: string,
    question: string,
    most: number,
    base: BaseRow | null,
    mayAsk: MayAsk,
  ): Promise<Ranked[]> => {
    if (key === 'help') return helpPassages(question, most);
    return base ? searchBase(db, base, question, most, mayAsk) : [];
  };

  /** The page of the file that a passage stands on; null: a picture has none; undefined: it cannot be drawn. */
  const pageOf = ({ page }: Pick<store.ChunkRow, 'page'>, { kind, storageKey }: FileOfBase) =>
    storageKey === null || !canDraw()
      ? undefined
      : kind === 'image'
        ? null
        : kind === 'pdf' && page > 0
          ? page
          : undefined;

  /**
   * Whether a person may see the page that a passage stands on. What its owner changed, switched off
   * or deleted still stands there: then it is shown to them alone.
   */
  const isDrawn = async (
    db: Executor,
    row: Pick<store.ChunkRow, 'page' | 'fileId'>,
    file: FileOfBase,
    userId: number | null,
  ): Promise<boolean> =>
    pageOf(row, file) !== undefined &&
    (file.project.userId === userId || (await store.isUntouched(db, row.fileId)));

  /** A passage that a person may look up, with its file. @throws Refusal not_found */
  const openPassage = async (db: Executor, id: number, userId: number | null) => {
    const [row] = await store.chunksById(db, [id]);
    const file = row && (await bases.fileOf(db, row.fileId));
    if (!row || row.off || !file || !(await bases.rowFor(db, file.project.key, userId)))
      throw new Refusal('not_found', '没有这段资料，它可能已被删除');
    return { row, file };
  };

  return {
    list: bases.list,
    find: bases.find,
    findAll: bases.findAll,

    /**
     * What knowledge bases have on a question of a person; of a base that is not open to them any
     * more nothing.
     * @param options `note`: a question that a base has nothing on is counted for its owner
     *   `mayAsk`: whether the service of vectors may be asked, where it would be; left out: it may
     */
    async on(
      db: Executor,
      keys: readonly string[],
      question: string,
      userId: number | null,
      { strict = false, numbered = true, note = false, mayAsk = always } = {},
    ): Promise<Grounds> {
      const asked = await Promise.all(
        keys.map(async (key) => {
          const base = await bases.find(db, key, userId);
          const row = base && !base.built_in ? await bases.rowFor(db, key, userId) : null;
          const found = base ? await passages(db, key, question, mostPassages, row, mayAsk) : [];
          // The owner of a base is told what it has nothing on, never who asked.
          if (note && row && !found.some(({ fits }) => fits)) await gaps.note(db, row.id, question);
          return {
            base,
            instruction: row?.settings.instruction ?? '',
            found: found.filter(({ used }) => used),
          };
        }),
      );
      const open = asked.flatMap(({ base, ...rest }) => (base ? [{ base, ...rest }] : []));
      const best = open
        .flatMap(({ base, found }) => found.map((passage) => ({ base, passage })))
        .sort((one, other) => other.passage.score - one.passage.score)
        .slice(0, mostPassages);
      return groundsOf(open, best, { strict, numbered });
    },

    /** A source of an answer as it was, and what stands around it now. @throws Refusal embedding_missing */
    async source(db: Executor, kept: StoredSource, userId: number | null) {
      if (!(await bases.find(db, kept.key, userId))) throw new Refusal('embedding_missing');
      const { id, key: _key, ...told } = kept;
      const [row] = id === 0 ? [] : await store.chunksById(db, [id]);
      const same = row?.content === kept.text;
      const around = row && same ? await store.chunksAround(db, row.fileId, row.seq) : [];
      const at = (step: number) =>
        around.find(({ seq }) => seq === (row?.seq ?? 0) + step)?.content ?? '';
      const file = row && same ? await bases.fileOf(db, row.fileId) : null;
      return {
        ...told,
        before: at(-1),
        after: at(1),
        url: id === 0 || same ? kept.url : '',
        stands: standsAt(row && same ? row.place : {}),
        drawn: row && file && (await isDrawn(db, row, file, userId)) ? row.id : 0,
      };
    },

    /** What a question finds, and why. @throws Refusal embedding_missing */
    async tryOut(
      db: Executor,
      key: string,
      question: string,
      userId: number | null,
      mayAsk: MayAsk = always,
    ) {
      const base = await bases.find(db, key, userId);
      if (!base) throw new Refusal('embedding_missing');
      const row = base.built_in ? null : await bases.rowFor(db, key, userId);
      const found = await passages(db, key, question, mostShown, row, mayAsk);
      return found.map(({ file: _file, place: _place, quotable: _quotable, ...told }) => told);
    },

    /** A passage with what stands around it. @throws Refusal not_found */
    async passage(db: Executor, id: number, userId: number | null) {
      const { row, file } = await openPassage(db, id, userId);
      const around = await store.chunksAround(db, row.fileId, row.seq);
      return {
        name: file.project.name,
        file: file.name,
        place: placeOf(row),
        before: around.find(({ seq }) => seq === row.seq - 1)?.content ?? '',
        text: row.content,
        after: around.find(({ seq }) => seq === row.seq + 1)?.content ?? '',
        stands: standsAt(row.place),
        drawn: (await isDrawn(db, row, file, userId)) ? row.id : 0,
      };
    },

    /** The page of its file that a passage stands on, as a picture. @throws Refusal not_found, too_many */
    async page(db: Executor, id: number, userId: number | null, owner: Waiter) {
      const { row, file } = await openPassage(db, id, userId);
      const page = pageOf(row, file);
      if (page === undefined || !(await isDrawn(db, row, file, userId)))
        throw new Refusal('not_found', '这段资料没有原页可看');
      const looks = await store.looksOf(db, row.fileId, page ?? 0);
      const drawn = await originals.draw({ key: file.storageKey ?? '', page, looks }, owner);
      if (!drawn) throw new Refusal('not_found', '原页太复杂或已损坏，没有画出来');
      return drawn;
    },
  };
};

export { soundOf } from './open-indexes.ts';

export type KnowledgeService = ReturnType<typeof createKnowledgeService>;

/** Puts the passages of a file, and how its scanned pages look, in the place of those it had. */
export const replaceChunks = async (
  db: Executor,
  fileId: number,
  chunks: readonly store.NewChunk[],
  looks: readonly PageLooks[] = [],
): Promise<void> => {
  await store.deleteChunks(db, fileId);
  await store.insertChunks(db, chunks);
  await store.replaceLooks(db, fileId, looks);
};
