import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { estimateTokens } from '../../../contract/price.ts';
import { sessionTypes } from '../../../contract/kinds.ts';
import {
  fileStates,
  knowledgeEndings,
  projectStates,
  projectTypes,
  trainLimits,
  translationEndings,
} from '../../../contract/train-limits.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { EmbeddingError, type EmbeddingEngine } from '../../engines/embedding/embedding-engine.ts';
import type { EmbeddingModels } from '../../engines/embedding/embedding-models.ts';
import {
  TrainingError,
  type TrainedStyle,
  type TrainingEngine,
} from '../../engines/training/training-engine.ts';
import { builtInStyle } from '../../engines/training/built-in-style.ts';
import { Refusal } from '../../http/handlers.ts';
import { JobError, type ClaimedJob, type JobIo, type JobWork } from '../../jobs/job-kind.ts';
import type { Storage } from '../../storage/storage-interface.ts';
import { newKey } from '../../storage/storage.ts';
import type { FileService } from '../file/file.service.ts';
import { cleanName } from '../file/uploads.ts';
import { replaceChunks } from '../embedding/embedding.service.ts';
import { hold, release, settle } from '../ledger/ledger.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import { beginTraining, doneOf, trainingLivesMs, type TrainingInput } from './begin-training.ts';
import { kindOf, type FileKind } from './reading/kinds.ts';
import { type FileReader, openReader, UnreadableFile } from './reading/read-file.ts';
import {
  askFor,
  directionOf,
  needsWork,
  nextBatch,
  readAnswer,
} from './translation/ask-translation.ts';
import { payStopped } from './stopped-file.ts';
import * as store from './train.store.ts';

/** An archive within an archive within an archive is not opened. */
const mostDepth = 2;
/** Images are fetched for so long at most, ms. */
const fetchMs = 60_000;
/** Requests after which a sentence that is never answered stays as it is. */
const mostAsked = 3;

/** Training waits for no service's free place: a job says that it is at work by taking this one. */
const here = { channelId: 0, label: '本站', places: 1_000_000 };

/** The least part of a training's price that is paid once a service has begun it. */
const stoppedTrainingLeast = 0.1;

/** Keys of files that were about to be stored, and what a service calls its work. */
interface Done {
  keys?: string[];
  remote?: unknown;
}

export interface TrainWorkDeps {
  db: Database;
  storage: Storage;
  embeddings: EmbeddingModels;
  /** What trains styles now. */
  training: () => Promise<TrainingEngine>;
  prompts: Pick<PromptService, 'writer' | 'ask'>;
  files: Pick<FileService, 'imageAt'>;
  documentSeconds: number;
}

/** What one file of a project is worked on with. */
interface FileWork {
  io: JobIo;
  /** How much of the file is done, 0 to 1. */
  progress: (part: number) => void;
  reader: FileReader;
}

/** Why a file cannot be done, for people: others of the project go on. */
class FileFailure extends Error {
  /** It fails for what it is, whenever it is tried. */
  readonly hopeless: boolean;
  constructor(message: string, hopeless = false) {
    super(message);
    this.hopeless = hopeless;
  }
}

const gone = '文件已被删除';
const noBalance = '余额不足，请充值后重试';

