import { accountOf } from '#src/platform/account-of.ts';
import { authStore } from '#src/platform/auth-store.ts';
import {
  allDrafts,
  clearDrafts,
  keepDraftsBy,
  restoreDrafts,
  settleHeld,
  takeHeld,
} from '#src/platform/draft.ts';
import { draftOwnerKey } from '#src/platform/draft-early.ts';
import type { Draft } from '#src/platform/draft-echo.ts';
import { readStored } from '#src/platform/stored.ts';
import { toast } from '#src/platform/toast.ts';
import { db, StorageFull, writing } from '#src/platform/outbox-db.ts';

/** Keeps the drafts of each account in the outbox's database. */

/** Whose drafts are in sight; empty: a visitor's or a guest's, which may become anybody's. */
const ownerNow = (): string => {
  const { token, user } = authStore.get();
  return user?.guest === true ? '' : accountOf(token);
};

let told = false;
/** @throws StorageFull, which the person has been told */
const put = async (account: string, drafts: ReadonlyMap<string, Draft>): Promise<void> => {
  try {
    await writing(() =>
      db.transaction('rw', db.drafts, async () => {
        // An empty one says that what is echoed of it is over. One that is on its way while its
        // words are sent may come here later than that they were.
        const known = await db.drafts.bulkGet([...drafts.keys()].map((key) => [account, key]));
        const newer = [...drafts].filter(([, { at }], place) => (known[place]?.at ?? -1) <= at);
        await db.drafts.bulkPut(newer.map(([key, draft]) => ({ account, key, ...draft })));
      }),
    );
  } catch (error) {
    if (error instanceof StorageFull && !told) {
      toast('手机存储已满，正在写的内容只在页面开着时留着，请清理一些空间', 'error');
      told = true;
    }
    throw error;
  }
};

/** Whose drafts are in sight in this tab: another one may be another person's already. */
let owner = readStored(draftOwnerKey);
const own = (next: string): void => {
  owner = next;
  if (next === '') localStorage.removeItem(draftOwnerKey);
  else localStorage.setItem(draftOwnerKey, next);
};

/**
 * Writes acts down and, in the same transaction, that the boxes they come from are empty: a text is
 * never in both, and never in neither.
 */
export const withEmptied = async (
  boxes: readonly string[],
  write: () => Promise<void>,
): Promise<void> => {
  const emptied = new Map(boxes.flatMap((box) => [...takeHeld(box)]));
  let written = false;
  try {
    await db.transaction('rw', db.acts, db.blobs, db.notes, db.drafts, async () => {
      await write();
      for (const [key, draft] of emptied) await db.drafts.put({ account: owner, key, ...draft });
    });
    written = true;
  } finally {
    settleHeld(emptied, written);
  }
};

/** The quick storage has been written to the disk after so long, ms: what it had there is gone. */
const echoesLast = 24 * 3_600_000;

const bringBack = async (account: string, atStart = false): Promise<void> => {
  const kept = await db.drafts.where('account').equals(account).toArray();
  restoreDrafts(
    kept.map(({ key, text, at }) => [key, { text, at }]),
    atStart,
  );
  const over = kept.filter(({ text, at }) => text === '' && at < Date.now() - echoesLast);
  await db.drafts.bulkDelete(over.map(({ key }) => [account, key]));
};

/** What is in sight belongs to nobody. */
export const forgetOwner = (): void => own('');

/** Another person is here: what the former one wrote is put away until they come back. */
export const followDrafts = async (): Promise<void> => {
  const next = ownerNow();
  if (owner !== '' && readStored(draftOwnerKey) !== owner) {
    // Another tab has let that person go, and deleted what they wrote.
    clearDrafts();
    owner = '';
  }
  if (next === '' || next === owner) return;
  if (owner !== '') {
    // Where there is no room for it, the next person sees it no more than otherwise.
    await put(owner, allDrafts()).finally(clearDrafts);
  }
  own(next);
  await bringBack(next);
};

export const startKeeping = async (): Promise<void> => {
  await followDrafts();
  await bringBack(owner, true);
  keepDraftsBy((changed) => put(owner, changed));
  // What another tab did while the browser held this one still.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void bringBack(owner).catch(() => undefined);
  });
};
