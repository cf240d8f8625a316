import { createHash } from 'node:crypto';
import type { Out, Parsed } from '#contract/calls.ts';
import type { TrainModel } from '#contract/train.ts';
import {
  fileStates,
  projectStates,
  projectTypes,
  trainLimits,
  trainTexts,
} from '#contract/train-limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity, type UploadedFile } from '#server/http/handlers.ts';
import { newKey } from '#server/storage/storage.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { lockKeeping } from '../file/room.ts';
import { cleanName } from '../file/uploads.ts';
import { beginTraining } from './begin-training.ts';
import { payStopped } from './end-files.ts';
import { endingsFor, isLearned, kindFor } from './reading/kinds.ts';
import { changing, ownFile, readableFile, readableProject } from './project-access.ts';
import { outputUrl, viewFile, viewProject } from './project-view.ts';
import * as projects from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';
import * as store from './training-file.store.ts';

/** A page of a project's files, newest first. @throws Refusal not_found */
export const list = async (db: Executor, input: Parsed<'trainFileList'>, user: Identity | null) => {
  const { page, page_size: size } = input;
  const project = await readableProject(db, input.model_id, user);
  const total = await store.countFiles(db, project.id);
  const rows = await store.filePage(db, project.id, windowOf(page, size, 100_000));
  return {
    list: rows.map((row) => ({
      ...viewFile(row, project),
      output_url: outputUrl(row, project),
    })),
    ...pageOf(total, page, size),
    model_private: project.private ? 1 : 0,
  };
};

/** What was noted of a file's training, from a line on. @throws Refusal not_found */
export const log = async (db: Executor, input: Parsed<'trainLog'>, user: Identity | null) => {
  const file = await readableFile(db, input.file_id, user);
  const rows = await store.logsAfter(db, file.id, input.end_id);
  return {
    list: rows.map(({ id, content, createdAt }) => ({
      id,
      content,
      created_at: createdAt.toISOString(),
    })),
    status: file.status,
  };
};

/** Lets the work come to what is new in a locked project. @throws Refusal too_many_jobs */
const open = async (tx: Transaction, project: projects.ProjectRow): Promise<void> => {
  if (project.type === projectTypes.packed)
    await projects.changeProject(tx, project.id, {
      type: projectTypes.translation,
      status: projectStates.open,
    });
  else if (project.status !== projectStates.trained)
    await projects.changeProject(tx, project.id, { status: projectStates.open });
  const now = await projects.findProject(tx, project.id);
  if (now) await beginTraining(tx, now);
};

/** Begins what waits. @throws Refusal not_found, training_files_missing, too_many_jobs */
export const start = (db: Executor, id: number, user: Identity): Promise<TrainModel> =>
  changing(db, id, user, async (tx, row) => {
    const begun = await store.beginFiles(tx, row.id);
    if (begun.length === 0) throw new Refusal('training_files_missing');
    for (const file of begun) await store.addLog(tx, file, '已开始，正在排队');
    await open(tx, row);
    return viewProject(tx, row.id, user);
  });

/** Begins a failed file of a locked project anew. @throws Refusal too_many_jobs, balance */
const again = async (
  { training }: TrainDeps,
  tx: Transaction,
  row: projects.ProjectRow,
  id: number,
): Promise<void> => {
  await store.changeFile(tx, id, { status: fileStates.working, error: '', hopeless: false });
  await store.addLog(tx, id, trainTexts.retrying);
  if (row.status === projectStates.failed)
    await projects.changeProject(tx, row.id, { status: projectStates.open });
  const paid = row.type === projectTypes.lora && (await training()).paid;
  await beginTraining(tx, row, { paid });
};

/** Tries a file again that failed. @throws Refusal not_found, too_many_jobs, balance */
export const retry = async (deps: TrainDeps, db: Executor, id: number, user: Identity) => {
  const { project } = await ownFile(db, id, user);
  await changing(db, project.id, user, async (tx, row) => {
    const file = await store.findFile(tx, id);
    if (file?.status === fileStates.failed) await again(deps, tx, row, id);
  });
};

/** Gives the keys of what is to be taken out of the storage then. @throws Refusal not_found */
export const remove = async (db: Executor, id: number, user: Identity): Promise<string[]> => {
  const { project } = await ownFile(db, id, user);
  return changing(db, project.id, user, async (tx, row) => {
    const keys = await takeOut(tx, row, id);
    await projects.noteChange(tx, row.id);
    return keys;
  });
};

/** Takes a file with its family out of a locked project; gives the keys that are free then. */
const takeOut = async (
  tx: Transaction,
  row: projects.ProjectRow,
  id: number,
): Promise<string[]> => {
  const family = await store.fileFamily(tx, id);
  for (const file of family) await payStopped(tx, file, row.engine);
  await store.deleteFile(tx, id);
  return family.flatMap(({ storageKey }) => storageKey ?? []);
};

/**
 * The same act on many files of one project; what is not there, or cannot be tried again, is passed
 * by. Gives how many it came to, and the keys that are free then.
 * @throws Refusal not_found, too_many_jobs
 */
