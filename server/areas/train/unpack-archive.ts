import { createHash } from 'node:crypto';
import { codes } from '#contract/errors.ts';
import { fileStates, trainLimits } from '#contract/train-limits.ts';
import type { Executor } from '#server/db/database.ts';
import { newKey } from '#server/storage/storage.ts';
import { lockKeeping } from '../file/room.ts';
import { cleanName } from '../file/uploads.ts';
import { bytesOf, FileFailure, read, type FileTask } from './file-task.ts';
import { lockProject } from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';
import { endingsFor, kindFor, type FileKind } from './reading/kinds.ts';
import * as store from './training-file.store.ts';

/** An archive within an archive within an archive is not opened. */
const mostDepth = 2;
/** Files that are stored at once. */
const together = 20;

/** In how many archives a file is. */
const depthOf = async (db: Executor, file: store.FileRow): Promise<number> => {
  let depth = 0;
  for (let at: store.FileRow | null = file; at?.parentId; depth += 1)
    at = await store.findFile(db, at.parentId);
  return depth;
};

interface Unpacked {
  name: string;
  kind: FileKind;
  data: Buffer;
  key: string;
}

/**
 * Writes the rows of what came out of an archive; false: nobody wants it any more.
 * @throws FileFailure where they have no room for it: it takes up to 200 times what the archive does
 */
const insertUnpacked = (
  { db, settings }: TrainDeps,
  { file, project }: Pick<FileTask, 'file' | 'project'>,
  unpacked: readonly Unpacked[],
): Promise<boolean> =>
  db.transaction(async (tx) => {
    // Its project before the room, as whoever uploads a file: else each waits for the other.
    await lockProject(tx, project.id);
    await lockKeeping(tx, `training ${project.userId}`);
    await store.deleteChildren(tx, file.id);
    const more = unpacked.reduce((bytes, { data }) => bytes + data.length, 0);
    if ((await store.bytesOf(tx, project.userId)) + more > settings.fileQuota)
      throw new FileFailure(codes.file_quota.text);
    const end = { status: fileStates.unpacked, totalNum: unpacked.length };
    if (!(await store.endFile(tx, file.id, end))) return false;
    const rows = unpacked.map(({ name, kind, data, key }) => ({
      projectId: file.projectId,
      parentId: file.id,
      name,
      kind,
      storageKey: key,
      size: data.length,
      hash: createHash('sha256').update(data).digest('hex'),
    }));
    await store.insertFiles(tx, rows, `来自《${file.name}》，正在排队`);
    return true;
  });

/** Makes files of the project out of those in an archive. @throws FileFailure */
export const unpackArchive = async (
  deps: TrainDeps,
  { file, project, done, io, reader }: FileTask,
): Promise<void> => {
  const { db, storage } = deps;
  if ((await depthOf(db, file)) >= mostDepth)
    throw new FileFailure('压缩包套了太多层，请先展开', true);
  const data = await bytesOf(storage, file);
  await store.addLog(db, file.id, '正在展开压缩包');
  const { files, skipped } = await read(
    reader.read<'files'>({ want: 'files', name: file.name, data }),
  );
  const kept = files.flatMap(({ name: told, data }): Unpacked[] => {
    const name = cleanName(told);
    const kind = kindFor(project.type, name, data);
    return kind && data.length > 0 ? [{ name, kind, data: Buffer.from(data), key: newKey() }] : [];
  });
  if (kept.length === 0)
    throw new FileFailure(`压缩包里没有可以学习的文件，可以是 ${endingsFor(project.type)}`, true);
  // The archive itself will not count.
  const room = trainLimits.files - (await store.countKept(db, file.projectId)) + 1;
  if (room <= 0) throw new FileFailure(`一个项目最多 ${trainLimits.files} 个文件`);
  const left = kept.splice(room).length;
  done.keys = kept.map(({ key }) => key);
  await io.remember(done);
  // A disk that is busy writes twenty as soon as one.
  for (let at = 0; at < kept.length; at += together)
    await Promise.all(
      kept
        .slice(at, at + together)
        .map(({ key, data }) => storage.put(key, data, 'application/octet-stream')),
    );
  const drop = async () => {
    for (const { key } of kept) await storage.delete(key);
  };
  try {
    if (!(await insertUnpacked(deps, { file, project }, kept))) await drop();
  } catch (error) {
    // Of any other error it is not known whether the rows are there; whoever tries again looks.
    if (error instanceof FileFailure) await drop();
    throw error;
  }
  const out = skipped.length + files.length - kept.length - left;
  await store.addLog(
    db,
    file.id,
    `展开出 ${kept.length} 个文件${out > 0 ? `，略过 ${out} 个不能学习的` : ''}${
      left > 0 ? `；一个项目最多 ${trainLimits.files} 个文件，还有 ${left} 个没有收` : ''
    }`,
  );
};
