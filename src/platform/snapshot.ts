import { accountOf } from './account-of.ts';
import { readStored } from './stored.ts';

/** The snapshot of a screen that src/app/take-snapshot.ts takes and src/app/boot.ts shows. */
export interface Snapshot {
  account: string;
  address: string;
  /** Style sheets that it needs. */
  styles: string[];
  html: string;
}

export type SnapshotPlace = 'home' | 'chat';
const keyOf = (place: SnapshotPlace): string => `queqiao.picture.${place}`;

/** Which snapshot an address has, and of what; null: none. */
export const snapshotAt = ({
  pathname,
  search,
}: Pick<Location, 'pathname' | 'search'>): [SnapshotPlace, string] | null => {
  if (pathname === '/' && (search === '' || search === '?channel=private')) return ['home', ''];
  const uuid = /^\?uuid=([\w-]{36})$/.exec(search)?.[1];
  return pathname === '/chat' && uuid !== undefined ? ['chat', uuid] : null;
};

/** Of this person and address; null: there is none. */
export const readSnapshot = (
  at: Pick<Location, 'pathname' | 'search'>,
  token: string,
): Snapshot | null => {
  const found = snapshotAt(at);
  if (!found) return null;
  try {
    const snapshot = JSON.parse(readStored(keyOf(found[0])) || 'null') as Snapshot | null;
    return snapshot?.account === accountOf(token) && snapshot.address === found[1]
      ? snapshot
      : null;
  } catch {
    return null;
  }
};

/** Nothing that a person read stays in sight. */
export const forgetSnapshots = (): void => {
  try {
    for (const place of ['home', 'chat'] as const) localStorage.removeItem(keyOf(place));
  } catch {
    // Forbidden storage holds nothing.
  }
};

export const keepSnapshot = (place: SnapshotPlace, snapshot: Snapshot): void => {
  try {
    if (snapshot.html === '') localStorage.removeItem(keyOf(place));
    else localStorage.setItem(keyOf(place), JSON.stringify(snapshot));
  } catch {
    // Full or forbidden: the next start shows empty boxes.
    forgetSnapshots();
  }
};
