import type { FoundPassage } from '#contract/embedding.ts';
import type { Executor } from '#server/db/database.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { Quotable } from '#server/search/quotes.ts';
import * as store from './embedding.store.ts';
import { byWords, enough, fitting, lookedAt, mostPassages, questionLength } from './fit.ts';
import type { BaseRow, KnowledgeBases } from './knowledge-bases.ts';
import * as indexes from './open-indexes.ts';
import { placeOf } from './open-passage.ts';
import type { Candidate } from './passage-index.ts';
import type { MayAsk } from './may-ask.ts';
import type { QuestionVectors } from './question-vectors.ts';

/** Or how near it must be to it by a service's vectors. */
const near = 0.45;
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

/** Places in both lists in one number. */
const fusedRank = ({ wordsRank, vectorRank }: Candidate): number =>
  (wordsRank > 0 ? 1 / (ranks + wordsRank) : 0) + (vectorRank > 0 ? 1 / (ranks + vectorRank) : 0);

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
