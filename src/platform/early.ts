import { historyPageSize } from '#contract/limits.ts';
import { callAddress } from './call-address.ts';
import { callTable } from '#common/call-table.ts';
import type { earlyCalls } from './early-calls.ts';

declare global {
  interface Window {
    /** What was asked for before the app's code was there, by path and query. */
    queqiaoEarly?: {
      /** On whose behalf; empty: nobody's. */
      token: string;
      answers: Record<string, Promise<Response | undefined>>;
    };
  }
}

/** How long after the start an answer is still fresh, ms. */
const fresh = 10_000;

/** The newest messages of a session, as the chat screen begins with them. */
export const newestOf = (sessionId: string) =>
  ({ session_id: sessionId, newest: 1, page_size: historyPageSize }) as const;

/** Asks for what the first screen reads, while code is on its way; `takeEarly` takes it. */
export const askEarly = (pathname: string, sessionId: string | null, token: string): void => {
  const asked: string[] = [];
  const ask = (name: (typeof earlyCalls)[number], query: Record<string, unknown> = {}) =>
    asked.push(callAddress(callTable[name].path, query));
  if (pathname === '/' || pathname === '/chat') {
    ask('models');
    if (token) ask('userInfo');
  }
  if (sessionId !== null) {
    ask('getSession', { uuid: sessionId });
    ask('historyList', newestOf(sessionId));
  }
  const answers: Record<string, Promise<Response | undefined>> = {};
  for (const address of asked)
    // Read to its end at once: an answer that nobody takes must not hold its connection.
    answers[address] = fetch(address, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      // A line that answers nothing must not keep its connections either.
      signal: AbortSignal.timeout(fresh),
    })
      .then(async (answer) => new Response(await answer.arrayBuffer(), answer))
      .catch(() => undefined);
  window.queqiaoEarly = { token, answers };
};

/**
 * The answer that the first HTML asked for already, once; undefined: it did not, it came to
 * nothing, or it is another's or too old.
 * @param address path and query
 */
export const takeEarly = (
  address: string,
  token: string,
): Promise<Response | undefined> | undefined => {
  const early = globalThis.window?.queqiaoEarly;
  const answer = early?.answers[address];
  if (!early || !answer) return undefined;
  delete early.answers[address];
  return early.token === token && performance.now() < fresh ? answer : undefined;
};

/** What was asked about a session before the server had it says nothing of it later. */
export const forgetEarly = (sessionId: string): void => {
  const answers = globalThis.window?.queqiaoEarly?.answers ?? {};
  for (const address of Object.keys(answers))
    if (address.includes(sessionId)) delete answers[address];
};
