import { fileStates } from '#contract/train-limits.ts';
import type { ChatMessage } from '#common/chat-message.ts';
import { Refusal } from '#server/http/handlers.ts';
import { JobError } from '#server/jobs/job-kind.ts';
import { lockKeeping } from '../file/room.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { bytesOf, FileFailure, noBalance, read, type FileTask } from './file-task.ts';
import type { TrainDeps } from './train-deps.ts';
import * as projects from './project.store.ts';
import type { FileKind } from './reading/kinds.ts';
import * as store from './segment.store.ts';
import * as files from './training-file.store.ts';
import {
  askFor,
  directionOf,
  needsWork,
  nextBatch,
  readAnswer,
} from './translation/ask-translation.ts';

const { open, translated, kept } = store.segmentStates;

/**
 * Sentences of all files of one person: each is a row of some hundred bytes, however few letters of
 * its file it takes.
 */
const mostSentences = 300_000;

/** Requests after which a sentence that is never answered stays as it is. */
const mostAsked = 3;

type Segment = Awaited<ReturnType<typeof store.openSegments>>[number];

/** Reads a file's sentences into the database, unless an earlier try did; gives how many are open. */
const readSegments = async ({ db, storage }: TrainDeps, { file, project, reader }: FileTask) => {
  const before = await store.countSegments(db, file.id);
  if (before.total > 0) {
    await files.addLog(db, file.id, `接着翻译，还有 ${before.open} 句`);
    return before;
  }
  const direction = directionOf(project.settings);
  await files.addLog(db, file.id, '正在读取文字');
  const data = await bytesOf(storage, file);
  const { segments } = await read(
    reader.read<'segments'>({
      want: 'segments',
      kind: file.kind as FileKind,
      data,
      learned: false,
    }),
  );
  await db.transaction(async (tx) => {
    await lockKeeping(tx, `training ${project.userId}`);
    await store.deleteSegments(tx, file.id);
    if ((await store.countSegmentsOf(tx, project.userId)) + segments.length > mostSentences)
      throw new FileFailure(
        `您的译文一共最多 ${mostSentences / 10_000} 万句，请先删除不再需要的文件或项目`,
      );
    await store.insertSegments(
      tx,
      file.id,
      segments.map((told) => {
        const source = told.replaceAll('\0', '');
        return needsWork(source, direction)
          ? { source, target: '', state: open }
          : { source, target: source, state: kept };
      }),
    );
  });
  const counts = await store.countSegments(db, file.id);
  await files.addLog(db, file.id, `共 ${counts.total} 句，其中 ${counts.open} 句要翻译`);
  return counts;
};

/** The model that translates; null: none is connected. @throws FileFailure where it may not be used */
const writerFor = async ({ db, prompts }: TrainDeps, { file, project }: FileTask) => {
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
  await projects.changeProject(db, project.id, { engine: model?.name ?? '' });
  await files.addLog(
    db,
    file.id,
    model ? `由 ${model.label} 翻译` : '还没有连接模型：文字原样保留。连接后可以重新上传再译',
  );
  return model;
};

/** Writes what needs no request; gives whether there was any of these sentences. */
const saveKnown = async ({ db }: TrainDeps, { project }: FileTask, waiting: readonly Segment[]) => {
  const sources = waiting.map(({ source }) => source);
  const known = await store.knownTargets(db, project.id, sources);
  const same = waiting.flatMap(({ id, source }) => {
    const target = known.get(source);
    return target === undefined ? [] : [{ id, target, state: translated }];
  });
  await store.saveTargets(db, same);
  return same.length > 0;
};

/** What goes into one request: what was asked before goes alone, what is said twice once. */
const batchOf = (waiting: readonly Segment[], asked: ReadonlyMap<number, number>): Segment[] => {
  const single = waiting.filter(
    (each, at) => waiting.findIndex(({ source }) => source === each.source) === at,
  );
  const again = single.find(({ id }) => asked.has(id));
  return again ? [again] : nextBatch(single);
};

/** Asks for one request's sentences and keeps what is answered. @throws FileFailure, JobError */
const ask = async (
  { prompts }: TrainDeps,
  { file, project }: FileTask,
  request: { model: ResolvedModel; messages: ChatMessage[]; batch: readonly Segment[] },
): Promise<void> => {
  const { model, messages, batch } = request;
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
              return target === undefined ? [] : [{ id, target, state: translated }];
            }),
          );
          const { total, open: left } = await store.countSegments(tx, file.id);
          const token = ((await files.findFile(tx, file.id))?.token ?? 0) + spent;
          await files.changeFile(tx, file.id, { overNum: total - left, token });
          await projects.noteChange(tx, project.id, { tokens: spent });
        },
      },
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.codeName === 'balance') throw new FileFailure(noBalance);
    throw new JobError('engine_failed', error.message, { retriable: true });
  }
};

/** Translates a file's open sentences, a request after the other. @throws FileFailure, JobError */
const translateOpen = async (
  deps: TrainDeps,
  task: FileTask,
  model: ResolvedModel,
  counts: { total: number; open: number },
): Promise<void> => {
  const { db } = deps;
  const { file, project, io, progress } = task;
  const direction = directionOf(project.settings);
  const { total } = counts;
  let left = counts.open;
  const asked = new Map<number, number>();
  for (;;) {
    io.signal.throwIfAborted();
    const waiting = await store.openSegments(db, file.id, 200);
    if (await saveKnown(deps, task, waiting)) continue;
    const batch = batchOf(waiting, asked);
    const [first] = batch;
    if (!first) return;
    const before = (await store.segmentsBefore(db, file.id, first.seq, 3)).reverse();
    const messages = askFor(
      batch.map(({ source }) => source),
      { direction, glossary: project.settings.glossary ?? [], before },
    );
    await ask(deps, task, { model, messages, batch });
    const still = await store.countSegments(db, file.id);
    const unanswered = new Set((await store.openSegments(db, file.id, 1000)).map(({ id }) => id));
    for (const { id, source } of batch.filter((each) => unanswered.has(each.id))) {
      const times = (asked.get(id) ?? 0) + 1;
      asked.set(id, times);
      if (times >= mostAsked) await store.saveTargets(db, [{ id, target: source, state: kept }]);
    }
    if (still.open !== left) {
      left = still.open;
      await files.addLog(db, file.id, `已译 ${total - left} / ${total} 句`);
    }
    progress(total === 0 ? 1 : (total - left) / total);
  }
};

/**
 * Translates a file's sentences; where no model is connected they stay as they are.
 * @throws FileFailure, JobError
 */
export const translateFile = async (deps: TrainDeps, task: FileTask): Promise<void> => {
  const { db } = deps;
  const { file, io } = task;
  const counts = await readSegments(deps, task);
  const { total } = counts;
  await files.changeFile(db, file.id, { totalNum: total, overNum: total - counts.open });
  const model = await writerFor(deps, task);
  io.signal.throwIfAborted();
  if (model) await translateOpen(deps, task, model, counts);
  else await store.keepSources(db, file.id);
  await db.transaction(async (tx) => {
    const end = { status: fileStates.done, totalNum: total, overNum: total, error: '' };
    if (!(await files.endFile(tx, file.id, end))) return;
    const token = (await files.findFile(tx, file.id))?.token ?? 0;
    await files.addLog(tx, file.id, token > 0 ? `翻译完成，花费 ${token} tokens` : '完成');
  });
};
