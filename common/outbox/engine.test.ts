import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  judge,
  nextOf,
  type Act,
  type ActStore,
  type Failure,
  type Line,
  type NewAct,
  type News,
} from './act.ts';
import { createEngine } from './engine.ts';
import { withParts } from './send-act.ts';
import { withoutRoom } from './store.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'Date', 'setTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const failure = (status: number, code = status): Failure => ({
  status,
  code,
  message: `status ${status}`,
  wait: 0,
});

const message = (key: string, lane = 'a'): NewAct => ({
  name: 'sendMessage',
  key,
  lane,
  input: { session_id: lane, msg: key },
  made: '2026-01-01T00:00:00.000Z',
  before: 0,
});

const memory = (): ActStore & { acts: Act[]; add: (act: NewAct, account?: string) => void } => {
  let acts: Act[] = [];
  let next = 1;
  return {
    get acts() {
      return acts;
    },
    add: (act, account = '7') => {
      const more = { id: next++, account, tries: 0, faults: 0, failed: null };
      acts.push({ ...act, ...more });
    },
    all: async () => structuredClone(acts),
    change: async (id, change) => {
      const at = acts.findIndex((each) => each.id === id);
      const act = acts[at];
      if (!act) return false;
      acts[at] = { ...act, ...change };
      return true;
    },
    remove: async (ids) => {
      acts = acts.filter(({ id }) => !ids.includes(id));
    },
    blob: async () => undefined,
  };
};

interface Kept {
  id: number;
  human: string;
  lane: string;
  created_at: string;
  beside: null;
}

/** A server that knows keys for a while, and does what the test wants with each request. */
const fakeServer = () => {
  const kept: Kept[] = [];
  const keys = new Map<string, Kept>();
  const take = (act: NewAct): Kept => {
    const known = keys.get(act.key);
    if (known) return known;
    const human = act.name === 'sendMessage' ? act.input.msg : act.key;
    const made: Kept = { id: kept.length + 1, human, lane: act.lane, created_at: '', beside: null };
    kept.push(made);
    keys.set(act.key, made);
    return made;
  };
  return { kept, keys, take };
};

const lineOf = (over: Partial<Line>): Line & { news: News[] } => {
  const news: News[] = [];
  return {
    news,
    account: () => '7',
    call: async () => ({ id: 1, msg: '', created_at: '', beside: null }),
    draw: async () => ({}),
    upload: async () => ({ url: '/files/a.png', uuid: '', name: 'a.png', size: 1 }),
    newer: async () => [],
    tell: (each) => news.push(each),
    ...over,
  };
};

test('what a failure means', () => {
  expect(judge('sendMessage', failure(0))).toBe('again');
  expect(judge('sendMessage', failure(503))).toBe('again');
  expect(judge('sendMessage', failure(429))).toBe('again');
  expect(judge('sendMessage', failure(200, 500))).toBe('again');
  expect(judge('sendMessage', failure(500))).toBe('fault');
  expect(judge('sendMessage', failure(200, 1409))).toBe('busy');
  expect(judge('sendMessage', failure(401))).toBe('signed-out');
  expect(judge('sendMessage', failure(200, 1025))).toBe('refused');
  expect(judge('deleteSession', failure(200, 1433))).toBe('done');
  expect(judge('deleteHistory', failure(404))).toBe('done');
});

test('a message whose login has ended waits for it, though reading its session is refused', async () => {
  const store = memory();
  store.add(message('one'));
  store.acts[0]!.tries = 1;
  let ended = true;
  const sent: string[] = [];
  const line = lineOf({
    newer: async () => {
      if (ended) throw failure(403, 1432);
      return [];
    },
    call: async (act) => {
      if (ended) throw failure(401);
      sent.push(act.key);
      return { id: 1 };
    },
  });
  const engine = createEngine(store, line);
  await engine.run();
  expect(store.acts.map(({ failed }) => failed)).toEqual([null]);
  ended = false;
  engine.wake();
  await engine.run();
  expect(sent).toEqual(['one']);
});

test('what is refused once nobody is signed in any more is not the message’s', async () => {
  const store = memory();
  store.add(message('one'));
  let account = '7';
  const line = lineOf({
    account: () => account,
    call: async () => {
      account = '';
      throw failure(403, 1432);
    },
  });
  await createEngine(store, line).run();
  expect(store.acts.map(({ failed }) => failed)).toEqual([null]);
});

