import { createHash } from 'node:crypto';
import type { Executor } from '#server/db/database.ts';
import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import {
  LoginWanted,
  type McpAddress,
  McpError,
  type McpTool,
  withMcp,
} from '#server/engines/mcp/mcp-client.ts';
import { createRequests, type Requests } from '#server/net/guarded-fetch.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { documentUrl } from './client-document.ts';
import { createLocalServers, isLocal } from './local-servers.ts';
import { createToolLogins } from './tool-login.ts';
import * as store from './tool-server.store.ts';

const maxBytes = 1024 * 1024;
/** How long a server may be looked at, or signed in at, ms. */
export const checkMs = 25_000;
export const checkLimits = () => ({ signal: AbortSignal.timeout(checkMs), ms: checkMs });

/**
 * Programs that run at once, each a process of its own: of one person one, what they may have waiting
 * beside it, and for how long anything waits, ms.
 */
const programs = createFairQueue(4, 8, 1, 30_000);
/** Waits until one more of such servers may be asked for this person. @throws Refusal too_many */
export const atOnce = <T>(
  { url }: Pick<store.ServerRow, 'url'>,
  who: Waiter,
  work: () => Promise<T>,
): Promise<T> => (isLocal(url) ? programs(who, work) : work());

/** A mark of what a tool says of itself. */
export const digestOf = ({ name, description, parameters }: McpTool): string =>
  createHash('sha256')
    .update(JSON.stringify([name, description, parameters]))
    .digest('hex');

export const digested = (tools: readonly McpTool[]) =>
  tools.map((tool) => ({ ...tool, digest: digestOf(tool) }));

export interface ReachDeps {
  keys: KeyBox;
  /** Where `mcp.json` lies. */
  dataDir: string;
  /** `host:port` that people's own servers may have though they are not public. */
  allowed: readonly string[];
  publicUrl: string;
}

export type Reach = ReturnType<typeof createReach>;

/** How servers of tools are reached: over the internet with a token or a sign-in, or as programs here. */
export const createReach = ({ keys, dataDir, allowed, publicUrl }: ReachDeps) => {
  const publicRequests = createRequests({ allowed }, maxBytes);
  const anyRequests = createRequests(null, maxBytes);

  const local = createLocalServers(dataDir);
  const logins = createToolLogins(keys, documentUrl(publicUrl));
  /** One that is everybody's may be within; where it leads to from there, as for a sign-in, may not. */
  const requestsOf = ({ userId, url }: store.ServerRow): Requests => {
    if (userId !== null || isLocal(url)) return publicRequests;
    const { host } = new URL(url);
    return (to, init) => (new URL(to).host === host ? anyRequests : publicRequests)(to, init);
  };
  const addressOf = async (db: Executor, row: store.ServerRow): Promise<McpAddress> => {
    if (isLocal(row.url)) {
      // No person's own server is a program, whatever stands in its row.
      if (row.userId !== null) throw new McpError('这个地址不能用');
      const program = await local.find(row.url);
      return { url: row.url, headers: {}, requests: anyRequests, program };
    }
    const secret = row.secretEncrypted ? keys.open(row.secretEncrypted, `tools ${row.key}`) : '';
    if (secret === null) throw new McpError('令牌解不开，请重新填写');
    // A token alone is what Authorization wants as a bearer's.
    const bare = row.header.toLowerCase() === 'authorization' && !/\s/.test(secret);
    return {
      url: row.url,
      headers: secret === '' ? {} : { [row.header]: bare ? `Bearer ${secret}` : secret },
      requests: requestsOf(row),
      auth: secret === '' ? logins.of(db, row) : null,
    };
  };

  const allowsPlain = ({ userId }: store.ServerRow, { host }: URL): boolean =>
    userId === null || allowed.includes(host);
  return { keys, local, logins, requestsOf, addressOf, allowsPlain };
};

/** What went wrong, where its people look; a sign-in that is wanted is told apart. */
export const noteFailure = (db: Executor, row: store.ServerRow, error: McpError): Promise<void> =>
  store.noteServer(
    db,
    row.id,
    error.message,
    error instanceof LoginWanted ? (row.loginEncrypted ? 'lost' : 'wanted') : undefined,
  );

/** Connects and reads what it offers. */
export const look = async (
  reach: Pick<Reach, 'addressOf'>,
  db: Executor,
  row: store.ServerRow,
): Promise<(tx: Executor) => Promise<{ ok: boolean; message: string }>> => {
  try {
    const tools = await withMcp(
      await reach.addressOf(db, row),
      // Some offer tools that ask to those alone who can be asked, which a conversation can.
      { ...checkLimits(), answering: () => ({ action: 'decline' }) },
      (mcp) => mcp.tools(),
    );
    return async (tx) => {
      await store.storeTools(tx, row.id, digested(tools));
      await store.noteServer(tx, row.id, null);
      return { ok: true, message: `连上了，有 ${tools.length} 个工具` };
    };
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return async (tx) => {
      await noteFailure(tx, row, error);
      return { ok: false, message: error.message };
    };
  }
};
