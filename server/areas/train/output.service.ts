import { setImmediate as yieldTurn } from 'node:timers/promises';
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import type { Out, Parsed } from '#contract/calls.ts';
import { fileStates, projectStates, projectTypes, trainLimits } from '#contract/train-limits.ts';
import type { Executor } from '#server/db/database.ts';
import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { newKey } from '#server/storage/storage.ts';
import type { StoredFile } from '#server/storage/storage-interface.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { standing } from '../compliance/foot.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import { lockKeeping } from '../file/room.ts';
import { stored } from './file-task.ts';
import {
  changing,
  noFile,
  noProject,
  ownProject,
  readableFile,
  requireAddress,
} from './project-access.ts';
import { fileUrl, isTranslation, viewProject } from './project-view.ts';
import * as projects from './project.store.ts';
import { endingOf, type FileKind } from './reading/kinds.ts';
import { openReader, UnreadableFile } from './reading/read-file.ts';
import * as store from './segment.store.ts';
import type { TrainDeps } from './train-deps.ts';
import * as files from './training-file.store.ts';

/** What training made: translations and their sentences, packages, trained styles. */

/** A file as it is sent. */
export interface SentFile {
  /** What is kept is sent from where it lies: a slow reader holds none of it in memory. */
  data: Buffer | StoredFile;
  name: string;
  mime: string;
}

/** Translations that are written at once, and what one who asks for them may have waiting. */
const writing = createFairQueue(2, 4);
/** Packages at once, for each is all in memory; how long one may hold its place, ms. */
const packing = createFairQueue(2, 2);
const longestPacking = 180_000;
/** Of the files in one package, bytes. */
const mostPacked = 128 * 1024 * 1024;
/** Bytes that are packed before others have a turn. */
const packedAtOnce = 64 * 1024;

const mimes: Readonly<Record<string, string>> = {
  txt: 'text/plain; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  pdf: 'application/pdf',
  zip: 'application/zip',
};

const sent = <T extends SentFile['data']>(data: T, name: string) => ({
  data,
  name,
  mime: mimes[endingOf(name)] ?? 'application/octet-stream',
});

/** A page of a translated file's sentences. @throws Refusal not_found */
export const segments = async (
  db: Executor,
  { file_id: id, page }: Parsed<'segmentList'>,
  user: Identity | null,
): Promise<Out<'segmentList'>> => {
  const file = await readableFile(db, id, user);
  const { total } = await store.countSegments(db, file.id);
  const size = trainLimits.segmentPage;
  const window = windowOf(page, size);
  const rows = await store.segmentPage(db, file.id, window);
  return {
    list: rows.map(({ id, source, target, state }) => ({ id, source, target, state })),
    ...pageOf(total, page, size),
    name: file.name,
    mine: file.project.userId === user?.id,
  };
};

/**
 * Writes what a person makes of a sentence; gives how many sentences that changed.
 * @throws Refusal not_found
 */
export const correct = async (db: Executor, input: Parsed<'saveSegment'>, user: Identity) => {
  const found = await store.findSegment(db, input.id);
  if (found?.project.userId !== user.id) throw new Refusal('not_found', '没有这一句');
  const { project, segment } = found;
  return changing(db, project.id, user, async (tx) => {
    const { id, source } = segment;
    const where = { id, source, projectId: input.all === 1 ? project.id : null };
    const changed = await store.correct(tx, where, input.target);
    if (project.type === projectTypes.packed)
      await projects.changeProject(tx, project.id, {
        type: projectTypes.translation,
        status: projectStates.trained,
      });
    return changed;
  });
};

type WriteDeps = Pick<TrainDeps, 'storage' | 'settings'>;