test('a refused message holds up what was written after it, and nothing else', async () => {
  const store = memory();
  store.add(message('one'));
  store.add(message('two'));
  store.add({ ...message('like'), name: 'historyLike', input: { session_id: 'a', history_id: 1 } });
  store.add(message('other', 'b'));
  const sent: string[] = [];
  const line = lineOf({
    call: async (act) => {
      if (act.key === 'one') throw failure(200, 1025);
      sent.push(act.key);
      return { id: 1 };
    },
  });
  expect(await createEngine(store, line).run()).toBeNull();
  expect(sent.sort()).toEqual(['like', 'other']);
  expect(store.acts.map(({ key, failed }) => [key, failed?.code])).toEqual([
    ['one', 1025],
    ['two', undefined],
  ]);
});

test('anything else that is refused is undone and told', async () => {
  const store = memory();
  const input = { session_id: 'a', private: 0 } as const;
  store.add({ ...message('privacy'), name: 'setSession', input });
  const line = lineOf({ call: () => Promise.reject(failure(200, 1434)) });
  await createEngine(store, line).run();
  expect(store.acts).toEqual([]);
  expect(line.news.at(-1)).toMatchObject({ type: 'undone', message: 'status 200' });
});

test('nobody sends what is another account’s', async () => {
  const store = memory();
  store.add(message('mine'), '7');
  store.add(message('theirs'), '8');
  const sent: string[] = [];
  const line = lineOf({ call: async ({ key }) => sent.push(key) && { id: 1 } });
  expect(await createEngine(store, line).run()).toBeNull();
  expect(sent).toEqual(['mine']);
  expect(store.acts.map(({ key }) => key)).toEqual(['theirs']);
});

test('a faulty server is asked some times, then the person', async () => {
  const store = memory();
  store.add(message('poison'));
  let tries = 0;
  const engine = createEngine(
    store,
    lineOf({
      call: () => {
        tries += 1;
        return Promise.reject(failure(500));
      },
    }),
  );
  for (let wait = await engine.run(); wait !== null; wait = await engine.run())
    vi.advanceTimersByTime(wait + 1);
  expect(tries).toBe(6);
  expect(store.acts[0]?.failed?.message).toBe('status 500');
});

test.each([
  ['full', 'QuotaExceededError'],
  ['Connection is closing because of: IO error: 000003.log: FILE_ERROR_NO_SPACE', 'UnknownError'],
  ['Internal error opening backing store for indexedDB.open.', 'UnknownError'],
])('a device that can write nothing down sends all the same, once: %s', async (words, name) => {
  const full = () => Promise.reject(new DOMException(words, name));
  const kept = memory();
  kept.add(message('one'));
  kept.add(message('two'));
  const store = withoutRoom({ ...kept, change: full, remove: full });
  const sent: string[] = [];
  let fails = 1;
  const engine = createEngine(store, {
    account: () => '7',
    tell: () => {},
    call: async (act) => {
      if (fails-- > 0) throw failure(0);
      sent.push(act.key);
      return { id: sent.length, msg: act.key, created_at: '', beside: null };
    },
    draw: async () => ({}),
    upload: () => Promise.reject(failure(0)),
    newer: async () => [],
  });
  await engine.run();
  expect(sent).toEqual([]);
  engine.wake();
  expect(await engine.run()).toBeNull();
  expect(await engine.run()).toBeNull();
  expect(sent).toEqual(['one', 'two']);
});

test('what a device can neither read nor write is sent from memory, once and in order', async () => {
  const kept = memory();
  kept.add(message('one'));
  let isOpen = true;
  const whenOpen =
    <In extends unknown[], Out>(does: (...given: In) => Promise<Out>) =>
    (...given: In): Promise<Out> =>
      isOpen ? does(...given) : Promise.reject(new DOMException('closed', 'AbortError'));
  const store = withoutRoom({
    all: whenOpen(kept.all),
    change: whenOpen(kept.change),
    remove: whenOpen(kept.remove),
    blob: whenOpen(kept.blob),
  });
  await store.all();
  isOpen = false;
  const later = { account: '7', tries: 0, faults: 0, failed: null };
  for (const key of ['two', 'three']) store.hold({ ...message(key), ...later });
  const sent: string[] = [];
  const line = lineOf({
    call: async ({ key }) => {
      sent.push(key);
      // While it is on its way there is room again, and the next is written down.
      if (key !== 'two') return { id: sent.length };
      isOpen = true;
      const [, third] = store.held();
      kept.add(message('three'));
      expect(store.written(third!.id, kept.acts.at(-1)!.id)).toBe(true);
      return { id: sent.length };
    },
  });
  expect(await createEngine(store, line).run()).toBeNull();
  expect(sent).toEqual(['one', 'two', 'three']);
  expect(store.held()).toEqual([]);
  // What a full disk could not forget is known to be done as long as this lives.
  expect(await store.all()).toEqual([]);
  expect(kept.acts.map(({ key }) => key)).toEqual(['one']);
});

