import { buffer } from 'node:stream/consumers';
import type { Executor } from '#server/db/database.ts';
import { type Held, rowsTaken } from '#server/db/held.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { transactionCsv } from '../ledger/usage.service.ts';
import { anySession, type SessionRow, sessionIdsOf } from '../session/session.service.ts';
import * as store from './account.store.ts';

/** A file of the zip; how much is done by then, 0 to 1. */
export interface AccountData {
  name: string;
  data: { bytes: Buffer; packed: boolean };
  done: number;
}

export interface AccountSources {
  storage: Storage;
  /** What the account says of itself. */
  profile: (db: Executor, userId: number) => Promise<unknown>;
  orders: (
    db: Executor,
    userId: number,
    page: number,
  ) => Promise<{ list: unknown[]; page_count: number }>;
  /** Apps that were bought, and what was said of apps. */
  apps: (db: Executor, userId: number) => Promise<unknown>;
  /** A session with all its messages, as it can be taken in again. */
  session: (db: Executor, session: SessionRow, signal: AbortSignal) => Promise<Buffer>;
  /** All places that hold what is a person's. */
  held: () => readonly Held[];
  /** What was brought to train on. */
  trainingFiles: (
    db: Executor,
    userId: number,
  ) => Promise<{ project: string; name: string; storageKey: string | null }[]>;
}

const readme = `鹊桥账户数据

account.json       账户资料与设置
orders.json        订单
consumption.csv    消费记录
apps.json          应用市场：取得的应用与写过的评论
sessions/          会话，每个一个 JSON，可以在“我的 → 导入会话”原样导入
images/            上传与画出的图片
training/          训练项目的文件
more/              其余的一切，每个表一个 JSON，大的分成几个
`;

const sessionsAtOnce = 100;
const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value, null, 2));

/** Bytes of a file after which another one begins. */
const fileBytes = 8 * 1024 * 1024;

/** The rows of a place in files that each fit into memory; one that is empty, where there are none. */
async function* piecesOf(db: Executor, place: Held, userId: number): AsyncGenerator<Buffer> {
  let rows: string[] = [];
  let bytes = 0;
  let any = false;
  const file = (): Buffer => {
    const made = Buffer.from(`[${rows.join(',\n')}]`);
    rows = [];
    bytes = 0;
    any = true;
    return made;
  };
  for await (const some of rowsTaken(db, place, userId)) {
    rows.push(...some);
    bytes += some.reduce((sum, row) => sum + row.length, 0);
    if (bytes > fileBytes) yield file();
  }
  if (rows.length > 0 || !any) yield file();
}

/** All that is a person's, a file after the other. */
export const createAccountData = (sources: AccountSources) =>
  async function* (db: Executor, userId: number, signal: AbortSignal): AsyncGenerator<AccountData> {
    const plain = (name: string, bytes: Buffer, done: number): AccountData => ({
      name,
      data: { bytes, packed: false },
      done,
    });
    yield plain('readme.txt', Buffer.from(readme), 0);
    yield plain('account.json', text(await sources.profile(db, userId)), 0.01);
    const orders: unknown[] = [];
    for (let page = 1, count = 1; page <= count; page += 1) {
      const { list, page_count } = await sources.orders(db, userId, page);
      orders.push(...list);
      count = page_count;
    }
    yield plain('orders.json', text(orders), 0.02);
    yield plain('apps.json', text(await sources.apps(db, userId)), 0.03);
    const lines: string[] = [];
    for await (const piece of transactionCsv(db, userId, {}).pieces) lines.push(piece);
    yield plain('consumption.csv', Buffer.from(lines.join('')), 0.05);
    let after = 0;
    for (let nth = 0; ; nth += 1) {
      const ids = await sessionIdsOf(db, userId, after, sessionsAtOnce);
      for (const { id, uuid } of ids) {
        signal.throwIfAborted();
        const session = await anySession(db, uuid);
        if (!session) continue;
        const bytes = await sources.session(db, session, signal);
        yield plain(`sessions/${uuid}.json`, bytes, Math.min(0.6, 0.05 + nth * 0.02));
        after = id;
      }
      if (ids.length < sessionsAtOnce) break;
    }
    const files = new Map<string, number>();
    for (const place of sources.held()) {
      if (!place.take) continue;
      for await (const rows of piecesOf(db, place, userId)) {
        signal.throwIfAborted();
        const nth = (files.get(place.table) ?? 0) + 1;
        files.set(place.table, nth);
        yield plain(`more/${place.table}${nth === 1 ? '' : `-${nth}`}.json`, rows, 0.6);
      }
    }
    for (const [nth, each] of (await sources.trainingFiles(db, userId)).entries()) {
      signal.throwIfAborted();
      const file = each.storageKey === null ? null : await sources.storage.get(each.storageKey);
      if (!file) continue;
      const data = { bytes: await buffer(file.stream), packed: false };
      yield { name: `training/${each.project}/${nth + 1}-${each.name}`, data, done: 0.6 };
    }
    const images = await store.imagesOf(db, userId);
    for (const [nth, name] of images.entries()) {
      signal.throwIfAborted();
      const file = await sources.storage.get(name);
      if (!file) continue;
      const data = { bytes: await buffer(file.stream), packed: true };
      yield { name: `images/${name}`, data, done: 0.6 + (0.4 * (nth + 1)) / images.length };
    }
  };
