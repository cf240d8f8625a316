import type { FoundPassage } from '#contract/embedding.ts';
import type { Executor } from '#server/db/database.ts';
import { languageOf, likenessOf } from '#server/engines/embedding/calibration.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { Quotable } from '#server/search/quotes.ts';
import * as store from './embedding.store.ts';
import { answersByWords, byWords, enough, lookedAt, mostPassages, quotableOf } from './fit.ts';
import type { BaseRow, KnowledgeBases } from './knowledge-bases.ts';
import * as indexes from './open-indexes.ts';
import { placeOf } from './open-passage.ts';
import type { Candidate } from './passage-index.ts';
import type { MayAsk } from './may-ask.ts';
import type { QuestionVector, QuestionVectors } from './question-vectors.ts';

/** Or how near by a model of vectors, where 1 is what answers: one that tells well, and one that tells little. */
const near = { well: 0.9, little: 1.6 } as const;
/**
 * What words, the places in both lists and nearness count where a model tells little, and where it
 * tells well: in Chinese, for which the words are made, and in other languages, where they find less.
 */
const counts = {
  little: { words: 0.6, places: 0.4, meaning: 0.2 },
  well: {
    chinese: { words: 0.6, places: 0.2, meaning: 0.5 },
    other: { words: 0.2, places: 0, meaning: 1 },
  },
} as const;
/** So many of the best a reranker is asked about, and how long it may take, ms. */
const reranked = 20;
const rerankMs = 2_000;
/** How much slower the weights of two lists fall with the rank where they are put together. */
const ranks = 20;
/** A passage as it was found, with what it can be quoted by. */
export interface Ranked extends FoundPassage {
  file: string;
  place: string;
  quotable: Quotable;
}

interface SearchDeps {
  embeddings: Pick<EmbeddingModels, 'reranker'>;
  vectorOf: QuestionVectors;
  bases: Pick<KnowledgeBases, 'filesByIds'>;
}

/** Places in both lists in one number, 1 at most. */
const fusedRank = (wordsRank: number, vectorRank: number): number =>
  ((wordsRank > 0 ? 1 / (ranks + wordsRank) : 0) +
    (vectorRank > 0 ? 1 / (ranks + vectorRank) : 0)) *
  ((ranks + 1) / 2);

/** How near a passage is to a question by its vector; null: the model does not know its language. */
const meaningOf = (
  vector: QuestionVector | null,
  question: string,
  { vectorRank, likeness }: Candidate,
  text: string,
): number | null => {
  const scale = vector?.calibration[languageOf(question)][languageOf(text)];
  return vectorRank > 0 && scale?.knows ? likenessOf(scale, likeness) : null;
};

const between = (trust: number, little: number, well: number): number =>
  little + (well - little) * trust;

/** How well a passage answers by its words, as a share of the most, and by its vector together. */
const together = (
  question: string,
  trust: number,
  { wordsRank, vectorRank }: Candidate,
  { words, meaning }: { words: number; meaning: number | null },
): number => {
  const { little } = counts;
  const well = counts.well[languageOf(question)];
  const places = fusedRank(wordsRank, meaning === null ? 0 : vectorRank);
  return (
    words * between(trust, little.words, well.words) +
    places * between(trust, little.places, well.places) +
    (meaning ?? 0) * between(trust, little.meaning, well.meaning)
  );
};

/** How well each passage answers, as a connected reranker says; null: there is none, or it did not say. */
const rerank = async (
  embeddings: Pick<EmbeddingModels, 'reranker'>,
  question: string,
  rows: readonly Pick<store.ChunkRow, 'heading' | 'content'>[],
  mayAsk: MayAsk,
): Promise<number[] | null> => {
  const reranker = rows.length > 1 ? await embeddings.reranker() : null;
  if (!reranker || !(reranker.free || (await mayAsk()))) return null;
  const texts = rows.map(({ heading, content }) => `${heading}\n${content}`.trim());
  return reranker.rank(question, texts, AbortSignal.timeout(rerankMs));
};

/** The passages of a base that answer a question best. */
export const searchBase = async (
  { embeddings, vectorOf, bases }: SearchDeps,
  db: Executor,
  base: BaseRow,
  { question, most, mayAsk }: { question: string; most: number; mayAsk: MayAsk },
): Promise<Ranked[]> => {
  const model = await indexes.ready(db, base);
  const vector = model === null ? null : await vectorOf(question, model, mayAsk);
  const { candidates, values, readings } = await indexes.search(
    base.id,
    question,
    vector && { bytes: vector.bytes, model: vector.model },
  );
  const looked = candidates
    .map((candidate) => ({
      candidate,
      fused: fusedRank(candidate.wordsRank, candidate.vectorRank),
    }))
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
  const seen = looked.flatMap(({ candidate }) => {
    const row = rows.get(candidate.id);
    if (!row || row.off) return [];
    const text = `${row.heading}\n${row.content}`;
    const meaning = meaningOf(vector, question, candidate, text);
    // Nothing but a vector that says nothing has found it.
    if (candidate.wordsRank === 0 && meaning === null) return [];
    return [{ row, candidate, meaning, ...byWords(candidate, text, readings, values) }];
  });
  const mostByWords = Math.max(...seen.map(({ words }) => words), 1e-9);
  const found = seen
    .map((each) => ({
      ...each,
      score: vector
        ? together(question, vector.trust, each.candidate, {
            words: each.words / mostByWords,
            meaning: each.meaning,
          })
        : each.words,
    }))
    .sort((one, other) => other.score - one.score)
    .slice(0, Math.max(most, reranked));
  const said = await rerank(
    embeddings,
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
  const isNear = between(vector?.trust ?? 0, near.little, near.well);
  return ranked.map(({ row, meaning, candidate, score, ...fit }, at) => ({
    id: row.id,
    file: files.get(row.fileId) ?? '',
    place: placeOf(row),
    quotable: quotableOf(row, fit, readings, values),
    title: [files.get(row.fileId) ?? '', placeOf(row)].filter((part) => part !== '').join(' · '),
    text: row.content,
    url: `/train/passage?id=${row.id}`,
    score,
    words_rank: candidate.wordsRank,
    vector_rank: meaning === null ? 0 : candidate.vectorRank,
    coverage: fit.relevance.coverage,
    terms: fit.relevance.terms,
    used: at < mostPassages && (fit.relevance.coverage >= enough || (meaning ?? 0) >= isNear),
    fits: answersByWords(fit, readings) || (meaning ?? 0) >= isNear,
  }));
};
