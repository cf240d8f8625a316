import { accountOf } from '@/platform/account-of.ts';
import { authStore } from '@/platform/auth-store.ts';
import { allDrafts, clearDrafts, keepDraftsBy, restoreDrafts } from '@/platform/draft.ts';
import type { Draft } from '@/platform/draft-echo.ts';
import { toast } from '@/platform/toast.ts';
import { db, StorageFull, writing } from '@/platform/outbox-db.ts';

/** Keeps the drafts of each account in the outbox's database. */

const ownerKey = 'queqiao.drafts-of';
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
        // An empty one says that what is echoed of it is over.
        for (const [key, draft] of drafts) await db.drafts.put({ account, key, ...draft });
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

const bringBack = async (account: string): Promise<void> => {
  const kept = await db.drafts.where('account').equals(account).toArray();
  restoreDrafts(kept.map(({ key, text, at }) => [key, { text, at }]));
  const empty = kept.filter(({ text }) => text === '');
  await db.drafts.bulkDelete(empty.map(({ key }) => [account, key]));
};

/** What is in sight belongs to nobody. */
export const forgetOwner = (): void => localStorage.removeItem(ownerKey);

/** Another person is here: what the former one wrote is put away until they come back. */
export const followDrafts = async (): Promise<void> => {
  const owner = ownerNow();
  const before = localStorage.getItem(ownerKey) ?? '';
  if (owner === '' || owner === before) return;
  if (before !== '') {
    // Where there is no room for it, the next person sees it no more than otherwise.
    await put(before, allDrafts()).finally(clearDrafts);
  }
  localStorage.setItem(ownerKey, owner);
  await bringBack(owner);
};

export const startKeeping = async (): Promise<void> => {
  await followDrafts();
  const owner = () => localStorage.getItem(ownerKey) ?? '';
  await bringBack(owner());
  keepDraftsBy((changed) => put(owner(), changed));
};
