import type { Out, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import {
  askLogin,
  endLogin,
  LoginWanted,
  McpError,
  withMcp,
} from '#server/engines/mcp/mcp-client.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { redirectAt } from './client-document.ts';
import { serverOfState } from './tool-login.ts';
import { checkLimits, checkMs, look, type Reach } from './tool-reach.ts';
import * as store from './tool-server.store.ts';
import { mayChange } from './tool-server-list.ts';

/**
 * Begins a sign-in at a server; gives what keeps it and tells where its person goes.
 * @param origin of this site: its person comes back there
 */
export const beginLogin = async (
  { logins, requestsOf, allowsPlain }: Reach,
  row: store.ServerRow,
  origin: string,
  user: Identity,
): Promise<(db: Executor) => Promise<Out<'beginToolLogin'>>> => {
  const begun = logins.begin(row, redirectAt(origin), user);
  const address = {
    url: row.url,
    headers: {},
    requests: requestsOf(row),
    auth: begun.provider,
  };
  try {
    await withMcp(address, checkLimits(), (mcp) => mcp.tools());
    // Some say what they offer to anybody, and ask who it is when it comes to a call.
    if (!begun.address() && row.login !== '') await askLogin(address, checkMs);
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    const told = '它没有说到哪里授权，请检查地址，或填写令牌';
    if (!begun.address())
      throw new Refusal('engine_failed', error instanceof LoginWanted ? told : error.message);
  }
  const url = begun.address();
  if (!url) throw new Refusal('engine_failed', '它不要求授权，直接检查就可以');
  // It is opened in a person's browser: nothing but a page is, and people's own are on the internet.
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowsPlain(row, url)))
    throw new Refusal('engine_failed', '它给出的授权地址不能打开');
  return async (tx) => {
    await store.changeServer(tx, row.id, { pendingEncrypted: begun.sealed() });
    return { url: url.href };
  };
};

/** Ends the sign-in that somebody comes back from, and looks at what the server offers. @throws Refusal not_found */
export const finishLogin = async (
  reach: Reach,
  db: Executor,
  { state, code }: Parsed<'endToolLogin'>,
  user: Identity,
): Promise<(db: Executor) => Promise<{ ok: boolean; message: string }>> => {
  const missing = new Refusal('not_found', '这次授权已经过期，或不是您开始的，请重新授权');
  const row = await store.findServer(db, serverOfState(state));
  if (!row || !mayChange(row, user)) throw missing;
  const ending = reach.logins.ending(row, state, user);
  // It is good for one try, whatever comes of it.
  if (!ending || !(await store.takePending(db, row))) throw missing;
  const auth = ending.provider;
  try {
    const address = { url: row.url, headers: {}, requests: reach.requestsOf(row), auth };
    await endLogin(address, code, checkMs);
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return () => Promise.resolve({ ok: false, message: error.message });
  }
  const given = { login: 'given' as const, loginEncrypted: ending.sealed() };
  await store.changeServer(db, row.id, given);
  return look(reach, db, { ...row, ...given });
};