export const createTrainWorks = (deps: TrainWorkDeps): JobWork<unknown>[] => {
  const { db, storage, embeddings, prompts, documentSeconds: seconds } = deps;

  const note = (fileId: number, content: string) => store.addLog(db, fileId, content);

  const bytesOf = async (file: store.FileRow): Promise<Buffer> => {
    const found = file.storageKey ? await storage.get(file.storageKey) : null;
    if (!found) throw new FileFailure('文件已不在，请重新上传');
    return buffer(found.stream);
  };

  const read = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof UnreadableFile) throw new FileFailure(error.message, true);
      throw error;
    }
  };

  /** How far a project is: the files that are done, and a part of the one that is worked on. */
  const progressOf = async (projectId: number, io: JobIo) => {
    const counts = (await store.countsOf(db, [projectId])).get(projectId);
    const total = Math.max(1, counts?.total ?? 1);
    const over = (counts?.over ?? 0) + (counts?.failed ?? 0);
    return (part: number) => io.progress(Math.min(0.99, (over + part) / total));
  };

  const depthOf = async (file: store.FileRow): Promise<number> => {
    let depth = 0;
    for (let at: store.FileRow | null = file; at?.parentId; depth += 1)
      at = await store.findFile(db, at.parentId);
    return depth;
  };

  /** Takes away what was stored by a worker that died before its row was. */
  const clearKeys = async ({ keys = [] }: Done, projectId: number): Promise<void> => {
    if (keys.length === 0) return;
    const known = new Set((await store.allFiles(db, projectId)).map((row) => row.storageKey));
    for (const key of keys) if (!known.has(key)) await storage.delete(key);
  };

  const open = async (
    file: store.FileRow,
    project: store.ProjectRow,
    { done, io, reader }: { done: Done; io: JobIo; reader: FileReader },
  ) => {
    const learns = project.type === projectTypes.knowledge;
    if ((await depthOf(file)) >= mostDepth)
      throw new FileFailure('压缩包套了太多层，请先展开', true);
    const data = await bytesOf(file);
    await note(file.id, '正在展开压缩包');
    const { files, skipped } = await read(
      reader.read<'files'>({ want: 'files', name: file.name, data: new Uint8Array(data) }),
    );
    const room = trainLimits.files - (await store.countFiles(db, file.projectId));
    if (files.length > room) throw new FileFailure(`一个项目最多 ${trainLimits.files} 个文件`);
    const kept = files.flatMap(({ name, data }) => {
      const clean = cleanName(name);
      const kind = kindOf(clean, data);
      const fits = kind && !(learns && (kind === 'html' || kind === 'subtitles'));
      return fits && data.length > 0
        ? [{ name: clean, kind, data: Buffer.from(data), key: newKey() }]
        : [];
    });
    if (kept.length === 0)
      throw new FileFailure(
        `压缩包里没有可以学习的文件，可以是 ${(learns ? knowledgeEndings : translationEndings).join('、')}`,
        true,
      );
    done.keys = kept.map(({ key }) => key);
    await io.remember(done);
    for (const { key, data } of kept) await storage.put(key, data, 'application/octet-stream');
    const ended = await db.transaction(async (tx) => {
      await store.deleteChildren(tx, file.id);
      if (
        !(await store.endFile(tx, file.id, { status: fileStates.unpacked, totalNum: kept.length }))
      )
        return false;
      for (const { name, kind, data, key } of kept) {
        const row = await store.insertFile(tx, {
          projectId: file.projectId,
          parentId: file.id,
          name,
          kind,
          storageKey: key,
          size: data.length,
          hash: createHash('sha256').update(data).digest('hex'),
        });
        await store.addLog(tx, row.id, `来自《${file.name}》，正在排队`);
      }
      return true;
    });
    if (!ended) for (const { key } of kept) await storage.delete(key);
    const out = skipped.length + files.length - kept.length;
    await note(
      file.id,
      `展开出 ${kept.length} 个文件${out > 0 ? `，略过 ${out} 个不能学习的` : ''}`,
    );
  };

  // ---- knowledge bases ---------------------------------------------------------------------------

  /**
   * The vectors of a file's passages by a service, with the tokens that it took.
   * @param held tokens that are set aside for them
   */
  const embedded = async (
    engine: EmbeddingEngine,
    texts: readonly string[],
    file: store.FileRow,
    { io, progress, held }: Pick<FileWork, 'io' | 'progress'> & { held: number },
  ): Promise<{ vectors: Buffer[]; tokens: number }> => {
    const vectors: Buffer[] = [];
    let tokens = 0;
    let told = 0;
    try {
      for (let at = 0; at < texts.length; at += engine.batch) {
        const batch = texts.slice(at, at + engine.batch);
        // Whoever ends it from here on pays for these, too.
        const sent = batch.reduce((sum, text) => sum + estimateTokens(text), tokens);
        const cost = Math.ceil(sent * trainLimits.embeddingFactor);
        const sending = { token: Math.min(held, cost) };
        if (!(await store.changeFile(db, file.id, sending))) throw new FileFailure(gone);
        const made = await engine.embed(batch, io.signal);
        vectors.push(...made.vectors);
        tokens += made.tokens;
        progress(vectors.length / texts.length);
        if (vectors.length / texts.length >= told + 0.2 && vectors.length < texts.length) {
          told = vectors.length / texts.length;
          await store.changeFile(db, file.id, { overNum: vectors.length });
          await note(file.id, `已完成 ${vectors.length} / ${texts.length} 段`);
        }
        io.signal.throwIfAborted();
      }
    } catch (error) {
      if (!(error instanceof EmbeddingError)) throw error;
      if (error.retriable) throw new JobError('engine_failed', error.message, { retriable: true });
      throw new FileFailure(error.message);
    }
    return { vectors, tokens };
  };

  const learn = async (
    file: store.FileRow,
    project: store.ProjectRow,
    { io, progress, reader }: FileWork,
  ): Promise<void> => {
    await note(file.id, '正在读取文字');
    const data = await bytesOf(file);
    const { chunk_size: size, separator, model } = project.settings;
    const { chunks, cut } = await read(
      reader.read<'sections'>({
        want: 'sections',
        kind: file.kind as FileKind,
        data: new Uint8Array(data),
        separator: separator ?? '',
        size: size ?? trainLimits.chunk.default,
      }),
    );
    io.signal.throwIfAborted();
    const engine = await embeddings.engine(model ?? '');
    const letters = chunks.reduce((sum, { text }) => sum + text.length, 0);
    await note(
      file.id,
      `共 ${letters} 个字${cut ? '（太长，其余略去）' : ''}，分成 ${chunks.length} 段`,
    );
    await note(
      file.id,
      engine ? `由 ${engine.model} 转成向量` : '没有连接向量服务：按文字建立索引，不收费',
    );
    await store.changeFile(db, file.id, { totalNum: chunks.length, overNum: 0 });
    const texts = chunks.map(({ heading, text }) =>
      heading === '' ? text : `${heading}\n${text}`,
    );
    let holdId: string | null = null;
    let held = 0;
    if (engine) {
      const most = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
      const amount = Math.ceil(most * trainLimits.embeddingFactor * 1.3);
      held = amount;
      holdId = await db.transaction(async (tx) => {
        await store.changeProject(tx, project.id, { engine: engine.model });
        if (file.holdId) await release(tx, file.holdId);
        const made = await hold(tx, {
          userId: project.userId,
          amount,
          reference: `training-file:${file.id}`,
          ttlMs: trainingLivesMs + 60_000,
        });
        if (!(await store.changeFile(tx, file.id, { holdId: made, token: 0 })))
          throw new FileFailure(gone);
        return made;
      });
      if (holdId === null) throw new FileFailure(noBalance);
    }
    const { vectors, tokens } = engine
      ? await embedded(engine, texts, file, { io, progress, held })
      : { vectors: [], tokens: 0 };
    const spent = Math.ceil(tokens * trainLimits.embeddingFactor);
    await db.transaction(async (tx) => {
      await store.lockProject(tx, project.id);
      let taken = 0;
      const wanted = await store.endFile(tx, file.id, {
        status: fileStates.done,
        totalNum: chunks.length,
        overNum: chunks.length,
        error: '',
      });
      if (holdId && !wanted) await release(tx, holdId);
      if (!wanted) return;
      if (holdId)
        ({ spent: taken } = await settle(tx, holdId, spent, {
          type: sessionTypes.chat,
          model: engine?.model ?? '',
          human: `训练知识库：${file.name}`,
          prompt_tokens: tokens,
          completion_tokens: 0,
          channelId: engine?.channelId ?? null,
        }));
      await store.changeFile(tx, file.id, { token: taken });
      await replaceChunks(
        tx,
        file.id,
        chunks.map(({ page, heading, text }, seq) => ({
          projectId: project.id,
          fileId: file.id,
          seq,
          page,
          heading,
          content: text,
          vector: vectors[seq] ?? Buffer.alloc(0),
          model: engine?.model ?? '',
        })),
      );
      await store.noteChange(tx, project.id, { tokens: taken, engine: engine?.model ?? '' });
      await store.addLog(tx, file.id, taken > 0 ? `训练完成，花费 ${taken} tokens` : '训练完成');
    });
  };

  // ---- translations ------------------------------------------------------------------------------

  const translate = async (
    file: store.FileRow,
    project: store.ProjectRow,
    { io, progress, reader }: FileWork,
  ): Promise<void> => {
    const direction = directionOf(project.settings);
    let { total, open: left } = await store.countSegments(db, file.id);
    if (total === 0) {
      await note(file.id, '正在读取文字');
      const data = await bytesOf(file);
      const { segments } = await read(
        reader.read<'segments'>({
          want: 'segments',
          kind: file.kind as FileKind,
          data: new Uint8Array(data),
        }),
      );
      await db.transaction(async (tx) => {
        await store.deleteSegments(tx, file.id);
        await store.insertSegments(
          tx,
          file.id,
          segments.map((source) => {
            const clean = source.replaceAll('\0', '');
            return needsWork(clean, direction)
              ? { source: clean, target: '', state: 0 }
              : { source: clean, target: clean, state: 3 };
          }),
        );
      });
      ({ total, open: left } = await store.countSegments(db, file.id));
      await note(file.id, `共 ${total} 句，其中 ${left} 句要翻译`);
    } else await note(file.id, `接着翻译，还有 ${left} 句`);
    await store.changeFile(db, file.id, { totalNum: total, overNum: total - left });
    let model;
    try {
      model = await prompts.writer(
        { id: project.userId, guest: false },
        project.settings.chat_model || undefined,
      );
    } catch (error) {
      if (error instanceof Refusal) throw new FileFailure(error.message);
      throw error;
    }
    await store.changeProject(db, project.id, { engine: model?.name ?? '' });
    if (!model) await note(file.id, '还没有连接模型：文字原样保留。连接后可以重新上传再译');
    else await note(file.id, `由 ${model.label} 翻译`);
    const asked = new Map<number, number>();
    for (;;) {
      io.signal.throwIfAborted();
      const waiting = await store.openSegments(db, file.id, 200);
      if (waiting.length === 0) break;
      if (!model) {
        await store.saveTargets(
          db,
          waiting.map(({ id, source }) => ({ id, target: source, state: 3 })),
        );
        continue;
      }
      const known = await store.knownTargets(
        db,
        project.id,
        waiting.map(({ source }) => source),
      );
      const same = waiting.flatMap(({ id, source }) => {
        const target = known.get(source);
        return target === undefined ? [] : [{ id, target, state: 1 }];
      });
      if (same.length > 0) {
        await store.saveTargets(db, same);
        continue;
      }
      // What is said twice is translated once.
      const single = waiting.filter(
        (each, at) => waiting.findIndex(({ source }) => source === each.source) === at,
      );
      const often = single.filter(({ id }) => (asked.get(id) ?? 0) > 0);
      const batch = often.length > 0 ? often.slice(0, 1) : nextBatch(single);
      const [first] = batch;
      if (!first) break;
      const before = (await store.segmentsBefore(db, file.id, first.seq, 3)).reverse();
      const messages = askFor(
        batch.map(({ source }) => source),
        { direction, glossary: project.settings.glossary ?? [], before },
      );
      try {
        await prompts.ask(
          { id: project.userId, guest: false },
          {
            model,
            messages,
            subject: `翻译文档：${file.name}`,
            // What was paid for is stored with its payment: a fault behind this asks for the rest alone.
            keep: async (tx, text, spent) => {
              const answers = readAnswer(text, batch.length);
              await store.saveTargets(
                tx,
                batch.flatMap(({ id }, at) => {
                  const target = answers.get(at);
                  return target === undefined ? [] : [{ id, target, state: 1 }];
                }),
              );
              const { total: all, open: open_ } = await store.countSegments(tx, file.id);
              const row = await store.findFile(tx, file.id);
              await store.changeFile(tx, file.id, {
                overNum: all - open_,
                token: (row?.token ?? 0) + spent,
              });
              await store.noteChange(tx, project.id, { tokens: spent });
            },
          },
        );
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.codeName === 'balance') throw new FileFailure(noBalance);
        throw new JobError('engine_failed', error.message, { retriable: true });
      }
      const still = await store.countSegments(db, file.id);
      const answered = await store.openSegments(db, file.id, 1000);
      for (const { id } of batch) {
        if (!answered.some((row) => row.id === id)) continue;
        const times = (asked.get(id) ?? 0) + 1;
        asked.set(id, times);
        if (times < mostAsked) continue;
        const row = answered.find((each) => each.id === id);
        if (row) await store.saveTargets(db, [{ id, target: row.source, state: 3 }]);
      }
      if (still.open !== left) {
        left = still.open;
        await note(file.id, `已译 ${total - left} / ${total} 句`);
      }
      progress(total === 0 ? 1 : (total - left) / total);
    }
    await db.transaction(async (tx) => {
      const ended = await store.endFile(tx, file.id, {
        status: fileStates.done,
        totalNum: total,
        overNum: total,
        error: '',
      });
      if (!ended) return;
      const row = await store.findFile(tx, file.id);
      await store.addLog(
        tx,
        file.id,
        row && row.token > 0 ? `翻译完成，花费 ${row.token} tokens` : '完成',
      );
    });
  };

  /** What a file that failed had held comes back. */
  const giveBack = async (
    tx: Transaction,
    { id, holdId }: Pick<store.FileRow, 'id' | 'holdId'>,
  ): Promise<void> => {
    if (!holdId) return;
    await release(tx, holdId);
    await store.changeFile(tx, id, { token: 0 });
  };

  const failFile = (id: number, why: string, hopeless: boolean): Promise<void> =>
    db.transaction(async (tx) => {
      const row = await store.findFile(tx, id);
      if (row) await giveBack(tx, row);
      await store.endFile(tx, id, { status: fileStates.failed, error: why, hopeless });
      await store.addLog(tx, id, `没有成功：${why}`);
    });

  /** Does one file after the other, those that come meanwhile included. */
  const workOnFiles =
    (one: (file: store.FileRow, project: store.ProjectRow, work: FileWork) => Promise<void>) =>
    async (job: ClaimedJob, io: JobIo) => {
      const done = (job.remote ?? {}) as Done;
      await clearKeys(done, job.subject_id);
      await io.place(here);
      const begun = await store.findProject(db, job.subject_id);
      if (!begun) return { result: null };
      const reader = openReader({ seconds: seconds * 2, userId: begun.userId });
      try {
        for (;;) {
          io.signal.throwIfAborted();
          const project = await store.findProject(db, job.subject_id);
          const file = await store.nextFile(db, job.subject_id);
          if (!project || !file) return { result: null };
          try {
            const progress = await progressOf(project.id, io);
            if (file.kind === 'archive') await open(file, project, { done, io, reader });
            else await one(file, project, { io, progress, reader });
          } catch (error) {
            if (!(error instanceof FileFailure)) throw error;
            await failFile(file.id, error.message, error.hopeless);
          }
        }
      } finally {
        reader.close();
      }
    };

  // ---- styles of images ------------------------------------------------------------------------

  const trainStyle = async (job: ClaimedJob, io: JobIo) => {
    const done = (job.remote ?? {}) as Done;
    await io.place(here);
    const project = await store.findProject(db, job.subject_id);
    const file = await store.nextFile(db, job.subject_id);
    if (!project || !file) return { result: null };
    const { settings } = project;
    const images = [];
    for (const [at, { url, txt }] of settings.images.entries()) {
      const signal = AbortSignal.any([io.signal, AbortSignal.timeout(fetchMs)]);
      const image = await deps.files.imageAt(url, signal).catch(() => null);
      io.signal.throwIfAborted();
      if (image) images.push({ data: image.data, txt });
      else await note(file.id, `第 ${at + 1} 张图片取不到，略过`);
    }
    if (images.length === 0)
      throw new JobError('upload_unreadable', '没有一张图片能读取', { retriable: false });
    await note(
      file.id,
      `${images.length} 张图片，批大小 ${settings.batch_size}，${settings.epoch} 轮`,
    );
    const engine = job.hold_id === null ? builtInStyle : await deps.training();
    await note(
      file.id,
      engine.label === ''
        ? '内置的画风统计：量出颜色、明暗与颗粒，由内置画板使用；不是神经网络'
        : `由 ${engine.label} 训练，大约十分钟`,
    );
    const order = {
      key: project.key,
      images,
      base: String(settings.type),
      checkpoint: settings.checkpoint,
      batch: settings.batch_size,
      epochs: settings.epoch,
    };
    let told = 0;
    try {
      const made = await engine.train(order, {
        signal: io.signal,
        progress: (fraction, preview) => {
          io.progress(
            fraction,
            preview &&
              (() => Promise.resolve(`data:image/jpeg;base64,${preview.toString('base64')}`)),
          );
          const over = Math.floor(fraction * images.length);
          if (fraction < told + 0.25) return;
          told = fraction;
          // A line of the log is not worth failing for.
          void store
            .changeFile(db, file.id, { overNum: over })
            .then(() => note(file.id, `已完成 ${Math.floor(fraction * 100)}%`))
            .catch(() => undefined);
        },
        log: (line) => note(file.id, line),
        remember: (remote) => {
          done.remote = remote;
          return io.remember(done);
        },
        resume: done.remote ?? null,
      });
      // A service's work shows in 内置画板 too, by what can be measured of its images.
      const profile =
        made.profile ??
        (
          await builtInStyle.train(order, {
            signal: io.signal,
            progress: () => {},
            log: async () => {},
            remember: async () => {},
            resume: null,
          })
        ).profile;
      let stored: { key: string; name: string } | null = null;
      if (made.artifact) {
        stored = { key: newKey(), name: made.artifact.name };
        done.keys = [stored.key];
        await io.remember(done);
        await storage.put(stored.key, made.artifact.data, 'application/octet-stream');
      }
      return { result: { fileId: file.id, profile, stored, count: images.length } };
    } catch (error) {
      if (!(error instanceof TrainingError)) throw error;
      throw new JobError('engine_failed', error.message, { retriable: error.retriable });
    }
  };

  // ---- ends --------------------------------------------------------------------------------------

  const failFiles = async (tx: Transaction, projectId: number, why: string) => {
    for (const file of await store.failOpenFiles(tx, projectId, why)) {
      await giveBack(tx, file);
      await store.addLog(tx, file.id, `没有成功：${why}`);
    }
  };

  /** Their person stopped them: what was sent is paid. Gives the tokens. */
  const stopFiles = async (tx: Transaction, project: store.ProjectRow): Promise<number> => {
    let tokens = 0;
    for (const file of await store.failOpenFiles(tx, project.id, '已取消')) {
      const spent = await payStopped(tx, file, project.engine);
      tokens += spent;
      const paid = spent > 0 ? `，已发给模型服务的部分花费 ${spent} tokens` : '';
      await store.addLog(tx, file.id, `已取消${paid}`);
    }
    if (tokens > 0) await store.noteChange(tx, project.id, { tokens });
    return tokens;
  };

  /** As its files say. */
  const settleState = async (tx: Transaction, project: store.ProjectRow) => {
    const counts = (await store.countsOf(tx, [project.id])).get(project.id);
    const status =
      (counts?.over ?? 0) > 0
        ? projectStates.trained
        : (counts?.failed ?? 0) > 0
          ? projectStates.failed
          : projectStates.open;
    await store.changeProject(tx, project.id, { status });
  };

  const lock: JobWork<unknown>['lock'] = async (tx, job) => {
    await store.lockProject(tx, job.subject_id);
  };

  const words = (name: string, done: string, path: string): JobWork<unknown>['words'] => ({
    name,
    failed: '没有训练成功',
    done: (_db, ids) => Promise.resolve(new Map(ids.map((id) => [id, done]))),
    url: (id) => `${path}?model_id=${id}`,
  });

  const finishFiles: JobWork<unknown>['finish'] = async (tx, job, end) => {
    const project = await store.lockProject(tx, job.subject_id);
    if (!project) return { state: 'cancelled', deductTokens: 0 };
    const begun = job.input as TrainingInput;
    let took = Math.max(0, project.token - begun.token);
    if (end.state === 'error') {
      // A worker that died now and again does not stop what gets on.
      const goesOn =
        end.codeName === 'engine_failed' && (await doneOf(tx, project.id)) > begun.done;
      if (goesOn && (await store.nextFile(tx, project.id))) {
        await beginTraining(tx, project, { again: true });
        return { state: 'done', deductTokens: took };
      }
      await failFiles(tx, project.id, end.message);
    } else if (end.state === 'cancelled') took += await stopFiles(tx, project);
    // What came while the last file was ending.
    else if (await store.nextFile(tx, project.id)) {
      await beginTraining(tx, project, { again: true });
      return { state: 'done', deductTokens: took };
    }
    await settleState(tx, project);
    return { state: end.state, deductTokens: took };
  };

  const fileWork = (
    kind: 'embedding' | 'translate',
    one: typeof learn,
    told: JobWork<unknown>['words'],
  ): JobWork<unknown> => ({
    kind,
    livesMs: trainingLivesMs,
    words: told,
    lock,
    work: workOnFiles(one),
    finish: finishFiles,
    discard: () => Promise.resolve(),
    clear: (job) => clearKeys(job.remote ?? {}, job.subject_id),
  });

  interface Style {
    fileId: number;
    profile: TrainedStyle['profile'];
    stored: { key: string; name: string } | null;
    count: number;
  }

  const lora: JobWork<Style | null> = {
    kind: 'lora',
    livesMs: trainingLivesMs,
    words: words('画风训练', '画风训练好了', '/train'),
    lock,
    work: trainStyle,
    discard: async (style) => {
      if (style?.stored) await storage.delete(style.stored.key);
    },
    clear: async (job) => {
      const { keys = [] } = (job.remote ?? {}) as Done;
      const project = await store.findProject(db, job.subject_id);
      for (const key of keys) if (project?.artifactKey !== key) await storage.delete(key);
    },
    finish: async (tx, job, end) => {
      const project = await store.lockProject(tx, job.subject_id);
      const style = end.state === 'done' ? end.result : null;
      const wanted =
        project &&
        style &&
        (await store.endFile(tx, style.fileId, {
          status: fileStates.done,
          totalNum: style.count,
          overNum: style.count,
          error: '',
        }));
      /** Takes this part of what a training costs. */
      const charge = async (part: number): Promise<number> => {
        if (job.hold_id === null) return 0;
        const cost = Math.ceil(trainLimits.loraTokens * part);
        const { spent } = await settle(tx, job.hold_id, cost, {
          type: sessionTypes.image,
          model: 'lora',
          human: `训练画风：${project?.name ?? job.title}`,
          prompt_tokens: 0,
          completion_tokens: 0,
          channelId: (await deps.training()).channelId ?? null,
        });
        return spent;
      };
      if (!project || !style || !wanted) {
        // The service bills the time until it was stopped.
        const begun = end.state !== 'error' && (job.remote as Done | null)?.remote;
        const part = style ? 1 : Math.max(stoppedTrainingLeast, job.progress);
        const spent = begun ? await charge(part) : 0;
        if (job.hold_id !== null && !begun) await release(tx, job.hold_id);
        if (project) {
          const why = end.state === 'error' ? end.message : '已取消';
          await failFiles(tx, project.id, why);
          await store.changeProject(tx, project.id, {
            status: project.profile ? projectStates.trained : projectStates.failed,
          });
        }
        return { state: end.state === 'error' ? 'error' : 'cancelled', deductTokens: spent };
      }
      const spent = await charge(1);
      if (project.artifactKey && style.stored) await storage.delete(project.artifactKey);
      await store.changeProject(tx, project.id, {
        status: projectStates.trained,
        profile: style.profile,
        engine: job.hold_id === null ? '' : (await deps.training()).label,
        ...(style.stored ? { artifactKey: style.stored.key, artifactName: style.stored.name } : {}),
      });
      await store.changeFile(tx, style.fileId, { token: spent });
      await store.noteChange(tx, project.id, { tokens: spent });
      await store.addLog(
        tx,
        style.fileId,
        `训练完成${spent > 0 ? `，花费 ${spent} tokens` : ''}：作画时写 <lora:${project.key}:0.7>`,
      );
      return { state: 'done', deductTokens: spent };
    },
  };

  return [
    fileWork('embedding', learn, words('知识库训练', '知识库训练好了', '/train')),
    fileWork('translate', translate, {
      ...words('文档翻译', '文档译好了', '/translate'),
      failed: '没有翻译成功',
    }),
    lora as JobWork<unknown>,
  ];
};
