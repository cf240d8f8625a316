import { sleep } from './sleep.ts';
import type { StreamEvent } from '#contract/chat.ts';
import { streamCodes } from '#contract/page-errors.ts';
import type { ToolCall } from '#contract/tool.ts';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { ApiError, errorText, openEnvelope } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { beginBusy } from './busy.ts';
import { askLine, awaitBytes, heard, lineIsWell, onLineWell } from './line.ts';
import { callTable } from '#common/call-table.ts';
import { serverApi } from './server-api.ts';

export interface StreamOptions {
  /** A session's uuid or number. */
  sessionId: string | number;
  historyId: number;
  /** Another address that serves the stream (a model's accelerator); empty: this server. */
  base?: string;
  /** Goes on after this event; left out: from the beginning of the reply. */
  lastEventId?: string;
  signal: AbortSignal;
  onText: (text: string) => void;
  onReasoning: (text: string) => void;
  /** A call of a tool, as it now stands. */
  onTool: (tool: ToolCall) => void;
  /** The reply ended early, or can not be read. `code`: one of streamCodes, or an answer's code. */
  onError: (error: { code: string; message: string }) => void;
  onDone: () => void;
  /** The connection was lost and will be tried again, or is back. */
  onConnection?: (connected: boolean) => void;
}

/** A connection that does not open within this time is given up, ms. */
const openPatience = 10_000;
/** The server sends a heartbeat at least every 5 s; after this long without one the line is dead. */
const silence = 12_000;
/** Tries without a single event between them before the reader gives up, while the network is there. */
const mostTries = 8;
/** Of what is quiet for longer it is asked whether the line is well; if it was not, it is opened anew, ms. */
const mostQuiet = 4_000;
const longestWait = 15_000;
/** Tries at the accelerator before this server is asked itself. */
const triesAtBase = 2;

/** A body is read no more often than this, ms: each read costs the same, be it one event or forty. */
const readInterval = 24;
/** So much is handed on at once, in bytes; the page can draw before the next. */
const mostAtOnce = 8_192;

class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
class Ended extends Error {}

export const isStream = (response: Response): boolean =>
  response.ok && (response.headers.get('content-type') ?? '').startsWith('text/event-stream');

const checkAnswer = async (response: Response): Promise<void> => {
  if (isStream(response)) return;
  const { status } = response;
  // A busy or restarting server may have the reply in a moment.
  if (status === 429 || status >= 500) throw new Error(`status ${status}`);
  const body: unknown = await response.json().catch(() => undefined);
  try {
    openEnvelope(status, body);
  } catch (error) {
    const code = error instanceof ApiError ? error.code : status;
    throw new Refused(String(code), errorText(error));
  }
  throw new Refused(String(status), streamCodes.connection);
};

/**
 * One event of the contract's type. Looked at by hand: it comes up to thousands of times a reply,
 * and the contract's validator would weigh more than the rest of the reader.
 */
const readEvent = (data: string): StreamEvent | undefined => {
  const event: unknown = JSON.parse(data);
  if (typeof event === 'string') return event;
  if (typeof event !== 'object' || event === null) return undefined;
  const { reasoning, tool, code, message } = event as Record<string, unknown>;
  if (typeof tool === 'object' && tool !== null) return { tool: tool as ToolCall };
  if (typeof reasoning === 'string') return { reasoning };
  if (typeof code === 'string' && typeof message === 'string') return { code, message };
  return undefined;
};

/** Waits, but no longer than until the line is well again. Without a network it waits for that alone. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = navigator.onLine ? setTimeout(() => finish(), ms) : undefined;
    const finish = () => {
      clearTimeout(timer);
      removeEventListener('online', finish);
      leave();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const leave = onLineWell(finish);
    addEventListener('online', finish);
    signal.addEventListener('abort', finish);
  });

/** Fetches, with a body that comes in pieces of a size and at a pace that a page can follow. */
const fetchPaced: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.body) return response;
  const reader = response.body.getReader();
  let rest = new Uint8Array(0);
  let readAt = -Infinity;
  const paced = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const wait = rest.length > 0 ? 0 : readAt + readInterval - performance.now();
        // A hidden page draws nothing, and its timers hardly run.
        if (wait >= 0 && !document.hidden) await sleep(wait);
        if (rest.length === 0) {
          const { value } = await reader.read();
          readAt = performance.now();
          if (!value) {
            controller.close();
            return;
          }
          rest = value;
        }
        controller.enqueue(rest.subarray(0, mostAtOnce));
        rest = rest.subarray(mostAtOnce);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(paced, { status, statusText, headers });
};

/**
 * Reads the events of one connection. Rejects with what ended it: also when the server closed it,
 * or when it has been silent for so long that the line must be dead.
 */
