import { callTable } from '#common/call-table.ts';
import type { WaitRef } from '#contract/wait.ts';
import { getFact } from './kv.ts';
import { outboxChannel, outboxLock, outboxTag, waitsTag, type Wait } from './messages.ts';
import type { ActName, Failure, Line, News, Part, Sent } from '#common/outbox/act.ts';
import { createEngine } from '#common/outbox/engine.ts';
import { openOutbox } from '#common/outbox/database.ts';
import { actStoreOn, withoutRoom } from '#common/outbox/store.ts';
import { pause, type SyncEvent } from './sync.ts';
import { subjectOf } from './token.ts';
import type { workerSteps } from './worker-steps.ts';

declare const self: ServiceWorkerGlobalScope;

/** As long as a browser lets a sync go on, ms. */
const awake = 50_000;
/** As long as one answer may take, and for each 4 KB of a file a second more, ms: phones are slow. */
const patience = 30_000;
const bytesPerMs = 4;
/** How often what a message leads to is asked for, and for how long, ms. */
const askEvery = 5_000;
const longestWait = 15 * 60_000;

type WorkerCall = ActName | (typeof workerSteps)[number];

const fail = (status: number, code: number, message = '', wait = 0): never => {
  const failure: Failure = { status, code, message, wait };
  throw failure;
};

interface Envelope {
  code?: unknown;
  msg?: unknown;
  message?: unknown;
  data?: unknown;
}

/** Makes a call as the account of a token. @throws Failure */
const ask = async (
  token: string,
  name: WorkerCall,
  input: object,
  { key, body, bytes = 0 }: { key?: string; body?: FormData; bytes?: number } = {},
): Promise<unknown> => {
  const { method, path, inQuery } = callTable[name];
  const url = new URL(path, self.location.origin);
  const json: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(input))
    if (value === undefined) continue;
    else if (method === 'DELETE' || inQuery.includes(field))
      url.searchParams.set(field, String(value));
    else json[field] = value;
  const headers = new Headers({ authorization: `Bearer ${token}` });
  if (key !== undefined) headers.set('idempotency-key', key);
  if (method === 'POST' && !body) headers.set('content-type', 'application/json');
  const answer = await fetch(url, {
    method,
    headers,
    signal: AbortSignal.timeout(patience + bytes / bytesPerMs),
    ...(method === 'POST' ? { body: body ?? JSON.stringify(json) } : {}),
  }).catch(() => fail(0, 0));
  const envelope = (await answer.json().catch(() => ({}))) as Envelope | null;
  const said =
    [envelope?.msg, envelope?.message].find((text): text is string => typeof text === 'string') ??
    '';
  const { retry_after } = (envelope?.data ?? {}) as { retry_after?: number };
  if (!answer.ok || typeof envelope?.code !== 'number' || envelope.code > 0)
    fail(
      answer.status,
      typeof envelope?.code === 'number' ? envelope.code : answer.ok ? 500 : answer.status,
      said,
      (retry_after ?? 0) * 1_000,
    );
  return envelope?.data;
};

const lineOf = (token: string, tell: (news: News) => void): Line => ({
  account: () => subjectOf(token) ?? '',
  tell,
  call: (act) => ask(token, act.name, act.input, { key: act.key }),
  draw: (input) => ask(token, 'generateImage', input, { key: input.request_id }),
  upload: async (part: Part, blob) => {
    const body = new FormData();
    body.set('file', blob, part.name);
    if (part.kind === 'image') {
      const data = await ask(
        token,
        'uploadImage',
        {},
        {
          key: part.key,
          body,
          bytes: blob.size,
        },
      );
      const { image } = data as { image: { url: string; size: number } };
      return { url: image.url, uuid: '', name: part.name, size: image.size };
    }
    const data = await ask(
      token,
      'uploadFile',
      {},
      {
        key: part.key,
        body,
        bytes: blob.size,
      },
    );
    const { file } = data as { file: { uuid: string; name: string; size: number } };
    return { url: '', uuid: file.uuid, name: file.name, size: file.size };
  },
  newer: async (session, after) => {
    const messages = (await ask(token, 'lastMessages', {
      sessionId: session,
      maxHistoryId: after,
    })) as {
      id: number;
      human: string;
      created_at: string;
      user_id: number;
      beside: { id: number } | null;
    }[];
    return messages
      .filter(({ user_id }) => String(user_id) === subjectOf(token))
      .map(({ id, human, created_at, beside }) => ({
        id,
        human,
        created_at,
        beside: beside?.id ?? null,
      }));
  },
});

/**
 * Sends what was written without a network after the page was closed, where the browser has
 * Background Sync. While a tab is in sight it sends itself.
 * @param lookAfter waits for the reply to a message that was sent, or for its images
 */
export const startOutboxSync = (
  lookAfter: (waits: readonly Wait[], token: string) => Promise<void>,
): void => {
  const isInSight = async () =>
    (await self.clients.matchAll({ type: 'window' })).some(
      ({ visibilityState }) => visibilityState === 'visible',
    );

  /** Gives whether nothing is left to send here. */
  const send = async (): Promise<boolean> => {
    const token = await getFact('token');
    if (!token || (await isInSight())) return true;
    const until = Date.now() + awake;
    const database = await openOutbox();
    if (!database) return true;
    // Not every browser has it in its workers.
    const tabs = {
      channel: typeof BroadcastChannel === 'function' ? new BroadcastChannel(outboxChannel) : null,
    };
    const sent: Promise<void>[] = [];
    try {
      const engine = createEngine(
        withoutRoom(actStoreOn(() => Promise.resolve(database))),
        lineOf(token, (news) => {
          tabs.channel?.postMessage(news);
          if (news.type !== 'done' || news.act.name !== 'sendMessage') return;
          const since = Date.now();
          const { draw } = news.act;
          const ref: WaitRef = draw
            ? { kind: 'job', id: draw.request_id }
            : { kind: 'answer', id: String((news.data as Sent).id) };
          const wait: Wait = {
            ...ref,
            since,
            every: askEvery,
            deadline: since + longestWait,
          };
          sent.push(lookAfter([wait], token));
        }),
      );
      for (;;) {
        const left = until - Date.now();
        if (left <= 0) return false;
        const wait = await navigator.locks.request(
          outboxLock,
          { signal: AbortSignal.timeout(left) },
          engine.run,
        );
        if (wait === null) return true;
        // Somebody is here again, or the person has left: it is theirs, or nobody's.
        if ((await isInSight()) || (await getFact('token')) !== token) return true;
        await pause(Math.max(50, wait));
      }
    } finally {
      tabs.channel?.close();
      database.close();
      await Promise.allSettled(sent);
    }
  };

  const onSync = (event: Event): void => {
    const sync = event as SyncEvent;
    const wanted =
      sync.tag === outboxTag || (event.type === 'periodicsync' && sync.tag === waitsTag);
    if (!wanted) return;
    sync.waitUntil(
      // A sync that fails is tried again later by the browser.
      send().then((done) => (done ? done : Promise.reject(new Error('still unsent')))),
    );
  };
  self.addEventListener('sync', onSync);
  self.addEventListener('periodicsync', onSync);
};
