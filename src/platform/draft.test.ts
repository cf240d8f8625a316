import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type * as Drafts from './draft.ts';

const quick = new Map<string, string>();
const storage = {
  getItem: (key: string) => quick.get(key) ?? null,
  setItem: (key: string, value: string) => void quick.set(key, value),
  removeItem: (key: string) => void quick.delete(key),
};

/** The module as a page that has just been opened has it. */
const open = async (): Promise<typeof Drafts> => {
  vi.resetModules();
  return import('./draft.ts');
};

beforeEach(() => {
  quick.clear();
  vi.useFakeTimers({ now: 1_000_000 });
  vi.stubGlobal('localStorage', storage);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const kept = (text: string, at: number) => [['a', { text, at }] as const];

test('what the browser lost when it was killed comes back, and nothing older', async () => {
  quick.set('queqiao.draft.a', '5000:newer');
  let drafts = await open();
  drafts.restoreDrafts(kept('older', 4_000));
  expect(drafts.readDraft('a')).toBe('newer');
  quick.clear();
  drafts = await open();
  drafts.restoreDrafts(kept('kept', 4_000));
  expect(drafts.readDraft('a')).toBe('kept');
});

test('what was written before the page’s code was there is newer than what was kept under a clock that ran ahead', async () => {
  const drafts = await open();
  drafts.takeDraft('a', 'just written');
  drafts.restoreDrafts(kept('of a day ahead', 90_000_000));
  expect(drafts.readDraft('a')).toBe('just written');
  // And so it stays for the next life of the page, which has the echo alone.
  drafts.writeDraft('a', 'written on');
  const later = await open();
  later.restoreDrafts(kept('of a day ahead', 90_000_000));
  expect(later.readDraft('a')).toBe('written on');
});

test('a text that could not be kept is kept with the next one, and its echo stays', async () => {
  const drafts = await open();
  const saved: string[] = [];
  let full = true;
  drafts.keepDraftsBy(async (changed) => {
    if (full) throw new Error('full');
    for (const [key, { text }] of changed) saved.push(`${key}:${text}`);
  });
  drafts.writeDraft('a', 'sent');
  drafts.writeDraft('a', '');
  await vi.advanceTimersByTimeAsync(1_000);
  // Without it an older text in the database would come back.
  expect(quick.get('queqiao.draft.a')).toMatch(/^\d+:$/);
  full = false;
  drafts.writeDraft('b', 'more');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved.sort()).toEqual(['a:', 'b:more']);
  expect(quick.has('queqiao.draft.a')).toBe(false);
});

test('what a page that was left in haste had only echoed is kept by the next one', async () => {
  // As the browser's own, whose keys are what is stored.
  const stored = Object.create(storage) as Record<string, string>;
  const echo = (key: string, value: string) => {
    quick.set(`queqiao.draft.${key}`, value);
    stored[`queqiao.draft.${key}`] = value;
  };
  vi.stubGlobal('localStorage', stored);
  echo('a', '5000:newer');
  echo('b', '5000:only echoed');
  echo('c', '5000:as kept');
  const drafts = await open();
  const saved: string[] = [];
  drafts.restoreDrafts([
    ['a', { text: 'older', at: 4_000 }],
    ['c', { text: 'as kept', at: 5_000 }],
  ]);
  drafts.keepDraftsBy(async (changed) => {
    for (const [key, { text }] of changed) saved.push(`${key}:${text}`);
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved.sort()).toEqual(['a:newer', 'b:only echoed']);
});

test('what is being sent does not come back while the database is read', async () => {
  const stored = Object.create(storage) as Record<string, string>;
  vi.stubGlobal('localStorage', stored);
  quick.set('queqiao.draft.a', '5000:sent');
  stored['queqiao.draft.a'] = '5000:sent';
  const drafts = await open();
  const saved: string[] = [];
  drafts.keepDraftsBy(async (changed) => {
    for (const [key, { text }] of changed) saved.push(`${key}:${text}`);
  });
  drafts.readDraft('a');
  const release = drafts.holdBox('a');
  drafts.writeDraft('a', '');
  drafts.restoreDrafts([]);
  drafts.restoreDrafts([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual([]);
  expect(drafts.readDraft('a')).toBe('');
  release();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(saved).toEqual(['a:']);
});

test('nothing that was written or emptied since the start is overwritten by what a slow database says later', async () => {
  const stored = Object.create(storage) as Record<string, string>;
  vi.stubGlobal('localStorage', stored);
  // Under a clock that ran ahead, and longer than the first screen waits.
  const ahead = 90_000_000;
  const rows = ['sent', 'written', 'leaving', 'untouched'].map((key) => ({
    account: '',
    key,
    text: `old ${key}`,
    at: ahead,
  }));
  let answer: (kept: typeof rows) => void = () => undefined;
  const reading = new Promise<typeof rows>((resolve) => {
    answer = resolve;
  });
  vi.stubGlobal('window', { queqiaoDrafts: reading });
  const drafts = await open();
  const database = new Map<string, { text: string; at: number }>();
  drafts.keepDraftsBy(async (changed) => {
    for (const [key, draft] of changed) database.set(key, draft);
  });
  const shown = drafts.draftsRead();
  await vi.advanceTimersByTimeAsync(600);
  await shown;

  drafts.writeDraft('written', 'new words');
  drafts.writeDraft('sent', 'on its way');
  const release = drafts.holdBox('sent');
  drafts.writeDraft('sent', '');
  const gone = drafts.takeHeld('sent');
  for (const [key, draft] of gone) database.set(key, draft);
  drafts.settleHeld(gone, true);
  release();
  drafts.writeDraft('leaving', 'on its way');
  await vi.advanceTimersByTimeAsync(1_000);
  // All of it has been kept by now; only this one still waits for its act.
  const releaseLeaving = drafts.holdBox('leaving');
  drafts.writeDraft('leaving', '');

  answer(rows);
  await vi.advanceTimersByTimeAsync(1_000);
  const read = () =>
    ['sent', 'written', 'leaving', 'untouched'].map((key) => drafts.readDraft(key));
  expect(read()).toEqual(['', 'new words', '', 'old untouched']);
  // The outbox reads the database, too, once it is there.
  drafts.restoreDrafts(
    rows.map(({ key, text, at }) => [key, { text, at }]),
    true,
  );
  expect(read()).toEqual(['', 'new words', '', 'old untouched']);
  expect(database.get('leaving')?.text).toBe('on its way');
  releaseLeaving();
  await vi.advanceTimersByTimeAsync(1_000);
  // And the next life of the page finds it so.
  for (const [key, text] of [
    ['sent', ''],
    ['written', 'new words'],
    ['leaving', ''],
  ] as const) {
    expect(database.get(key)?.text, key).toBe(text);
    expect(database.get(key)?.at, key).toBeGreaterThan(ahead);
  }
  // What another tab wrote afterwards is newer than that.
  drafts.restoreDrafts([['written', { text: 'by another tab', at: ahead + 1_000_000 }]]);
  expect(drafts.readDraft('written')).toBe('by another tab');
});

test('what rests on a draft waits until it is in the database, also while an older one is on its way there', async () => {
  const drafts = await open();
  const saves: { texts: string[]; done: () => void }[] = [];
  drafts.keepDraftsBy(
    (batch) =>
      new Promise((resolve) => {
        saves.push({ texts: [...batch.values()].map(({ text }) => text), done: resolve });
      }),
  );
  drafts.writeDraft('sound', 'a piece');
  await vi.advanceTimersByTimeAsync(100);
  let kept = false;
  void drafts.keepDrafts().then(() => (kept = true));
  await vi.advanceTimersByTimeAsync(1000);
  expect(kept).toBe(false);
  saves[0]?.done();
  await vi.advanceTimersByTimeAsync(0);
  expect(kept).toBe(true);
  kept = false;
  drafts.writeDraft('sound', 'all of it');
  void drafts.keepDrafts().then(() => (kept = true));
  await vi.advanceTimersByTimeAsync(0);
  expect([saves.map(({ texts }) => texts), kept]).toEqual([[['a piece'], ['all of it']], false]);
});

test('a draft on its way to the database takes the place of no newer one there', async () => {
  const rows = new Map<string, { text: string; at: number }>();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.doMock('./outbox-db.ts', () => ({
    StorageFull: Error,
    writing: (write: () => Promise<void>) => write(),
    db: {
      transaction: async (...given: unknown[]) => (given.at(-1) as () => Promise<void>)(),
      drafts: {
        where: () => ({ equals: () => ({ toArray: async () => [] }) }),
        bulkDelete: async () => undefined,
        bulkGet: async (keys: [string, string][]) => keys.map(([, key]) => rows.get(key)),
        bulkPut: async (kept: { key: string; text: string; at: number }[]) => {
          for (const { key, text, at } of kept) rows.set(key, { text, at });
        },
      },
    },
  }));
  const drafts = await open();
  const { startKeeping } = await import('./outbox/draft-keeper.ts');
  await startKeeping();
  drafts.writeDraft('a', 'typed');
  drafts.writeDraft('b', 'typed, too');
  // Meanwhile its words were sent, and with that the box is empty.
  rows.set('a', { text: '', at: Date.now() + 50 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(rows.get('a')?.text).toBe('');
  expect(rows.get('b')?.text).toBe('typed, too');
  vi.doUnmock('./outbox-db.ts');
});
