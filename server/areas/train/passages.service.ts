import type { Parsed } from '#contract/calls.ts';
import type { Passage } from '#contract/knowledge.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { estimateTokens } from '#contract/price.ts';
import { fileStates, knowledgeLimits, projectTypes } from '#contract/train-limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { EmbeddingError, factorOf } from '#server/engines/embedding/embedding-engine.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { passages, type PassageRow } from '../embedding/passages.service.ts';
import { lockKeeping } from '../file/room.ts';
import { holdPrice, release, settle } from '../ledger/ledger.service.ts';
import { changing, ownFile, ownProject } from './project-access.ts';
import * as projects from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';
import * as files from './training-file.store.ts';

/** The file of a base that holds the questions with answers, which no upload is called by. */
const pairsKind = 'pairs';
const pairsName = '问答';
/** How long a service may take for one passage, ms. */
const embedMs = 10_000;

const noPassage = () => new Refusal('not_found', '没有这段资料，它可能已被删除');

/** A page of a file's passages. @throws Refusal not_found */
export const list = async (
  db: Executor,
  { file_id: id, page }: Parsed<'passageList'>,
  user: Identity,
) => {
  const file = await ownFile(db, id, user);
  const size = knowledgeLimits.passagePage;
  const { list: rows, total } = await passages.page(db, file.id, windowOf(page, size, 1_000_000));
  return {
    list: rows,
    ...pageOf(total, page, size),
    name: file.name,
  };
};

/** A vector for a text, what it was made with, and what takes its price. */
interface Made {
  vector: Buffer;
  model: string;
  pay: (tx: Transaction, project: projects.ProjectRow) => Promise<void>;
}

/**
 * Asks the service that a base's passages are embedded with; without one nothing is made or paid.
 * Nothing is in a transaction meanwhile.
 * @throws Refusal balance, engine_failed
 */
const vectorFor = async (
  { db, embeddings }: TrainDeps,
  project: projects.ProjectRow,
  text: string,
): Promise<Made> => {
  const engine = await embeddings.engine(project.settings.model ?? '');
  if (!engine) return { vector: Buffer.alloc(0), model: '', pay: () => Promise.resolve() };
  const amount = Math.ceil(estimateTokens(text) * factorOf(engine) * 1.3);
  const holdId = await holdPrice(db, {
    userId: project.userId,
    amount,
    reference: `passage:${project.id}`,
    ttlMs: 10 * 60_000,
  });
  try {
    const { vectors, tokens } = await engine.embed([text], AbortSignal.timeout(embedMs));
    const [vector] = vectors;
    if (!vector) throw new EmbeddingError('no vector', { retriable: true });
    return {
      vector,
      model: engine.model,
      pay: async (tx) => {
        if (holdId === null) return;
        const { spent } = await settle(tx, holdId, Math.ceil(tokens * factorOf(engine)), {
          type: sessionTypes.chat,
          model: engine.model,
          human: `知识库的一段：${project.name}`,
          prompt_tokens: tokens,
          completion_tokens: 0,
          channelId: engine.channelId ?? null,
        });
        await projects.noteChange(tx, project.id, { tokens: spent });
      },
    };
  } catch {
    if (holdId !== null) await db.transaction((tx) => release(tx, holdId));
    throw new Refusal('engine_failed', '向量服务没有回应，没有改动，请稍后再试');
  }
};

const embedded = ({ heading, content }: Pick<PassageRow, 'heading' | 'content'>): string =>
  heading === '' ? content : `${heading}\n${content}`;

/** The passage and its file, of one's own base. @throws Refusal not_found */
const ownPassage = async (db: Executor, id: number, user: Identity) => {
  const row = await passages.find(db, id);
  if (!row) throw noPassage();
  try {
    return { row, file: await ownFile(db, row.fileId, user) };
  } catch {
    throw noPassage();
  }
};

/**
 * Changes a passage, and gives what writes it.
 * @throws Refusal not_found, balance, engine_failed
 */
