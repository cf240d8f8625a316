import { estimateTokens } from '#contract/price.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { fileStates, trainLimits } from '#contract/train-limits.ts';
import type { Transaction } from '#server/db/database.ts';
import {
  EmbeddingError,
  type EmbeddingEngine,
  factorOf,
} from '#server/engines/embedding/embedding-engine.ts';
import { JobError } from '#server/jobs/job-kind.ts';
import type { Chunk } from '../embedding/chunk.ts';
import { replaceChunks } from '../embedding/embedding.service.ts';
import { noteChanges } from './watch.service.ts';
import { hold, release, settle } from '../ledger/ledger.service.ts';
import { trainingLivesMs } from './begin-training.ts';
import {
  bytesOf,
  FileFailure,
  mostPassages,
  noBalance,
  read,
  turnOver,
  type FileTask,
} from './file-task.ts';
import type { TrainDeps } from './train-deps.ts';
import * as projects from './project.store.ts';
import type { FileKind } from './reading/kinds.ts';
import { nothingSeen, type PageLooks, seePages, whyNothing } from '#server/reading/see-pages.ts';
import * as store from './training-file.store.ts';

const gone = '文件已被删除';

/** What of a file was made into vectors, by which service, and what was set aside for that. */
interface Embedded {
  engine: EmbeddingEngine;
  /** Null: nothing is taken for it. */
  holdId: string | null;
  vectors: Buffer[];
  /** That the service says it took. */
  tokens: number;
}

/** Pages of one file that are looked at as pictures. */
const mostSeen = 200;

/**
 * What the pages of a file show that are pictures, with a word on it in its log. What was seen in a
 * turn that ended is not looked at again.
 * @throws FileFailure, JobError where the turn is over
 */
const seeIn = async (
  { db, settings }: TrainDeps,
  { file, project, io, progress, done, turnIsOver }: FileTask,
  { data, pictures, hasText }: { data: Uint8Array; pictures: readonly number[]; hasText: boolean },
) => {
  const pages = file.kind === 'image' ? null : pictures.slice(0, mostSeen);
  const count = pages?.length ?? 1;
  const less = pages && count < pictures.length ? `（共 ${pictures.length} 页，其余略去）` : '';
  const what = pages ? `${count} 页是图片，正在认出上面的文字${less}` : '正在认出图片上的文字';
  const before = done.seen?.file === file.id ? done.seen : { pages: 0, seen: nothingSeen() };
  if (before.pages === 0) await store.addLog(db, file.id, what);
  const seen = await seePages(data, pages?.slice(before.pages) ?? null, {
    seconds: settings.documentSeconds,
    owner: { person: String(project.userId), guest: false },
    signal: io.signal,
    before: before.seen,
    onPage: async (looked, now) => {
      const all = before.pages + looked;
      progress((all / count) * 0.9);
      if (all % 10 === 0) await store.addLog(db, file.id, `已看 ${all} / ${count} 页`);
      if (all === count || !(await turnIsOver())) return;
      done.seen = { file: file.id, pages: all, seen: now };
      await io.remember(done);
      throw turnOver();
    },
  });
  if (done.seen) {
    delete done.seen;
    await io.remember(done);
  }
  const { blocks, failed, cut, missing } = seen;
  if (missing) await store.addLog(db, file.id, '服务器上没有安装识别文字的组件，图片略去');
  else if (failed > 0) await store.addLog(db, file.id, `${failed} 页没有读出来`);
  if (cut > 0) await store.addLog(db, file.id, `${cut} 页字太多，只认出了一部分`);
  // Another time there may be what reads it, or more time for it.
  if (blocks.length === 0 && !hasText) throw new FileFailure(whyNothing(seen), !missing && !failed);
  return seen;
};

/**
 * The passages of a file, with a word on them, and how its scanned pages look, as its project's
 * settings cut them.
 * @throws FileFailure
 */
const chunksOf = async (deps: TrainDeps, task: FileTask) => {
  const { db, storage } = deps;
  const { file, project, reader, io } = task;
  await store.addLog(db, file.id, '正在读取文字');
  const data = await bytesOf(storage, file);
  const { chunk_size: size, separator } = project.settings;
  const order = {
    kind: file.kind as FileKind,
    data,
    separator: separator ?? '',
    size: size ?? trainLimits.chunk.default,
  } as const;
  const first = await read(reader.passages(order, io.signal));
  io.signal.throwIfAborted();
  const { pictures } = first;
  const hasText = first.chunks.length > 0;
  const seen = pictures.length > 0 ? await seeIn(deps, task, { data, pictures, hasText }) : null;
  const { chunks, cut } = seen
    ? await read(reader.passages({ ...order, seen: seen.blocks }, io.signal))
    : first;
  io.signal.throwIfAborted();
  const letters = chunks.reduce((sum, { content }) => sum + content.length, 0);
  const less = cut ? '（太长，其余略去）' : '';
  const told = `共 ${letters} 个字${less}，分成 ${chunks.length} 段`;
  return { chunks, told, looks: seen?.looks ?? [] };
};

/**
 * Sets tokens aside for the vectors of a file. Gives the hold, null where the balance is too small.
 * @throws FileFailure
 */
const holdFor = (
  { db }: TrainDeps,
  { file, project }: FileTask,
  { amount, engine }: { amount: number; engine: EmbeddingEngine },
): Promise<string | null> =>
  db.transaction(async (tx) => {
    await projects.changeProject(tx, project.id, { engine: engine.model });
    if (file.holdId) await release(tx, file.holdId);
    const holdId =
      amount === 0
        ? null
        : await hold(tx, {
            userId: project.userId,
            amount,
            reference: `training-file:${file.id}`,
            ttlMs: trainingLivesMs + 60_000,
          });
    const channelId = engine.channelId ?? null;
    if (!(await store.changeFile(tx, file.id, { holdId, channelId, token: 0 })))
      throw new FileFailure(gone);
    return holdId;
  });

