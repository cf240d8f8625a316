import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { createGuard } from '#server/net/guarded-fetch.ts';

/** Its message is for people. */
export class FetchFailed extends Error {}

/** No mirror answered at all. */
export class NothingReached extends FetchFailed {}

/** Nothing can be written: another mirror does not help. */
const isOfDisk = (error: unknown): boolean => {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  return syscall === 'open' || ['ENOSPC', 'EDQUOT', 'EROFS'].includes(code);
};

/** Nothing comes for so long: the connection counts as broken, ms. */
const silenceMs = 30_000;
const mostRedirects = 5;

export interface Fetching {
  /** Addresses of the file, tried in their order. */
  addresses: readonly string[];
  /** Where it shall lie at last; `.part` behind it until it is whole and right. */
  path: string;
  /** How large the file is, bytes. */
  size: number;
  /** Expected SHA-256, hex; empty: what a mirror tells, if one does. */
  sha256: string;
  /** How it begins; of another it is said that it is not a `what`. */
  head: { bytes: string; what: string };
  guard: ReturnType<typeof createGuard>;
  signal: AbortSignal;
  progress: (bytes: number, total: number) => void;
}

export interface Fetched {
  sha256: string;
  /** Whether somebody had told it before: the file is then surely the one that was meant. */
  checked: boolean;
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const header = (value: string | string[] | undefined): string => [value ?? ''].flat()[0] ?? '';

/** A large file's SHA-256 as Hugging Face and its mirrors tell it; empty: they do not. */
const toldHash = (headers: Record<string, string | string[] | undefined>): string =>
  /^"?(?:sha256:)?([0-9a-f]{64})"?$/i
    .exec(header(headers['x-linked-etag']) || header(headers['x-sha256']))?.[1]
    ?.toLowerCase() ?? '';

/** Follows redirects, each looked at as the first address is. */
const ask = async ({ guard, signal }: Fetching, address: string, from: number) => {
  let url = new URL(address);
  let told = '';
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    guard.requireAllowed(url);
    const answer = await request(url, {
      dispatcher: guard.agent,
      signal,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      headers: { 'user-agent': 'queqiao', ...(from > 0 ? { range: `bytes=${from}-` } : {}) },
    });
    told ||= toldHash(answer.headers);
    if (answer.statusCode < 300 || answer.statusCode >= 400) return { ...answer, told };
    await answer.body.dump();
    url = new URL(header(answer.headers['location']), url);
  }
  throw new FetchFailed('转了太多次');
};

/** Takes what is missing from one mirror. Gives the hash that it told. */
const takeFrom = async (fetching: Fetching, address: string): Promise<string> => {
  const { path, size, progress } = fetching;
  const part = `${path}.part`;
  const have = await sizeOf(part);
  const answer = await ask(fetching, address, have);
  const { statusCode, headers, body } = answer;
  if (statusCode === 416) {
    await body.dump();
    return answer.told;
  }
  if (statusCode !== 200 && statusCode !== 206) {
    await body.dump();
    throw new FetchFailed(`答复 ${statusCode}`);
  }
  const goesOn = statusCode === 206;
  const start = goesOn ? have : 0;
  const total = start + Number(header(headers['content-length']) || 0);
  if (total > size) {
    body.destroy();
    throw new FetchFailed('文件比说好的大');
  }
  const file = await open(part, goesOn ? 'a' : 'w');
  let bytes = start;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > size) throw new FetchFailed('文件比说好的大');
      // All of it: a disk that is nearly full takes a part without a word.
      await file.writeFile(chunk);
      progress(bytes, total);
    }
  } finally {
    await file.close();
  }
  if (total > start && bytes < total) throw new FetchFailed('中途断了');
  return answer.told;
};

const hashOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
};

/** Whether a file begins so. */
const beginsWith = async (path: string, bytes: string): Promise<boolean> => {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return false;
  const { length } = bytes;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
  await file.close();
  return bytesRead === length && buffer.toString('latin1') === bytes;
};

/** How the file at a path was checked when it came; null: nobody noted it. */
export const checkOf = async (path: string): Promise<Fetched | null> => {
  try {
    return JSON.parse(await readFile(`${path}.check`, 'utf8')) as Fetched;
  } catch {
    return null;
  }
};

/** A lock that nobody touched for so long is a dead process's, ms. */
const takenMs = 60_000;
const touchMs = 10_000;
/** How often it is looked whether another process is done, ms. */
const lookMs = 1_000;
const self = `${hostname()} ${process.pid}`;