test('what a browser threw away with its whole storage is sent from memory, before what came later', async () => {
  const kept = memory();
  kept.add(message('one'));
  kept.add(message('done'));
  const store = withoutRoom(kept);
  const [one, done] = await store.all();
  await store.remove([done!.id]);
  kept.acts.splice(0);
  const later = { account: '7', tries: 0, faults: 0, failed: null };
  store.hold({ ...message('three'), ...later });
  store.added({ ...message('two'), ...later, id: 9 });
  store.doubt();
  const sent: string[] = [];
  const line = lineOf({ call: async ({ key }) => ({ id: sent.push(key) }) });
  expect(await createEngine(store, line).run()).toBeNull();
  expect(sent).toEqual([one!.key, 'two', 'three']);
  expect(await store.all()).toEqual([]);
});

test('what was made first goes first, whenever it is written down', async () => {
  const kept = memory();
  for (const [key, made] of [
    ['third', '2026-01-01T00:00:02.000Z'],
    ['first', '2026-01-01T00:00:00.000Z'],
    ['second', '2026-01-01T00:00:01.000Z'],
  ] as const)
    kept.add({ ...message(key), made });
  const sent: string[] = [];
  const line = lineOf({ call: async ({ key }) => ({ id: sent.push(key) }) });
  expect(await createEngine(withoutRoom(kept), line).run()).toBeNull();
  expect(sent).toEqual(['first', 'second', 'third']);
});

test('a message that arrived is kept elsewhere before it leaves, until it is told', async () => {
  const store = memory();
  store.add(message('one'));
  const seen: string[] = [];
  const line: Line = {
    ...lineOf({ call: async () => ({ id: 1 }) }),
    tell: ({ type }) => seen.push(type),
    outlast: async ({ key }) => {
      seen.push(`${key} waits: ${store.acts.length}`);
      return () => seen.push('ended');
    },
  };
  await createEngine(store, line).run();
  expect(seen).toEqual(['sending', 'one waits: 1', 'done', 'ended']);
});

test('a key that the server may have forgotten is looked up before it is used again', async () => {
  const store = memory();
  store.add(message('继续'));
  const server = fakeServer();
  let deaf = true;
  const call: Line['call'] = async (act) => {
    const kept = server.take(act);
    if (deaf) throw failure(0);
    return { ...kept, msg: kept.human };
  };
  const newer: Line['newer'] = async (lane, after) =>
    server.kept.filter((each) => each.lane === lane && each.id > after);
  await createEngine(store, lineOf({ call, newer })).run();
  server.keys.clear();
  deaf = false;
  vi.setSystemTime(Date.now() + 30 * 3_600_000);
  store.add(message('继续-2'));
  expect(await createEngine(store, lineOf({ call, newer })).run()).toBeNull();
  expect(server.kept.map(({ human }) => human)).toEqual(['继续', '继续-2']);
});

test('images are uploaded once and stand in the message', async () => {
  const store = memory();
  const part = {
    id: 'p',
    kind: 'image',
    name: 'a.png',
    size: 1,
    key: 'k',
    url: '',
    uuid: '',
  } as const;
  const msg = JSON.stringify({ type: 'chat', prompt: '看', images: [], files: [] });
  store.add({
    ...message('image'),
    input: { session_id: 'a', msg, format: 1 },
    parts: [part],
  } as NewAct);
  store.blob = async () => new Blob(['x']);
  let uploads = 0;
  let tries = 0;
  const bodies: string[] = [];
  const engine = createEngine(
    store,
    lineOf({
      upload: async () => {
        uploads += 1;
        return { url: '/files/a.png', uuid: '', name: 'a.png', size: 1 };
      },
      call: async (act) => {
        if (act.name === 'sendMessage') bodies.push(act.input.msg);
        if (tries++ === 0) throw failure(0);
        return { id: 1 };
      },
    }),
  );
  for (let wait = await engine.run(); wait !== null; wait = await engine.run())
    vi.advanceTimersByTime(wait + 1);
  expect(uploads).toBe(1);
  expect(bodies[0]).toBe(bodies[1]);
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
    type: 'chat-vision',
    images: ['/files/a.png'],
  });
  expect(withParts({ session_id: 'a', msg: 'plain' }, []).msg).toBe('plain');
});

