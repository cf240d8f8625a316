import { createHash } from 'node:crypto';
import { fileStates, knowledgeLimits, projectTypes, trainLimits } from '#contract/train-limits.ts';
import type { Watch } from '#contract/knowledge.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { whilePageHeld } from '#server/net/fetch-turns.ts';
import { newKey } from '#server/storage/storage.ts';
import { passages } from '../embedding/passages.service.ts';
import { lockKeeping } from '../file/room.ts';
import { beginTraining } from './begin-training.ts';
import { changing, ownFile, ownProject } from './project-access.ts';
import { kindFor } from './reading/kinds.ts';
import { openReader, UnreadableFile } from './reading/read-file.ts';
import type { TrainDeps } from './train-deps.ts';
import * as files from './training-file.service.ts';
import * as fileStore from './training-file.store.ts';
import { isSuspended } from './project.store.ts';
import * as store from './watch.store.ts';

/** How long an address may take, ms. */
const totalMs = 15_000;
/** Addresses that are read in one minute. */
const aMinute = 10;

/** Endings of what addresses answer with, by what their servers call it. */
const endings: Readonly<Record<string, string>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'application/pdf': 'pdf',
};

/** @throws Refusal bad_input */
const addressOf = (given: string): URL => {
  const text = /^[a-z][a-z0-9+.-]*:/i.test(given) ? given : `https://${given}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Refusal('bad_input', '网址写得不对');
  if (url.username !== '' || url.password !== '')
    throw new Refusal('bad_input', '网址里不能有用户名和密码');
  url.hash = '';
  return url;
};

/** As the list of files calls it: example.com/help/start.html. */
const nameOf = (url: URL, ending: string): string => {
  let path = url.pathname;
  try {
    path = decodeURIComponent(path);
  } catch {
    // It stays as it is written.
  }
  const shown = `${url.host}${path}${url.search}`.replaceAll(/\p{Cc}/gu, '').replace(/\/$/, '');
  const short = shown.replaceAll('/', '／').slice(0, 150);
  return short.toLowerCase().endsWith(`.${ending}`) ? short : `${short}.${ending}`;
};

interface Got {
  data: Buffer;
  name: string;
  kind: string;
  /** Of its words; of its bytes where it has none. */
  hash: string;
}

/** @throws Refusal upload_unreadable */
const open = async ({ fetch, settings }: TrainDeps, url: URL, userId: number): Promise<Got> => {
  const got = await fetch(url.href, {
    maxBytes: trainLimits.fileBytes,
    types: Object.keys(endings),
    totalMs,
  });
  if (!got || got.data.length === 0)
    throw new Refusal(
      'upload_unreadable',
      '打不开这个网址：它不在公网上、没有回应、超过 4 MB，或不是网页、文本、PDF',
    );
  const name = nameOf(url, endings[got.mime] ?? 'html');
  const kind = kindFor(projectTypes.knowledge, name, got.data);
  if (!kind) throw new Refusal('upload_unreadable', '这个网址的内容和它说的种类不符');
  const reader = openReader({
    seconds: settings.documentSeconds,
    owner: { person: String(userId), guest: false },
  });
  try {
    const { chunks, pictures } = await reader.passages({
      kind,
      data: new Uint8Array(got.data),
      separator: '',
      size: trainLimits.chunk.max,
    });
    if (chunks.length === 0 && pictures.length === 0)
      throw new Refusal('upload_unreadable', '这个网址里没有能读的文字，可能要用浏览器才会显示');
    const hash = createHash('sha256');
    for (const { content } of chunks) hash.update(content);
    if (chunks.length === 0) hash.update(got.data);
    return { data: got.data, name, kind, hash: hash.digest('hex') };
  } catch (error) {
    if (error instanceof UnreadableFile) throw new Refusal('upload_unreadable', error.message);
    throw error;
  } finally {
    reader.close();
  }
};

/** What stands at an address now. @throws Refusal upload_unreadable, too_many */
const read = (deps: TrainDeps, url: URL, userId: number): Promise<Got> =>
  whilePageHeld({ person: String(userId), guest: false }, () => open(deps, url, userId));

const requireRoom = async (tx: Transaction, userId: number): Promise<void> => {
  await lockKeeping(tx, `watches ${userId}`);
  if ((await store.countLive(tx, userId)) >= knowledgeLimits.watches)
    throw new Refusal(
      'training_too_many',
      `每天再读的网址最多 ${knowledgeLimits.watches} 个，请先停下一些`,
    );
};

/**
 * Reads an address, and gives what puts it with a base.
 * @throws Refusal not_found, bad_input, upload_unreadable, training_too_many, file_quota, too_many_jobs
 */
export const add = async (
  deps: TrainDeps,
  db: Executor,
  { model_id: modelId, url: given }: { model_id: number; url: string },
  user: Identity,
) => {
  const project = await ownProject(db, modelId, user);
  if (project.type !== projectTypes.knowledge)
    throw new Refusal('bad_input', '只有知识库可以读网址');
  const url = addressOf(given);
  const known = await store.watchesOf(db, modelId);
  if (known.some((watch) => watch.url === url.href))
    throw new Refusal('bad_input', '这个网址已经在这个知识库里');
  const got = await read(deps, url, user.id);
  return (executor: Executor) =>
    inTransaction(executor, async (tx) => {
      await requireRoom(tx, user.id);
      const { name, data, hash } = got;
      const file = await files.keepFile(deps, tx, { name, data, start: true, modelId }, user);
      if (!(await store.findWatch(tx, file.id)))
        await store.insertWatch(tx, { fileId: file.id, url: url.href, hash });
      return { file };
    });
};

/** @throws Refusal not_found */
export const list = async (db: Executor, modelId: number, user: Identity): Promise<Watch[]> => {
  await ownProject(db, modelId, user);
  return (await store.watchesOf(db, modelId)).map(
    ({ fileId, url, live, readAt, changedAt, changed, error }) => ({
      file_id: fileId,
      url,
      live,
      read_at: readAt.toISOString(),
      changed_at: changedAt?.toISOString() ?? null,
      changed,
      error,
    }),
  );
};

/** @throws Refusal not_found, training_too_many */
export const set = (
  db: Executor,
  { file_id: id, live }: { file_id: number; live: boolean },
  user: Identity,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await ownFile(tx, id, user);
    const watch = await store.findWatch(tx, id);
    if (!watch) throw new Refusal('not_found', '没有这个网址');
    if (live && !watch.live) await requireRoom(tx, user.id);
    await store.changeWatch(tx, id, {
      live,
      ...(live ? { failures: 0, error: '' } : {}),
    });
  });

/** Counts one failure; after too many the address is left alone, and its log says so. */
const fail = async (db: Executor, watch: store.WatchRow, why: string): Promise<void> => {
  const failures = watch.failures + 1;
  const ends = failures >= knowledgeLimits.watchFailures;
  const error = ends ? `连续 ${failures} 次没有读到，不再读了：${why}` : why;
  await store.changeWatch(db, watch.fileId, { failures, error, live: !ends });
  await fileStore.addLog(db, watch.fileId, `再读网址没有成功：${error}`);
};

/** Takes what an address holds now in the place of what it held. Gives the key that is free then. */
const takeNew = (
  deps: TrainDeps,
  watch: store.WatchRow,
  got: Got,
  ownerId: number,
  projectId: number,
) =>
  changing(deps.db, projectId, { id: ownerId }, async (tx, project) => {
    const file = await fileStore.findFile(tx, watch.fileId);
    // What is being learned now is not pulled away from under it.
    if (file?.status === fileStates.working || !file) return null;
    await lockKeeping(tx, `training ${ownerId}`);
    const all = (await fileStore.bytesOf(tx, ownerId)) - file.size + got.data.length;
    if (all > deps.settings.fileQuota) {
      await fail(tx, watch, '您的文件空间已满');
      return null;
    }
    const key = newKey();
    await deps.storage.put(key, got.data, 'application/octet-stream');
    await fileStore.changeFile(tx, file.id, {
      storageKey: key,
      size: got.data.length,
      hash: createHash('sha256').update(got.data).digest('hex'),
      kind: got.kind,
      status: fileStates.working,
      error: '',
      hopeless: false,
    });
    const now = new Date();
    await store.changeWatch(tx, file.id, {
      hash: got.hash,
      failures: 0,
      error: '',
      readAt: now,
      changedAt: now,
      changed: '内容变了，正在重新学习',
    });
    await fileStore.addLog(tx, file.id, '网址的内容变了，正在排队重新学习');
    await beginTraining(tx, project);
    return file.storageKey;
  });

/** Reads one address again, and learns it anew where its words have changed. */
const readAgain = async (deps: TrainDeps, watch: store.WatchRow): Promise<void> => {
  const { db } = deps;
  const file = await fileStore.findFile(db, watch.fileId);
  if (!file || (await isSuspended(db, file.project.userId))) return;
  const { userId, id } = file.project;
  try {
    const got = await read(deps, new URL(watch.url), userId);
    if (got.hash === watch.hash)
      await store.changeWatch(db, watch.fileId, { failures: 0, error: '', readAt: new Date() });
    else {
      const free = await takeNew(deps, watch, got, userId, id);
      if (free) await deps.storage.delete(free);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await fail(db, watch, error.message);
  }
};

const readAll = async (deps: TrainDeps, due: readonly store.WatchRow[]): Promise<void> => {
  for (const watch of due)
    try {
      await readAgain(deps, watch);
    } catch (error) {
      deps.log.warn({ err: error, file: watch.fileId }, 'a watched address was not read');
    }
};

/** Reads an address now, as if its day were over; what goes wrong is said beside it. */
export const readNow = async (deps: TrainDeps, fileId: number): Promise<void> => {
  const watch = await store.findWatch(deps.db, fileId);
  if (watch?.live) await readAll(deps, [watch]);
};

/** Takes the addresses that are due and reads them behind the transaction, one after the other. */
export const readDueAddresses = async (deps: TrainDeps, tx: Transaction): Promise<void> => {
  const due = await store.takeDue(tx, aMinute);
  void readAll(deps, due);
};

/** Notes what a watched file says that its passages do not say yet, and what it says no more. */
export const noteChanges = async (
  tx: Transaction,
  fileId: number,
  now: readonly { content: string }[],
): Promise<void> => {
  if (!(await store.findWatch(tx, fileId))) return;
  const before = await passages.texts(tx, fileId);
  if (before.length === 0) return;
  const linesOf = (texts: readonly string[]) =>
    new Set(
      texts
        .flatMap((text) => text.split('\n'))
        .map((line) => line.trim())
        .filter(Boolean),
    );
  const old = linesOf(before);
  const fresh = linesOf(now.map(({ content }) => content));
  const more = [...fresh].filter((line) => !old.has(line));
  const less = [...old].filter((line) => !fresh.has(line));
  if (more.length + less.length === 0) return;
  const first = more[0] ?? less[0] ?? '';
  const changed = `多了 ${more.length} 行，少了 ${less.length} 行；${more.length > 0 ? '如新的' : '如去掉的'}：${first.slice(0, 80)}`;
  await store.changeWatch(tx, fileId, { changed });
  await fileStore.addLog(tx, fileId, changed);
};
