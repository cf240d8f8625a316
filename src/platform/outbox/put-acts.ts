import { actStore, db, StorageFull, writing } from '#src/platform/outbox-db.ts';
import { withEmptied } from './draft-keeper.ts';
import { holdNote, note, notePrefix } from '#src/platform/outbox-state.ts';
import type { Act, NewAct } from '#common/outbox/act.ts';

/**
 * What found no room on this device. It is sent all the same, as long as this page lives; the quick
 * storage has a note of it, which may outlive the page.
 */

/** Each ends the lock by which other tabs leave a note alone. */
const ends = new Map<string, () => void>();

/** Takes note of an act that is in memory alone. */
const noteHeld = (act: NewAct, box: string): void => {
  if (ends.has(act.key)) return;
  ends.set(act.key, holdNote(act.key));
  note(act, box);
};

/** Notes of what is held no more go. */
export const endHeld = (): void => {
  const there = new Set(actStore.held().map(({ key }) => key));
  for (const [key, end] of ends) {
    if (there.has(key)) continue;
    ends.delete(key);
    localStorage.removeItem(notePrefix + key);
    end();
  }
};

/** Writes down what is held, in its order. Rejects where there is still no room. */
export const writeHeld = async (): Promise<void> => {
  for (const { id, ...act } of actStore.held()) {
    const as = await db.acts.add(act);
    // It was sent meanwhile.
    if (!actStore.written(id, as)) await db.acts.delete(as);
    else actStore.added({ ...act, id: as });
  }
};

/** Two acts of which the later makes the earlier needless. */
const replaces = (next: NewAct, former: NewAct): boolean => {
  if (former.lane !== next.lane) return false;
  const target = (act: NewAct) => (act.input as { history_id?: unknown }).history_id;
  if (next.name === 'historyLike')
    return former.name === 'historyLike' && target(former) === target(next);
  if (next.name === 'updateMessage')
    return former.name === 'updateMessage' && former.input.id === next.input.id;
  const marks: readonly string[] = ['addToFavorites', 'removeFromFavorites'];
  if (marks.includes(next.name))
    return marks.includes(former.name) && target(former) === target(next);
  // Nothing that was written into a session has to arrive before it is deleted.
  return next.name === 'deleteSession';
};

/** Where acts are put: the database, or memory. */
interface Place {
  all: () => Promise<Act[]>;
  remove: (ids: readonly number[]) => Promise<void>;
  add: (act: Omit<Act, 'id'>) => unknown;
}
const inDatabase: Place = {
  all: () => db.acts.toArray(),
  remove: (ids) => db.acts.bulkDelete([...ids]),
  add: async (act) => {
    const id = await db.acts.add(act);
    actStore.added({ ...act, id } as Act);
  },
};
const inMemory: Place = {
  all: actStore.all,
  remove: async (ids) => actStore.drop(ids),
  add: actStore.hold,
};

const putInto = async (
  place: Place,
  acts: readonly NewAct[],
  account: string,
  tried: boolean,
): Promise<void> => {
  for (const act of acts) {
    const there = await place.all();
    if (there.some(({ key }) => key === act.key)) continue;
    const needless = there.filter((each) => each.account === account && replaces(act, each));
    await place.remove(needless.map(({ id }) => id));
    // A session that never left this device is gone with that.
    if (
      act.name === 'deleteSession' &&
      needless.some(({ name, tries }) => name === 'newSession' && tries === 0)
    )
      continue;
    await place.add({ ...act, account, tries: tried ? 1 : 0, faults: 0, failed: null });
  }
};

/**
 * Writes acts down. False: there was no room for them, and this page alone has them.
 * @param tried the server may have heard of them
 */
export const put = async (
  acts: readonly NewAct[],
  account: string,
  tried: boolean,
  /** Boxes that they come from. */
  boxes: readonly string[] = acts.map(({ lane }) => lane),
): Promise<boolean> => {
  try {
    await writing(async () => {
      // What was held before comes before.
      await writeHeld();
      await withEmptied(boxes, async () => {
        // What is written down here needs no note any more: another life would do it once more.
        await db.notes.bulkDelete(acts.map(({ key }) => key));
        await putInto(inDatabase, acts, account, tried);
      });
    });
    for (const { key } of acts) localStorage.removeItem(notePrefix + key);
    return true;
  } catch (error) {
    if (!(error instanceof StorageFull)) throw error;
  }
  await putInto(inMemory, acts, account, tried);
  for (const [at, act] of acts.entries()) noteHeld(act, boxes[at] ?? act.lane);
  return false;
};