/** Whether whoever took a lock is there no more. */
const isLeft = async (lock: string): Promise<boolean> => {
  const told = await stat(lock).catch(() => null);
  if (!told) return true;
  if (Date.now() - told.mtimeMs > takenMs) return true;
  const by = await readFile(lock, 'utf8').catch(() => '');
  // This process takes no lock twice: it is that of one with its number before it.
  if (by === self) return true;
  const [host, pid] = by.split(' ');
  if (host !== hostname() || !Number(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH';
  }
};

/** Opens a file that nobody else has made; null: somebody did. */
const openNew = (path: string) =>
  open(path, 'wx').catch((error: unknown) => {
    if ((error as { code?: string }).code === 'EEXIST') return null;
    throw error;
  });

/** Whoever dies while it takes a lock leaves the right to do so behind for so long, ms. */
const turnMs = 10_000;

/**
 * Takes a lock, in place of one that was left. One at a time: two that find it left would each take
 * away what the other made.
 */
const takeInTurn = async (lock: string) => {
  const turn = `${lock}.turn`;
  const told = await stat(turn).catch(() => null);
  if (told && Date.now() - told.mtimeMs > turnMs) await rm(turn, { force: true });
  const mine = await openNew(turn);
  if (!mine) return null;
  try {
    if (await isLeft(lock)) await rm(lock, { force: true });
    const file = await openNew(lock);
    await file?.writeFile(self);
    return file;
  } finally {
    await mine.close();
    await rm(turn, { force: true });
  }
};

/** Has a file's part to itself, whichever process asks. Gives what lets go; null: another has it. */
export const takeFile = async (path: string): Promise<(() => Promise<void>) | null> => {
  const lock = `${path}.lock`;
  const file = await takeInTurn(lock);
  if (!file) return null;
  const timer = setInterval(() => {
    const now = new Date();
    file.utimes(now, now).catch(() => undefined);
  }, touchMs).unref();
  return async () => {
    clearInterval(timer);
    await file.close();
    await rm(lock, { force: true });
  };
};

const bring = async (fetching: Fetching): Promise<Fetched> => {
  const { addresses, path, signal } = fetching;
  const part = `${path}.part`;
  const reasons: string[] = [];
  const silent: string[] = [];
  for (const address of addresses) {
    const host = URL.canParse(address) ? new URL(address).host : address;
    try {
      const told = await takeFrom(fetching, address);
      const expected = fetching.sha256 || told;
      if (!(await beginsWith(part, fetching.head.bytes))) {
        await rm(part, { force: true });
        throw new FetchFailed(`给的不是 ${fetching.head.what}`);
      }
      const sha256 = await hashOf(part);
      if (expected !== '' && sha256 !== expected) {
        await rm(part, { force: true });
        throw new FetchFailed('给的不是原来的那个文件（校验值不符），已丢弃');
      }
      // Without a hash the size is all there is to tell another file by.
      if (expected === '' && (await sizeOf(part)) !== fetching.size) {
        await rm(part, { force: true });
        throw new FetchFailed('文件的大小与说好的不符，已丢弃');
      }
      const fetched = { sha256, checked: expected !== '' };
      await writeFile(`${path}.check`, JSON.stringify(fetched));
      await rename(part, path);
      return fetched;
    } catch (error) {
      signal.throwIfAborted();
      if (isOfDisk(error)) throw error;
      if (!(error instanceof FetchFailed)) silent.push(host);
      reasons.push(`${host}：${error instanceof FetchFailed ? error.message : '连接不上'}`);
    }
  }
  if (silent.length > 0 && silent.length === addresses.length && (await sizeOf(part)) === 0)
    throw new NothingReached(`${silent.join('、')} 都连不上：这台机器没有网络，或者被挡住了`);
  throw new FetchFailed(reasons.join('；') || '没有镜像');
};

/**
 * Brings a model here, or waits for the process that does: goes on where it was left off, tries one
 * mirror after the other, and gives the file its name only when it is whole and what it should be.
 * @throws FetchFailed
 */
export const fetchModel = async (fetching: Fetching): Promise<Fetched> => {
  const { path, signal } = fetching;
  let free = await takeFile(path);
  while (!free) {
    await sleep(lookMs, undefined, { signal });
    // The other one brought it.
    const brought = (await sizeOf(path)) > 0 ? await checkOf(path) : null;
    if (brought) return brought;
    free = await takeFile(path);
  }
  try {
    return await bring(fetching);
  } finally {
    await free();
  }
};
