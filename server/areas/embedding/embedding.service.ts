import type { StoredSource } from '#contract/embedding.ts';
import type { Executor } from '#server/db/database.ts';
import type { EmbeddingModels } from '#server/engines/embedding/embedding-models.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { PageLooks } from '#server/reading/see-pages.ts';
import { readingsOf } from '#server/search/question.ts';
import { help } from '../help/help.service.ts';
import * as store from './embedding.store.ts';
import { enough, mostPassages, questionLength } from './fit.ts';
import * as gaps from './gaps.service.ts';
import { groundsOf, type Grounds } from './grounds.ts';
import type { BaseRow, KnowledgeBases } from './knowledge-bases.ts';
import { drawnPage, isDrawn, passageAround, standsAt } from './open-passage.ts';
import type { Originals } from './originals.ts';
import { createMayAsk, type MayAsk } from './may-ask.ts';
import { createQuestionVectors } from './question-vectors.ts';
import { type Ranked, searchBase } from './search-base.ts';

/** So many passages are shown to who tries a question. */
const mostShown = 8;

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

/** Knowledge bases: what they have on a question, and where that stands. */
export const createKnowledgeService = (deps: {
  embeddings: EmbeddingModels;
  bases: KnowledgeBases;
  originals: Originals;
}) => {
  const { bases } = deps;
  const search = { ...deps, vectorOf: createQuestionVectors(deps.embeddings) };

  const passages = async (
    db: Executor,
    key: string,
    base: BaseRow | null,
    { asked, ...rest }: { asked: string; most: number; mayAsk: MayAsk },
  ): Promise<Ranked[]> => {
    const question = asked.slice(0, questionLength);
    if (key === 'help') return helpPassages(question, rest.most);
    return base ? searchBase(search, db, base, { question, ...rest }) : [];
  };

  return {
    mayAsk: createMayAsk(),
    list: bases.list,
    find: bases.find,
    findAll: bases.findAll,

    /**
     * What knowledge bases have on a question of a person; of a base that is not open to them any
     * more nothing.
     * @param options `note`: a question that a base has nothing on is counted for its owner
     *   `mayAsk`: whether the services may be asked, where they would be
     */
    async on(
      db: Executor,
      keys: readonly string[],
      question: string,
      userId: number | null,
      {
        mayAsk,
        strict = false,
        numbered = true,
        note = false,
      }: { mayAsk: MayAsk; strict?: boolean; numbered?: boolean; note?: boolean },
    ): Promise<Grounds> {
      const asked = await Promise.all(
        keys.map(async (key) => {
          const base = await bases.find(db, key, userId);
          const row = base && !base.built_in ? await bases.rowFor(db, key, userId) : null;
          const found = base
            ? await passages(db, key, row, { asked: question, most: mostPassages, mayAsk })
            : [];
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
      const { id, key: _key, at: _at, ...told } = kept;
      const [row] = id === 0 ? [] : await store.chunksById(db, [id]);
      const same = row?.content === kept.text && !row.off;
      const around = row && same ? await store.chunksAround(db, row.fileId, row.seq) : [];
      const at = (step: number) =>
        around.find(({ seq }) => seq === (row?.seq ?? 0) + step)?.content ?? '';
      const file = row && same ? await bases.fileOf(db, row.fileId) : null;
      return {
        ...told,
        before: at(-1),
        after: at(1),
        url: id === 0 || same ? kept.url : '',
        at: null,
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
      mayAsk: MayAsk,
    ) {
      const base = await bases.find(db, key, userId);
      if (!base) throw new Refusal('embedding_missing');
      const row = base.built_in ? null : await bases.rowFor(db, key, userId);
      const found = await passages(db, key, row, { asked: question, most: mostShown, mayAsk });
      return found.map(({ file: _file, place: _place, quotable: _quotable, ...told }) => told);
    },

    /** A passage with what stands around it. @throws Refusal not_found */
    passage: (db: Executor, id: number, userId: number | null) =>
      passageAround(bases, db, id, userId),

    /** The page of its file that a passage stands on, as a picture. @throws Refusal not_found, too_many */
    page: (db: Executor, id: number, userId: number | null, owner: Waiter) =>
      drawnPage(deps, db, id, { userId, owner }),
  };
};

export { soundOf } from './open-indexes.ts';

export type KnowledgeService = ReturnType<typeof createKnowledgeService>;

/**
 * Puts the passages of a file, and how its scanned pages look, in the place of those it had.
 * @throws the reason of `stop`, which ends it between any two statements
 */
export const replaceChunks = async (
  db: Executor,
  fileId: number,
  { chunks, looks }: { chunks: readonly store.NewChunk[]; looks: readonly PageLooks[] },
  stop?: AbortSignal,
): Promise<void> => {
  await store.deleteChunks(db, fileId);
  await store.insertChunks(db, chunks, stop);
  await store.replaceLooks(db, fileId, looks);
};