/** A translated file as it is now, corrections included. @throws Refusal not_found, upload_unreadable */
const translated = async (
  { storage, settings }: WriteDeps,
  db: Executor,
  file: files.FileRow,
  { project, owner }: { project: Pick<projects.ProjectRow, 'settings' | 'userId'>; owner: Waiter },
) => {
  const data = await stored(storage, file.storageKey);
  if (!data) throw noFile();
  const targets = (await store.targetsOf(db, file.id)).map(({ source, target, state }) =>
    state === store.segmentStates.open ? source : target,
  );
  const seconds = settings.documentSeconds * 3;
  const label = await makeLabel(db, {
    kind: 'translation',
    userId: project.userId,
    model: project.settings.model ?? '',
    ...(file.storageKey ? { key: file.storageKey } : {}),
  });
  const { mark } = await standing(db, true);
  const reader = openReader({ seconds, owner });
  try {
    const made = await reader.read<'written'>({
      want: 'written',
      kind: file.kind as FileKind,
      data: new Uint8Array(data),
      targets,
      bilingual: project.settings.bilingual,
      label,
      mark,
    });
    return sent(Buffer.from(made.data), `${file.name.replace(/\.[^.]*$/, '')}.${made.ending}`);
  } catch (error) {
    if (error instanceof UnreadableFile) throw new Refusal('upload_unreadable', error.message);
    throw error;
  } finally {
    reader.close();
  }
};

/** Packs files one after the other, a little at a time: everybody else waits for this thread. */
const createPackage = () => {
  const parts: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error) throw error;
    parts.push(part);
  });
  return {
    async add(name: string, data: Uint8Array): Promise<void> {
      // The other formats are packed already.
      const plain = mimes[endingOf(name)]?.startsWith('text/') ?? false;
      const file = plain ? new ZipDeflate(name, { level: 1 }) : new ZipPassThrough(name);
      zip.add(file);
      for (let at = 0; at === 0 || at < data.length; at += packedAtOnce) {
        // What is handed over is not kept: a copy is.
        file.push(data.slice(at, at + packedAtOnce), at + packedAtOnce >= data.length);
        await yieldTurn();
      }
    },
    end(): Buffer {
      zip.end();
      return Buffer.concat(parts);
    },
  };
};

const requireSmall = (bytes: number): void => {
  if (bytes > mostPacked)
    throw new Refusal(
      'too_large',
      `译文加起来超过 ${mostPacked / 1024 / 1024} MB，不能打成一个包，请分别下载或分成几个项目`,
    );
};

/** All translated files of a project in a zip. @throws Refusal training_unfinished, upload_unreadable, too_large */
const zipOf = async (
  deps: TrainDeps,
  db: Executor,
  project: projects.ProjectRow,
  owner: Waiter,
): Promise<Buffer> => {
  const rows = (await files.allFiles(db, project.id)).filter(
    ({ status, waiting }) => status !== fileStates.unpacked && !waiting,
  );
  const done = rows.filter(({ status }) => status === fileStates.done);
  if (done.length === 0 || rows.some(({ status }) => status === fileStates.working))
    throw new Refusal('training_unfinished', '还没有翻译完，请稍后再打包');
  requireSmall(done.reduce((sum, { size }) => sum + size, 0));
  const zip = createPackage();
  const names = new Set<string>();
  let bytes = 0;
  const until = performance.now() + longestPacking;
  for (const file of done) {
    if (performance.now() > until)
      throw new Refusal('too_large', '译文太多，没有打完，请分别下载或分成几个项目');
    const { data, name } = await translated(deps, db, file, { project, owner });
    const ending = endingOf(name);
    const stem = name.slice(0, name.length - ending.length - 1);
    let free = name;
    for (let at = 2; names.has(free); at += 1) free = `${stem} (${at}).${ending}`;
    names.add(free);
    bytes += data.length;
    requireSmall(bytes);
    await zip.add(free, data);
  }
  return zip.end();
};

/** Whether a person's space takes a package in the place of the one before. @throws Refusal file_quota */
const requirePackRoom = async (
  { settings }: TrainDeps,
  db: Executor,
  { userId, artifactSize }: projects.ProjectRow,
  size: number,
): Promise<void> => {
  if ((await files.bytesOf(db, userId)) - artifactSize + size > settings.fileQuota)
    throw new Refusal('file_quota', '您的文件空间放不下这个包，请先删除一些文件或项目');
};

