import type { In, Out, PlainCallName } from '#contract/calls.ts';
import { codeNumbers, loginRequired } from '#contract/page-errors.ts';
import {
  ApiError,
  isCancelled,
  isOffline,
  offlineText,
  openEnvelope,
  silentText,
} from './api-error.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { answerFromCache, noteAnswer } from './cache.ts';
import { callAddress } from './call-address.ts';
import { confirmed } from './confirm-password.ts';
import { underKey } from './unheard.ts';
import { callTable } from '#common/call-table.ts';
import { heldRun } from './run.ts';
import { takeEarly } from './early.ts';
import { exchange, Unanswered, type Exchanged } from './exchange.ts';
import { noteLoginEnded } from './login-ended.ts';
import { noteLoginReason } from './login-reason.ts';
import { noteServerTime } from './server-clock.ts';
import { refreshScreens } from './query-client.ts';
import { toast } from '#src/platform/toast.ts';

export interface ApiOptions {
  signal?: AbortSignal;
  /** For calls that honour it; made anew for each call when left out. */
  idempotencyKey?: string;
  /** The caller shows failures itself: no toast. */
  quiet?: boolean;
  /** Goes on when the page is left meanwhile; for small bodies. */
  keepalive?: boolean;
}

export type Api = {
  [K in PlainCallName]: (input: In<K>, options?: ApiOptions) => Promise<Out<K>>;
};

let goToLogin: (loginUrl: string) => void = () => undefined;
/** Tells where code 1001 leads; the router is made after this module. */
export const onLoginRequired = (go: (loginUrl: string) => void) => {
  goToLogin = go;
};

/** Leads to where one signs in, and back here afterwards. */
const leadToLogin = (url: string): void => {
  const here = `${location.pathname}${location.search}`;
  const known = url.includes('?') || /^\/(login|register)/.test(here);
  goToLogin(known ? url : `${url}?back=${encodeURIComponent(here)}`);
};

/** What only accounts may do: true, and on the way to sign in, for a visitor. */
export const signInFirst = (): boolean => {
  if (authStore.get().token !== '') return false;
  leadToLogin('/login');
  return true;
};

export const keepRefreshedToken = (header: string | null, sent: string) => {
  const token = header?.match(/^Bearer (\S+)$/i)?.[1];
  // Somebody logged out or in meanwhile: an answer to the former account must not bring it back.
  if (!token || token === sent || authStore.get().token !== sent) return;
  authStore.set(sent === '' ? { token, user: null } : { token });
};

/** @param body the answer, which says why */
export const leaveExpiredLogin = (sent: string, body: unknown) => {
  // Only the token that was refused is dropped, and a page without one never reloads: no loop.
  if (sent === '' || authStore.get().token !== sent) return;
  const { message } = (body ?? {}) as { message?: unknown };
  const guest = authStore.get().user?.guest === true;
  noteLoginEnded(guest ? 'guest' : 'account', typeof message === 'string' ? message : '');
  authStore.clear();
  location.reload();
};

const send = async (
  name: PlainCallName,
  input: Record<string, unknown>,
  options: ApiOptions,
  idempotencyKey?: string,
) => {
  const call = callTable[name];
  const { token } = authStore.get();
  const headers = new Headers();
  if (token) headers.set('authorization', `Bearer ${token}`);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);

  const hasBody = call.method === 'POST' || call.method === 'PUT';
  const inQuery: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const where = !hasBody || call.inQuery.includes(key) ? inQuery : body;
    where[key] = value;
  }
  let answer: Exchanged;
  try {
    const address = callAddress(call.path, inQuery);
    const read = call.method === 'GET';
    answer = await exchange({
      address,
      method: call.method,
      headers,
      json: hasBody ? body : undefined,
      keepalive: options.keepalive === true,
      signal: options.signal,
      repeatable: read || call.idempotent || call.offline,
      early: read ? takeEarly(address, token) : undefined,
    });
  } catch (error) {
    if (isCancelled(error)) throw error;
    const silent = !(error instanceof Unanswered) || error.silent;
    throw new ApiError(0, silent ? silentText : offlineText, 0);
  }
  keepRefreshedToken(answer.headers.get('authorization'), token);
  noteServerTime(answer.headers.get('date'));
  if (answer.status === 401) leaveExpiredLogin(token, answer.body);
  return openEnvelope(answer.status, answer.body);
};

const loginUrl = (data: unknown): string => {
  const url = (data as { login_url?: unknown } | null)?.login_url;
  // Only an address of this page: an answer must not lead people elsewhere.
  return typeof url === 'string' && /^\/(?![/\\])/.test(url) ? url : '/login';
};

/** While the server fails, so often it is asked again for what stands there as it was kept, ms. */
const faultPause = 10_000;
let asksAgain = false;
const askAgain = (): void => {
  if (asksAgain) return;
  asksAgain = true;
  setTimeout(() => {
    asksAgain = false;
    void refreshScreens();
  }, faultPause);
};

const invoke = async (
  name: PlainCallName,
  input: Record<string, unknown>,
  options: ApiOptions = {},
): Promise<unknown> => {
  const asker = accountOf(authStore.get().token);
  const run = heldRun();
  if (run?.keptOnly) {
    const kept = await answerFromCache(name, input);
    if (kept === undefined) throw new ApiError(0, offlineText, 0);
    return kept;
  }
  try {
    const data = await confirmed(input, (given) =>
      callTable[name].idempotent
        ? underKey(name, given, options.idempotencyKey, (key) => send(name, given, options, key))
        : send(name, given, options),
    );
    noteAnswer(name, input, data, asker);
    if (callTable[name].refreshes) void refreshScreens();
    return data;
  } catch (error) {
    if (error instanceof ApiError) {
      const fails = error.status >= 500;
      const read = fails || isOffline(error) ? await answerFromCache(name, input) : undefined;
      if (read !== undefined) {
        if (run) run.fromKept = true;
        if (fails) askAgain();
        return read;
      }
      if (error.code === codeNumbers.login_required) {
        leadToLogin(loginUrl(error.data));
        // Whoever is led away is told why.
        if (error.message !== loginRequired) noteLoginReason(error.message);
      } else if (error.code === codeNumbers.agreement_needed) dispatchEvent(new Event('agree'));
      else if (!options.quiet) toast(error.message, 'error', undefined, error.code);
    }
    throw error;
  }
};

/** The function of a call. */
export const caller =
  (name: PlainCallName) => (input: Record<string, unknown>, options?: ApiOptions) =>
    invoke(name, input, options);

/**
 * Every call of the contract, by its name, as the server answers it or as it was kept; what waits in
 * the outbox is not in it. Rejects as `api` does.
 */
export const serverApi = Object.fromEntries(
  (Object.keys(callTable) as PlainCallName[]).map((name) => [name, caller(name)]),
) as unknown as Api;
