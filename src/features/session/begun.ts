import { readJson } from '#src/platform/read-json.ts';
import { accountOf } from '#src/platform/account-of.ts';
import { isOffline } from '#src/platform/api-error.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { serverApi } from '#src/platform/server-api.ts';
import { hasUnsentIn } from '#src/platform/unsent.ts';

/**
 * A question and its session are two calls; between them a page may be killed. Sessions that were
 * begun for a question are noted, and the next life of the page takes away those that stayed empty;
 * their words go back into the box that they were asked from.
 */
interface Begun {
  account: string;
  uuid: string;
  at: number;
}

/** Among the drafts, which a kill leaves. */
const place = 'start:begun';
/** A call that a killed page made may reach the server so much later, ms. */
const latest = 5 * 60_000;
const lockOf = (uuid: string): string => `queqiao begun ${uuid}`;
/** Without them nobody knows whether another tab still works on one. */
const locks = (): LockManager | undefined => globalThis.navigator?.locks;

const read = (): Begun[] => readJson<Begun[]>(readDraft(place), []);
const change = (to: (all: Begun[]) => Begun[]): void => {
  const all = to(read()).slice(-10);
  writeDraft(place, all.length === 0 ? '' : JSON.stringify(all));
};
const forget = (uuid: string): void => change((all) => all.filter((each) => each.uuid !== uuid));

/** Notes that a session is begun for a question, as long as this page lives its own. */
export const noteBegun = (uuid: string): void => {
  const account = accountOf(authStore.get().token);
  if (account === '' || !locks()) return;
  forget(uuid);
  change((all) => [...all, { account, uuid, at: Date.now() }]);
  void locks()?.request(lockOf(uuid), () => new Promise(() => undefined));
};

const clear = async ({ uuid, at }: Begun): Promise<void> => {
  if (hasUnsentIn(uuid)) return;
  try {
    const { total } = await serverApi.historyList({ session_id: uuid }, { quiet: true });
    if (total === 0) {
      const words = readDraft(uuid);
      if (words !== '' && readDraft('home') === '') writeDraft('home', words);
      if (words !== '' && readDraft('home') !== words) return;
      writeDraft(uuid, '');
      await serverApi.deleteSession({ session_id: uuid }, { quiet: true });
      await refreshScreens();
    }
    forget(uuid);
  } catch (error) {
    // It may not have arrived yet, or the line is gone: the next page looks again.
    if (!isOffline(error) && Date.now() - at > latest) forget(uuid);
  }
};

const clearAll = async (): Promise<void> => {
  const account = accountOf(authStore.get().token);
  for (const each of read())
    if (each.account === account)
      await locks()?.request(lockOf(each.uuid), { ifAvailable: true }, async (lock) => {
        if (lock) await clear(each);
      });
};

/** Takes away what pages that were killed began and did not ask. */
export const clearBegun = (): void => {
  clearAll().catch(() => undefined);
};