test('a session that could not be made holds up all of it', () => {
  const store = memory();
  store.add({ ...message('new'), name: 'newSession', input: { type: 0 } });
  store.add(message('first'));
  const [begun, first] = store.acts as [Act, Act];
  expect(nextOf([begun, first])?.key).toBe('new');
  expect(nextOf([{ ...begun, failed: { code: 1024, message: '' } }, first])).toBeUndefined();
});

const fault = fc.constantFrom('ok', 'ok', 'offline', 'deaf', '503', 'busy', 'crash', 'day', 'back');

test('whatever happens, each arrives once and in order', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 40 }), fc.nat(2), async (faults, spare) => {
      const store = memory();
      const lanes = ['a', 'b', 'c'].slice(0, spare + 1);
      // Some say the same as before.
      for (let at = 0; at < 12; at++) {
        const lane = lanes[at % lanes.length] ?? 'a';
        const input = { session_id: lane, msg: `第${Math.floor(at / 4)}句` };
        store.add({ ...message(`${at}`, lane), input } as NewAct);
      }
      const wanted = new Map(
        lanes.map((lane) => [
          lane,
          store.acts.filter((act) => act.lane === lane).map(({ key }) => key),
        ]),
      );
      const server = fakeServer();
      const order = new Map<string, string[]>();
      const left = [...faults];
      let life = 0;
      const line = (own = life) =>
        lineOf({
          newer: async (lane, after) =>
            server.kept.filter((each) => each.lane === lane && each.id > after),
          call: async (act) => {
            // Of a page that was killed nothing goes on.
            if (own !== life) await new Promise(() => undefined);
            const what = left.shift() ?? 'ok';
            if (what === 'offline') throw failure(0);
            if (what === '503') throw failure(503);
            if (what === 'busy') throw failure(200, 1409);
            const known = server.keys.has(act.key);
            const kept = server.take(act);
            if (!known) order.set(act.lane, [...(order.get(act.lane) ?? []), act.key]);
            if (what === 'deaf') throw failure(0);
            // The page is killed before it has heard.
            if (what === 'crash') {
              life += 1;
              throw new Error('crash');
            }
            if (what === 'day') {
              vi.setSystemTime(Date.now() + 25 * 3_600_000);
              server.keys.clear();
              throw failure(0);
            }
            if (what === 'back') vi.setSystemTime(Date.now() - 24 * 3_600_000);
            return { ...kept, msg: kept.human };
          },
        });
      let engine = createEngine(store, line());
      for (let round = 0; round < 200 && store.acts.length > 0; round++) {
        try {
          vi.advanceTimersByTime(((await engine.run()) ?? 0) + 1);
        } catch {
          engine = createEngine(store, line());
        }
      }
      expect(store.acts).toEqual([]);
      for (const lane of lanes) expect(order.get(lane)).toEqual(wanted.get(lane));
    }),
    { numRuns: 80 },
  );
});

test('images are begun with their message, and asked for again until somebody has answered', async () => {
  const store = memory();
  const draw = { n: 1, size: 0, translate: 0, request_id: 'r' } as const;
  store.add({ ...message('paint'), draw });
  const asked: unknown[] = [];
  let answers = [failure(0), failure(200, 1025)];
  const line = lineOf({
    call: async () => ({ id: 5, msg: '', created_at: '', beside: null }),
    newer: async () => [{ id: 5, human: 'paint', created_at: '', beside: null }],
    draw: async (input) => {
      asked.push(input);
      const [next, ...rest] = answers;
      answers = rest;
      if (next) throw next;
    },
  });
  const engine = createEngine(store, line);
  await engine.run();
  expect(store.acts).toHaveLength(1);
  engine.wake();
  await engine.run();
  // The refusal of the images is not one of the message.
  expect(store.acts).toEqual([]);
  expect(asked).toEqual([
    { ...draw, history_id: 5 },
    { ...draw, history_id: 5 },
  ]);
  expect(line.news.map(({ type }) => type)).toContain('done');
});