/** The vectors of a file's passages by a service. @throws FileFailure, JobError */
const embed = async (
  deps: TrainDeps,
  task: FileTask,
  engine: EmbeddingEngine,
  texts: readonly string[],
): Promise<Embedded> => {
  const { db } = deps;
  const { file, io, progress } = task;
  const most = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  const held = Math.ceil(most * factorOf(engine) * 1.3);
  const holdId = await holdFor(deps, task, { amount: held, engine });
  if (held > 0 && holdId === null) throw new FileFailure(noBalance);
  const vectors: Buffer[] = [];
  let tokens = 0;
  let told = 0;
  try {
    for (let at = 0; at < texts.length; at += engine.batch) {
      const batch = texts.slice(at, at + engine.batch);
      // Whoever ends it from here on pays for these, too.
      const sent = batch.reduce((sum, text) => sum + estimateTokens(text), tokens);
      const cost = Math.ceil(sent * factorOf(engine));
      if (!(await store.changeFile(db, file.id, { token: Math.min(held, cost) })))
        throw new FileFailure(gone);
      const made = await engine.embed(batch, io.signal);
      vectors.push(...made.vectors);
      tokens += made.tokens;
      const part = vectors.length / texts.length;
      progress(part);
      if (part >= told + 0.2 && part < 1) {
        told = part;
        await store.changeFile(db, file.id, { overNum: vectors.length });
        await store.addLog(db, file.id, `已完成 ${vectors.length} / ${texts.length} 段`);
      }
      io.signal.throwIfAborted();
    }
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    if (error.retriable) throw new JobError('engine_failed', error.message, { retriable: true });
    throw new FileFailure(error.message);
  }
  return { engine, holdId, vectors, tokens };
};

/** Takes what the vectors of a file cost; gives the tokens taken. */
const charge = async (tx: Transaction, name: string, { engine, holdId, tokens }: Embedded) => {
  if (holdId === null) return 0;
  const { spent } = await settle(tx, holdId, Math.ceil(tokens * factorOf(engine)), {
    type: sessionTypes.chat,
    model: engine.model,
    human: `训练知识库：${name}`,
    prompt_tokens: tokens,
    completion_tokens: 0,
    channelId: engine.channelId ?? null,
  });
  return spent;
};

const none = Buffer.alloc(0);

/** @throws FileFailure */
const requireRoom = ({ room }: FileTask, count: number): void => {
  if (count > room.passages)
    throw new FileFailure(`每人最多 ${mostPassages / 10_000} 万个段落，请先删除一些文件`);
};

/**
 * Writes the passages of a file with its charge, unless it is gone or has ended.
 * @throws FileFailure; the signal's reason where its person stops it meanwhile
 */
const keepChunks = (
  { db }: TrainDeps,
  task: FileTask,
  { chunks, looks }: { chunks: readonly Chunk[]; looks: readonly PageLooks[] },
  embedded: Embedded | null,
): Promise<void> =>
  db.transaction(async (tx) => {
    const { file, project, room, io } = task;
    await projects.lockProject(tx, project.id);
    const { length } = chunks;
    requireRoom(task, length);
    room.passages -= length;
    const end = { status: fileStates.done, totalNum: length, overNum: length, error: '' };
    if (!(await store.endFile(tx, file.id, end))) {
      if (embedded?.holdId) await release(tx, embedded.holdId);
      return;
    }
    const token = embedded ? await charge(tx, file.name, embedded) : 0;
    const model = embedded?.engine.model ?? '';
    await store.changeFile(tx, file.id, { token });
    await noteChanges(tx, file.id, chunks);
    const rows = chunks.map(({ place, heading, content }, seq) => ({
      projectId: project.id,
      fileId: file.id,
      seq,
      page: place.page ?? 0,
      place,
      heading,
      content,
      vector: embedded?.vectors[seq] ?? none,
      model,
    }));
    await replaceChunks(tx, file.id, { chunks: rows, looks }, io.stopped);
    await projects.noteChange(tx, project.id, { tokens: token, engine: model });
    await store.addLog(tx, file.id, token > 0 ? `训练完成，花费 ${token} tokens` : '训练完成');
  });

/**
 * Makes passages of a file of a knowledge base, with vectors where a service is connected.
 * @throws FileFailure, JobError
 */
export const learnFile = async (deps: TrainDeps, task: FileTask): Promise<void> => {
  const { db, embeddings } = deps;
  const { file, project } = task;
  const learned = await chunksOf(deps, task);
  const { chunks, told } = learned;
  // Before its vectors are paid for.
  requireRoom(task, chunks.length);
  const engine = await embeddings.engine(project.settings.model ?? '');
  const how = engine ? `由 ${engine.model} 转成向量` : '没有连接向量服务：按文字建立索引，不收费';
  // At once: of ten thousand files each flush to the disk counts.
  await db.transaction(async (tx) => {
    if (!(await store.changeFile(tx, file.id, { totalNum: chunks.length, overNum: 0 })))
      throw new FileFailure(gone);
    await store.addLog(tx, file.id, told);
    await store.addLog(tx, file.id, how);
  });
  const textOf = ({ heading, content }: Chunk) =>
    heading === '' ? content : `${heading}\n${content}`;
  const embedded = engine && (await embed(deps, task, engine, chunks.map(textOf)));
  await keepChunks(deps, task, learned, embedded);
};