export const readEvents = async (
  address: string,
  options: {
    /** The event behind which it begins; empty: at the first. */
    last: string;
    signal: AbortSignal;
    /** Rejects when the answer is no stream. */
    onOpen: (response: Response) => Promise<void>;
    onEvent: (id: string, data: string) => void;
  },
): Promise<never> => {
  const { last, signal } = options;
  const attempt = new AbortController();
  const stop = () => attempt.abort();
  signal.addEventListener('abort', stop);
  let failure: unknown = new Error('closed');
  // Looked at now and then: a timer set anew for each of thousands of events would cost more.
  let aliveAt = performance.now();
  let patience = openPatience;
  const alive = () => {
    aliveAt = performance.now();
    heard();
  };
  let askedAt = aliveAt;
  const watch = setInterval(() => {
    const now = performance.now();
    if (now - aliveAt > patience) stop();
    // A model that thinks is as quiet as a line that is dead.
    else if (now - Math.max(aliveAt, askedAt) > mostQuiet) {
      askedAt = now;
      void askLine();
    }
  }, 1_000);
  // Until it is open something is waited for; from then on a reply may well be silent for a while.
  const endWaiting = awaitBytes(stop);
  let opened = false;
  // After a silence a connection that heard nothing either is dead, whatever it believes itself.
  const leaveLine = onLineWell(() => {
    if (performance.now() - aliveAt > mostQuiet) stop();
  });
  // The login goes to this server alone, whatever address a reply is read from.
  const token = address.startsWith('/') ? authStore.get().token : null;
  try {
    await fetchEventSource(address, {
      fetch: fetchPaced,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(last ? { 'last-event-id': last } : {}),
      },
      signal: attempt.signal,
      openWhenHidden: true,
      onopen: async (response) => {
        endWaiting();
        opened = true;
        await options.onOpen(response);
        patience = silence;
        alive();
      },
      onmessage: ({ id, data }) => {
        alive();
        options.onEvent(id, data);
      },
      // Trying again is the caller's, who hears of the network's return.
      onerror: (error: unknown) => {
        failure = error;
        throw error;
      },
    });
  } catch (error) {
    failure = error;
    // It may be this address alone that is out of reach.
    if (!opened && error instanceof TypeError) void askLine();
  } finally {
    clearInterval(watch);
    endWaiting();
    leaveLine();
    signal.removeEventListener('abort', stop);
    attempt.abort();
  }
  throw failure;
};

/**
 * Reads a reply to its end. A lost connection is taken up again behind the last event that arrived,
 * so that nothing comes twice and nothing is missing; also while the page is hidden. Resolves after
 * onDone or onError, or quietly once the signal is aborted.
 */
export const openStream = async (options: StreamOptions): Promise<void> => {
  const end = beginBusy('replies');
  try {
    await readToEnd(options);
  } finally {
    end();
  }
};

/** What another server is shown instead of the login: it opens this reply once, for a minute. */
const ticketOf = async (historyId: number): Promise<string> =>
  (await serverApi.ticket({ history_id: historyId }, { quiet: true })).ticket;

const readToEnd = async (options: StreamOptions): Promise<void> => {
  const { signal } = options;
  let last = options.lastEventId ?? '';
  let tries = 0;

  const take = (id: string, data: string): void => {
    tries = 0;
    if (data === '') return;
    // Calls of tools come again with each change; they move nothing on.
    const call = data.startsWith('{"tool"') ? readEvent(data) : undefined;
    if (typeof call === 'object' && 'tool' in call) {
      options.onTool(call.tool);
      return;
    }
    if (id !== '') {
      // A server that begins again gives events that are here already.
      if (last !== '' && Number(id) <= Number(last)) return;
      last = id;
    }
    if (data === '[DONE]') {
      options.onDone();
      throw new Ended();
    }
    const event = readEvent(data);
    if (event === undefined) return;
    if (typeof event === 'string') options.onText(event);
    else if ('reasoning' in event) options.onReasoning(event.reasoning);
    else if ('tool' in event) options.onTool(event.tool);
    else throw new Refused(event.code, event.message);
  };

  const readOnce = async (): Promise<void> => {
    // An accelerator that does not answer must not cost the reply.
    const base = tries < triesAtBase ? (options.base ?? '') : '';
    const ticket = base !== '' && authStore.get().token ? await ticketOf(options.historyId) : '';
    const search = new URLSearchParams({
      history_id: String(options.historyId),
      session_id: String(options.sessionId),
      tools: '1',
      ...(ticket !== '' && { ticket }),
    });
    return readEvents(
      `${base.replace(/\/$/, '')}${callTable.eventStream.path}?${search.toString()}`,
      {
        last,
        signal,
        onOpen: async (response) => {
          if (base !== '' && !isStream(response)) throw new Error(`status ${response.status}`);
          await checkAnswer(response);
          options.onConnection?.(true);
        },
        onEvent: take,
      },
    );
  };

  while (!signal.aborted) {
    try {
      await readOnce();
    } catch (error) {
      if (signal.aborted || error instanceof Ended) return;
      if (error instanceof Refused) {
        options.onError({ code: error.code, message: error.message });
        return;
      }
      tries++;
      if (tries > mostTries) {
        options.onError({ code: 'connection', message: streamCodes.connection });
        return;
      }
      options.onConnection?.(false);
      // Half of the wait is chance, so that a server that comes back is not met by everybody at once.
      const wait = Math.min(longestWait, 300 * 2 ** tries);
      await pause(wait / 2 + Math.random() * (wait / 2), signal);
      if (!navigator.onLine || !lineIsWell()) tries = 0;
    }
  }
};
