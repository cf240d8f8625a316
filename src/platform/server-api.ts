import type { In, Out, PlainCallName } from '@contract/calls.ts';
import { codes } from '@contract/errors.ts';
import ky, { TimeoutError } from 'ky';
import { ApiError, isCancelled, isOffline, offlineText, openEnvelope } from './api-error.ts';
import { authStore } from './auth-store.ts';
import { answerFromCache, noteAnswer } from './cache.ts';
import { callAddress } from './call-address.ts';
import { callTable } from '@common/call-table.ts';
import { takeEarly } from './early.ts';
import { noteLoginEnded } from './login-ended.ts';
import { refreshScreens } from './query-client.ts';
import { toast } from '@/platform/toast.ts';
import { uuid } from './uuid.ts';

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

const http = ky.create({ timeout: 600_000, retry: 0, throwHttpErrors: false });

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

export const leaveExpiredLogin = (sent: string) => {
  // Only the token that was refused is dropped, and a page without one never reloads: no loop.
  if (sent === '' || authStore.get().token !== sent) return;
  noteLoginEnded(authStore.get().user?.guest === true ? 'guest' : 'account');
  authStore.clear();
  location.reload();
};

const send = async (name: PlainCallName, input: Record<string, unknown>, options: ApiOptions) => {
  const call = callTable[name];
  const { token } = authStore.get();
  const headers = new Headers();
  if (token) headers.set('authorization', `Bearer ${token}`);
  if (call.idempotent) headers.set('idempotency-key', options.idempotencyKey ?? uuid());

  const hasBody = call.method === 'POST' || call.method === 'PUT';
  const inQuery: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const where = !hasBody || call.inQuery.includes(key) ? inQuery : body;
    where[key] = value;
  }
  let response: Response;
  try {
    const address = callAddress(call.path, inQuery);
    const early = call.method === 'GET' ? await takeEarly(address, token) : undefined;
    response =
      early ??
      (await http(new URL(address, location.origin), {
        method: call.method,
        headers,
        keepalive: options.keepalive === true,
        ...(hasBody ? { json: body } : {}),
        ...(options.signal ? { signal: options.signal } : {}),
      }));
  } catch (error) {
    if (isCancelled(error)) throw error;
    throw new ApiError(0, error instanceof TimeoutError ? '请求超时，请稍后重试' : offlineText, 0);
  }
  keepRefreshedToken(response.headers.get('authorization'), token);
  if (response.status === 401) leaveExpiredLogin(token);
  const json: unknown = await response.json().catch((error: unknown) => {
    if (isCancelled(error)) throw error;
    return undefined;
  });
  return openEnvelope(response.status, json);
};

const loginUrl = (data: unknown): string => {
  const url = (data as { login_url?: unknown } | null)?.login_url;
  // Only an address of this page: an answer must not lead people elsewhere.
  return typeof url === 'string' && /^\/(?![/\\])/.test(url) ? url : '/login';
};

const invoke = async (
  name: PlainCallName,
  input: Record<string, unknown>,
  options: ApiOptions = {},
): Promise<unknown> => {
  try {
    const data = await send(name, input, options);
    noteAnswer(name, input, data);
    if (callTable[name].refreshes) void refreshScreens();
    return data;
  } catch (error) {
    if (error instanceof ApiError) {
      const read = isOffline(error) ? await answerFromCache(name, input) : undefined;
      if (read !== undefined) return read;
      if (error.code === codes.login_required.code) leadToLogin(loginUrl(error.data));
      else if (!options.quiet) toast(error.message, 'error');
    }
    throw error;
  }
};

/**
 * Every call of the contract, by its name, as the server answers it or as it was kept; what waits in
 * the outbox is not in it. Rejects as `api` does.
 */
export const serverApi = Object.fromEntries(
  (Object.keys(callTable) as PlainCallName[]).map((name) => [
    name,
    (input: Record<string, unknown>, options?: ApiOptions) => invoke(name, input, options),
  ]),
) as unknown as Api;