/**
 * Writes all translated files of a project into a zip; what it gives keeps that in the place of the
 * one before, in the transaction of the call.
 * @param free is told the key of what lies in the storage for nobody then
 * @throws Refusal not_found, training_unfinished, upload_unreadable, too_large, too_many, file_quota, storage_full
 */
export const pack = async (
  deps: TrainDeps,
  db: Executor,
  id: number,
  user: Identity,
  free: (key: string) => void,
) => {
  await deps.requireDisk(user);
  const project = await ownProject(db, id, user);
  if (!isTranslation(project)) throw new Refusal('bad_input', 'model_id：只有翻译项目可以打包');
  const zip = await packing(user, () => zipOf(deps, db, project, user));
  const { length } = zip;
  await requirePackRoom(deps, db, project, length);
  const key = newKey();
  await deps.storage.put(key, zip, 'application/zip');
  const name = `${project.key}.zip`;
  const keep = (db: Executor): Promise<Out<'packModel'>> =>
    changing(db, id, user, async (tx, row) => {
      await lockKeeping(tx, `training ${user.id}`);
      await requirePackRoom(deps, tx, row, length);
      if (row.artifactKey) free(row.artifactKey);
      await projects.changeProject(tx, id, {
        type: projectTypes.packed,
        status: projectStates.packed,
        artifactKey: key,
        artifactName: name,
        artifactSize: length,
      });
      return { url: fileUrl(key, name, row), model: await viewProject(tx, id, user) };
    });
  return async (db: Executor): Promise<Out<'packModel'>> => {
    try {
      return await keep(db);
    } catch (error) {
      if (error instanceof Refusal) await deps.storage.delete(key);
      throw error;
    }
  };
};

/**
 * The trained file of a style; of what is built in, its statistics.
 * @throws Refusal not_found, training_unfinished
 */
export const style = async ({ storage }: TrainDeps, db: Executor, id: number, user: Identity) => {
  const row = await projects.findProject(db, id);
  if (!row || row.type !== projectTypes.lora || (row.private && row.userId !== user.id))
    throw noProject();
  if (row.status !== projectStates.trained) throw new Refusal('training_unfinished');
  const data = row.artifactKey && (await storage.get(row.artifactKey));
  if (data) return { data, name: row.artifactName, mime: 'application/octet-stream' };
  const text = JSON.stringify({ key: row.key, label: row.name, ...row.profile }, null, 2);
  return sent(Buffer.from(text), `${row.key}.style.json`);
};

/** The translation of a file as it is now. @throws Refusal not_found, upload_unreadable, too_many */
export const translation = async (
  deps: WriteDeps,
  db: Executor,
  id: number,
  owner: Waiter,
): Promise<{ name: string; data: Buffer }> => {
  const file = await files.findFile(db, id);
  if (!file) throw noFile();
  return writing(owner, () => translated(deps, db, file, { project: file.project, owner }));
};

/**
 * A file by the `key` of its address, or a translation as it is now, for whoever asks.
 * @throws Refusal not_found, upload_unreadable, too_many
 */
export const content = async (
  deps: TrainDeps,
  db: Executor,
  key: string,
  who: Waiter,
): Promise<SentFile> => {
  const [, fileId, own, salt = ''] =
    /^output\/(\d{1,15})\/([0-9a-f]{40})(?:-([0-9a-f]+))?$/.exec(key) ?? [];
  if (fileId !== undefined && own !== undefined) {
    const file = await files.findFile(db, Number(fileId));
    if (file?.storageKey !== own || file.status !== fileStates.done) throw noFile();
    await requireAddress(db, file.project, salt);
    const { project } = file;
    return writing(who, () => translated(deps, db, file, { project, owner: who }));
  }
  const [, storageKey, mark = '', name = ''] =
    /^([0-9a-f]{40})(?:-([0-9a-f]+))?\/(.{1,300})$/.exec(key) ?? [];
  if (storageKey === undefined) throw noFile();
  await requireAddress(db, await projects.projectOfStored(db, storageKey), mark);
  const data = await deps.storage.get(storageKey);
  if (!data) throw noFile();
  return sent(data, name);
};