export const actOn = (
  deps: TrainDeps,
  db: Executor,
  { model_id: modelId, ids, act }: Parsed<'actOnFiles'>,
  user: Identity,
): Promise<{ done: number; keys: string[] }> =>
  changing(db, modelId, user, async (tx, row) => {
    const rows = await store.filesAmong(tx, row.id, ids);
    if (act === 'remove') {
      const keys: string[] = [];
      for (const file of rows) keys.push(...(await takeOut(tx, row, file.id)));
      await projects.noteChange(tx, row.id);
      return { done: rows.length, keys };
    }
    const failed = rows.filter(({ status, hopeless }) => status === fileStates.failed && !hopeless);
    for (const file of failed) await again(deps, tx, row, file.id);
    return { done: failed.length, keys: [] };
  });

// ---- files on their way in -------------------------------------------------------------------------

interface Given {
  name: string;
  data: Buffer;
  /** Work on it begins at once; else its owner begins it. */
  start: boolean;
  /** Left out: the newest project of its owner that takes files. */
  modelId: number | undefined;
}

/** The kind of a file that a project can take. @throws Refusal upload_type, too_large … */
const requireFits = async (
  { settings }: Pick<TrainDeps, 'settings'>,
  tx: Transaction,
  project: projects.ProjectRow,
  { name, data }: Given,
): Promise<string> => {
  if (project.type === projectTypes.lora)
    throw new Refusal('upload_type', '画风用图片训练，请在“图片”一步添加');
  if (data.length > trainLimits.fileBytes) throw new Refusal('too_large', trainTexts.size);
  if (data.length === 0) throw new Refusal('upload_unreadable', '文件是空的');
  const kind = kindFor(project.type, name, data);
  if (!kind && isLearned(project.type, name))
    throw new Refusal('upload_unreadable', '文件的内容与它的扩展名不符，可能已损坏或改过名');
  if (!kind)
    throw new Refusal('upload_type', `${trainTexts.type}可以是 ${endingsFor(project.type)}`);
  if ((await store.countKept(tx, project.id)) >= trainLimits.files)
    throw new Refusal('training_too_many');
  // Files of several projects may come at once.
  await lockKeeping(tx, `training ${project.userId}`);
  if ((await store.bytesOf(tx, project.userId)) + data.length > settings.fileQuota)
    throw new Refusal('file_quota');
  return kind;
};

/**
 * Puts a file that came in with a project and lets the work come to it.
 * @throws Refusal not_found, upload_type, too_large, upload_unreadable, training_too_many, file_quota, too_many_jobs
 */
export const keepFile = async (
  deps: Pick<TrainDeps, 'settings' | 'storage'>,
  tx: Transaction,
  given: Given,
  user: Pick<Identity, 'id'>,
) => {
  const { name, data, start } = given;
  const { translation, knowledge, packed } = projectTypes;
  const target =
    given.modelId ??
    (await projects.newestProject(tx, user.id, [translation, knowledge, packed]))?.id;
  if (target === undefined) throw new Refusal('not_found', '请先创建项目');
  return changing(tx, target, user, async (tx, project) => {
    const kind = await requireFits(deps, tx, project, given);
    const hash = createHash('sha256').update(data).digest('hex');
    const same = await store.sameFile(tx, project.id, { hash, name });
    if (same?.waiting && start) {
      await store.changeFile(tx, same.id, { waiting: false });
      await open(tx, project);
    }
    if (same) return viewFile({ ...same, waiting: same.waiting && !start }, project);
    const key = newKey();
    await deps.storage.put(key, data, 'application/octet-stream');
    const row = await store.insertFile(tx, {
      projectId: project.id,
      name,
      kind,
      storageKey: key,
      size: data.length,
      hash,
      waiting: !start,
    });
    await store.addLog(tx, row.id, start ? '文件已收到，正在排队' : '文件已收到，等您开始');
    if (start) await open(tx, project);
    return viewFile(row, project);
  });
};

/**
 * Takes a file, in a transaction.
 * @throws Refusal not_found, upload_type, too_large, upload_unreadable, training_too_many, file_quota
 */
export const upload = (
  deps: TrainDeps,
  db: Executor,
  input: Parsed<'uploadTrainFile'>,
  { file, user }: { file: UploadedFile; user: Identity },
): Promise<Out<'uploadTrainFile'>> =>
  inTransaction(db, async (tx) => {
    const told = Number(file.fields?.['model_id']);
    const modelId = input.model_id ?? (Number.isSafeInteger(told) && told > 0 ? told : undefined);
    const { data } = file;
    if (input.size !== undefined && input.size !== data.length)
      throw new Refusal('upload_unreadable', '文件没有传完，请再传一次');
    const start = input.start === 1;
    const given = { name: cleanName(file.name), data, start, modelId };
    const kept = await keepFile(deps, tx, given, user);
    return { file: kept, message: start ? trainTexts.uploaded : trainTexts.kept };
  });