export const save = async (
  deps: TrainDeps,
  db: Executor,
  input: Parsed<'savePassage'>,
  user: Identity,
) => {
  const { row, file } = await ownPassage(db, input.id, user);
  const isPair = file.kind === pairsKind;
  const content = input.text ?? row.content;
  const heading = isPair ? input.heading?.trim() || row.heading : row.heading;
  if (isPair && content.length > knowledgeLimits.pairAnswer)
    throw new Refusal('bad_input', `回答最多 ${knowledgeLimits.pairAnswer} 个字`);
  const same = content === row.content && heading === row.heading;
  const made = same ? null : await vectorFor(deps, file.project, embedded({ heading, content }));
  return (executor: Executor): Promise<{ passage: Passage }> =>
    changing(executor, file.project.id, user, async (tx, project) => {
      const passage = await passages.change(tx, row.id, {
        content,
        heading,
        off: input.off ?? row.off,
        ...(made && { vector: made.vector, model: made.model }),
      });
      if (!passage) throw noPassage();
      if (made) await made.pay(tx, project);
      if (isPair) await sizePairs(tx, file.id);
      await projects.noteChange(tx, project.id, { written: made?.model });
      return { passage };
    });
};

/** @throws Refusal not_found */
export const remove = (db: Executor, id: number, user: Identity): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { file } = await ownPassage(tx, id, user);
    await changing(tx, file.project.id, user, async (tx, project) => {
      await passages.remove(tx, id);
      if (file.kind === pairsKind) await sizePairs(tx, file.id);
      else {
        const left = await passages.count(tx, file.id);
        await files.changeFile(tx, file.id, { totalNum: left, overNum: left });
      }
      await projects.noteChange(tx, project.id);
    });
  });

/** What the pairs of a base take counts as the size of their file. */
const sizePairs = async (tx: Transaction, fileId: number): Promise<void> => {
  const texts = await passages.texts(tx, fileId);
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  await files.changeFile(tx, fileId, { totalNum: texts.length, overNum: texts.length, size });
};

/** The pairs of a base as a file, if it has any. @throws Refusal training_too_many, file_quota */
const requirePairRoom = async (
  { settings }: TrainDeps,
  db: Executor,
  { model_id: modelId, answer }: Pick<Parsed<'addPair'>, 'model_id' | 'answer'>,
  userId: number,
) => {
  const known = await files.fileOfKind(db, modelId, pairsKind);
  if ((known?.totalNum ?? 0) >= knowledgeLimits.pairs)
    throw new Refusal('training_too_many', `一个知识库最多 ${knowledgeLimits.pairs} 条问答`);
  if ((await files.bytesOf(db, userId)) + Buffer.byteLength(answer) > settings.fileQuota)
    throw new Refusal('file_quota');
  return known;
};

/**
 * A question with its answer, and gives what writes it.
 * @throws Refusal not_found, training_too_many, file_quota, balance, engine_failed
 */
export const addPair = async (
  deps: TrainDeps,
  db: Executor,
  input: Parsed<'addPair'>,
  user: Identity,
) => {
  const { model_id: modelId, question, answer } = input;
  const project = await ownProject(db, modelId, user);
  if (project.type !== projectTypes.knowledge)
    throw new Refusal('bad_input', '只有知识库可以添问答');
  // Before its vector is paid for.
  await requirePairRoom(deps, db, input, user.id);
  const pair = { heading: question, content: answer };
  const made = await vectorFor(deps, project, embedded(pair));
  return (executor: Executor): Promise<{ passage: Passage }> =>
    changing(executor, modelId, user, async (tx, now) => {
      await lockKeeping(tx, `training ${user.id}`);
      const known = await requirePairRoom(deps, tx, input, user.id);
      const file =
        known ??
        (await files.insertFile(tx, {
          projectId: modelId,
          name: pairsName,
          kind: pairsKind,
          status: fileStates.done,
        }));
      const passage = await passages.add(tx, {
        ...pair,
        projectId: modelId,
        fileId: file.id,
        vector: made.vector,
        model: made.model,
      });
      await made.pay(tx, now);
      await sizePairs(tx, file.id);
      await passages.closeGap(tx, modelId, question);
      await projects.noteChange(tx, modelId, { written: made.model });
      if (now.status !== 1) await projects.changeProject(tx, modelId, { status: 1 });
      return { passage };
    });
};

/** @throws Refusal not_found */
export const gaps = async (db: Executor, modelId: number, user: Identity) => {
  const { id } = await ownProject(db, modelId, user);
  return passages.gaps(db, id);
};

/** @throws Refusal not_found */
export const removeGap = async (
  db: Executor,
  { model_id: modelId, id }: Parsed<'delGap'>,
  user: Identity,
): Promise<void> => {
  await ownProject(db, modelId, user);
  await passages.removeGap(db, modelId, id);
};
