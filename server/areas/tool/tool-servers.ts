import { createHash, randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Out, Parsed } from '#contract/calls.ts';
import { type ToolServer, toolServerLimits } from '#contract/tool-server.ts';
import type { Executor } from '#server/db/database.ts';
import {
  McpError,
  LoginWanted,
  endLogin,
  type McpAddress,
  type McpSession,
  type McpTool,
  withMcp,
} from '#server/engines/mcp/mcp-client.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { createRequests } from '#server/net/guarded-fetch.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { type Tool, ToolFailure, type ToolUser } from './tool.ts';
import { createLocalServers, isLocal } from './local-servers.ts';
import { createToolLogins, serverOfState } from './tool-login.ts';
import * as store from './tool-server.store.ts';

/** A tool of a server as a loop keeps it: all that it needs to be called in any process. */
export interface ForeignTool {
  /** What models call it: the server, a mark of what it says of itself, and its own name. */
  name: string;
  serverId: number;
  serverName: string;
  /** The server is its person's own: what it gives is for nobody else. */
  own: boolean;
  /** Its name there. */
  tool: string;
  digest: string;
  description: string;
  parameters: Record<string, unknown>;
}

const maxBytes = 1024 * 1024;
const seconds = 60;
const checkMs = 25_000;
/** Calls of one person in a day, and checks in a minute: others' servers are not to be worn out from here. */
const aDay = { account: 500, guest: 50 };
const checksAMinute = 20;
/** Letters of the arguments that are shown with the question. */
const mostShown = 1500;

const digestOf = ({ name, description, parameters }: McpTool): string =>
  createHash('sha256')
    .update(JSON.stringify([name, description, parameters]))
    .digest('hex');

const digested = (tools: readonly McpTool[]) =>
  tools.map((tool) => ({ ...tool, digest: digestOf(tool) }));

/** Services take letters, digits, _ and - in names, 64 of them. */
const nameFor = (serverId: number, tool: string, digest: string): string =>
  `m${serverId}_${digest.slice(0, 6)}_${tool.replaceAll(/[^\w-]/g, '_')}`.slice(0, 64);

const shown = (given: Record<string, unknown>): string => {
  const lines = Object.entries(given).map(
    ([name, value]) => `${name}：${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const text = lines.join('\n');
  return text.length > mostShown ? `${text.slice(0, mostShown)}…（共 ${text.length} 字）` : text;
};

export interface ToolServers {
  /** What a person's models may be offered now. */
  offered: (db: Executor, user: Pick<ToolUser, 'id' | 'guest'>) => Promise<ForeignTool[]>;
  tool: (foreign: ForeignTool) => Tool;
  list: (db: Executor, user: Identity) => Promise<Out<'toolServers'>>;
  save: (db: Executor, input: Parsed<'saveToolServer'>, user: Identity) => Promise<{ id: number }>;
  check: (
    db: Executor,
    id: number,
    user: Identity,
  ) => Promise<(db: Executor) => Promise<Out<'checkToolServer'>>>;
  /** @param origin of this site: its person comes back there */
  beginLogin: (
    db: Executor,
    id: number,
    origin: string,
    user: Identity,
  ) => Promise<(db: Executor) => Promise<Out<'beginToolLogin'>>>;
  endLogin: (
    db: Executor,
    input: Parsed<'endToolLogin'>,
    user: Identity,
  ) => Promise<(db: Executor) => Promise<Out<'endToolLogin'>>>;
  /**
   * Uses a server whose resources and prompts are offered to this person.
   * @throws Refusal not_found, engine_failed
   */
  things: <T>(
    db: Executor,
    id: number,
    user: Identity,
    use: (mcp: McpSession) => Promise<T>,
  ) => Promise<T>;
  choose: (db: Executor, input: Parsed<'chooseTools'>, user: Identity) => Promise<void>;
  remove: (db: Executor, id: number, user: Identity) => Promise<void>;
}

const inFile = '它写在服务器的 mcp.json 里，请在那里更改或去掉';

/** Programs that run at once: each is a process of its own. */
const programs = pLimit(4);
const atOnce = <T>({ url }: store.ServerRow, work: () => Promise<T>): Promise<T> =>
  isLocal(url) ? programs(work) : work();

const mayChange = (row: store.ServerRow, user: Identity): boolean =>
  row.userId === null ? user.manager : row.userId === user.id;

/** One that somebody may change. @throws Refusal not_found: also for what is another's */
const changeable = async (db: Executor, id: number, user: Identity): Promise<store.ServerRow> => {
  const row = await store.findServer(db, id);
  if (!row || !mayChange(row, user)) throw new Refusal('not_found', '没有这个工具服务');
  return row;
};

const view = (row: store.ServerRow, tools: store.ToolRow[], user: Identity): ToolServer => {
  const mine = mayChange(row, user);
  const listed = tools.map(({ name, description, digest, agreedDigest }) => ({
    name,
    description,
    digest,
    on: agreedDigest === digest,
    changed: agreedDigest !== '' && agreedDigest !== digest,
  }));
  return {
    id: row.id,
    name: row.name,
    url: mine ? row.url : '',
    shared: row.userId === null,
    mine,
    enabled: row.enabled,
    header: row.header,
    has_secret: row.secretEncrypted !== null,
    more: row.more,
    login: row.login === '' ? 'none' : row.login,
    last_error: mine ? row.lastError : '',
    last_ok_at: row.lastOkAt?.toISOString() ?? null,
    tools: mine ? listed : listed.filter(({ on }) => on),
  };
};

/** Servers of tools that speak MCP: what they offer, who chose it, and how it is called. */
export const createToolServers = ({
  keys,
  dataDir,
  allowed,
}: {
  keys: KeyBox;
  /** Where `mcp.json` lies. */
  dataDir: string;
  /** `host:port` that people's own servers may have though they are not public. */
  allowed: readonly string[];
}): ToolServers => {
  const limitAccounts = createKeyLimit(aDay.account, 86_400, 'calls of tool servers');
  const limitGuests = createKeyLimit(aDay.guest, 86_400, 'calls of tool servers by guests');
  const limitChecks = createKeyLimit(checksAMinute, 60, 'checks of tool servers');
  const publicRequests = createRequests({ allowed }, maxBytes);
  const anyRequests = createRequests(null, maxBytes);

  const local = createLocalServers(dataDir);
  const logins = createToolLogins(keys);
  const requestsOf = ({ userId }: store.ServerRow) =>
    userId === null ? anyRequests : publicRequests;
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

  /** What went wrong, where its people look; a sign-in that is wanted is told apart. */
  const noteFailure = (db: Executor, row: store.ServerRow, error: McpError): Promise<void> =>
    store.noteServer(
      db,
      row.id,
      error.message,
      error instanceof LoginWanted ? (row.loginEncrypted ? 'lost' : 'wanted') : undefined,
    );

  /** Connects and reads what it offers. */
  const look = async (
    db: Executor,
    row: store.ServerRow,
  ): Promise<(tx: Executor) => Promise<{ ok: boolean; message: string }>> => {
    try {
      const tools = await withMcp(
        await addressOf(db, row),
        { signal: AbortSignal.timeout(checkMs), ms: checkMs },
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

  const run = async (
    db: Executor,
    foreign: ForeignTool,
    given: Record<string, unknown>,
    user: ToolUser,
    signal: AbortSignal,
  ): Promise<string> => {
    const row = await store.findServer(db, foreign.serverId);
    // It may have been taken away, or changed hands, since the model was offered it.
    if (!row?.enabled || (row.userId !== null && row.userId !== user.id))
      throw new ToolFailure('这个工具服务已经停用');
    await (user.guest ? limitGuests(user.person) : limitAccounts(String(user.id)));
    try {
      const limits = { signal, ms: seconds * 1000 };
      const made = await atOnce(row, async () =>
        withMcp(await addressOf(db, row), limits, async (mcp) => {
          const now = await mcp.tools();
          const same = now.find(({ name }) => name === foreign.tool);
          if (!same || digestOf(same) !== foreign.digest) return { now };
          return { said: await mcp.call(foreign.tool, given) };
        }),
      );
      await store.noteServer(db, row.id, null);
      if (made.said !== undefined) return made.said;
      await store.storeTools(db, row.id, digested(made.now));
      throw new ToolFailure('这个工具的说明变了，要在“工具服务”里重新同意才能再用');
    } catch (error) {
      if (error instanceof ToolFailure) throw error;
      if (!(error instanceof McpError)) throw error;
      if (!signal.aborted) await noteFailure(db, row, error);
      throw new ToolFailure(error.message);
    }
  };

  /** What the file names is there for managers to choose from; what it no longer names is gone. */
  const takeLocal = async (db: Executor): Promise<void> => {
    const wanted = await local.read().catch((error: unknown) => {
      if (error instanceof McpError) return null;
      throw error;
    });
    if (wanted === null) return;
    const rows = (await store.serversOf(db, 0)).filter(({ url }) => isLocal(url));
    for (const { id, url } of rows) if (!wanted.has(url)) await store.removeServer(db, id);
    for (const url of wanted.keys()) {
      if (rows.some((row) => row.url === url)) continue;
      const name = local.nameOf(url);
      await store.insertServer(db, {
        name,
        url,
        header: 'Authorization',
        key: randomUUID(),
        userId: null,
      });
    }
  };

  return {
    offered: async (db, user) => {
      const rows = await store.offeredTools(
        db,
        user.guest ? null : user.id,
        toolServerLimits.offered,
      );
      return rows.map(({ tool, server }) => ({
        name: nameFor(server.id, tool.name, tool.digest),
        serverId: server.id,
        serverName: server.name,
        own: server.userId !== null,
        tool: tool.name,
        digest: tool.digest,
        description: tool.description,
        parameters: tool.parameters,
      }));
    },

    tool: (foreign) => ({
      label: `${foreign.serverName} · ${foreign.tool}`.slice(0, 40),
      seconds,
      own: foreign.own,
      spec: {
        name: foreign.name,
        description: foreign.description,
        parameters: foreign.parameters,
      },
      // What it says of itself is its own word: whether it only reads nobody knows.
      asks: (given) =>
        `把下面的内容发给工具服务“${foreign.serverName}”，用它的 ${foreign.tool}：\n${shown(given) || '（没有参数）'}`,
      run: async (given, { db, user, signal }) => {
        try {
          return { text: await run(db, foreign, given, user, signal) };
        } catch (error) {
          if (error instanceof Refusal) throw new ToolFailure('今天用工具服务的次数到了，明天再试');
          throw error;
        }
      },
    }),

    list: async (db, user) => {
      if (user.manager) await takeLocal(db);
      const rows = await store.serversOf(db, user.id);
      const seen = rows.filter((row) => mayChange(row, user) || row.enabled);
      const tools = await store.toolsOf(
        db,
        seen.map(({ id }) => id),
      );
      return {
        list: seen.map((row) =>
          view(
            row,
            tools.filter(({ serverId }) => serverId === row.id),
            user,
          ),
        ),
      };
    },

    save: async (db, input, user) => {
      const shared = input.shared === 1;
      if (shared && !user.manager)
        throw new Refusal('manage_unsuitable', '只有管理员能给所有人添加');
      if (!URL.canParse(input.url)) throw new Refusal('bad_input', 'url 应为 http 或 https 的地址');
      const known = input.id === undefined ? null : await changeable(db, input.id, user);
      if (known && isLocal(known.url)) throw new Refusal('manage_unsuitable', inFile);
      const moved = known !== null && known.url !== input.url;
      const secret = input.secret?.trim() ?? '';
      if (moved && secret === '' && known.secretEncrypted)
        throw new Refusal('bad_input', 'secret 地址变了，请重新填写令牌');
      const owner = shared ? null : user.id;
      // Of those that come at once each is counted.
      if (!known) await store.lockServers(db, owner);
      const most = shared ? toolServerLimits.shared : toolServerLimits.servers;
      if (!known && (await store.countServers(db, owner)) >= most)
        throw new Refusal('bad_input', `至多添加 ${most} 个工具服务`);
      const key = known?.key ?? randomUUID();
      const values = {
        name: input.name,
        url: input.url,
        header: input.header,
        enabled: input.enabled === 1,
        ...(input.more === undefined ? {} : { more: input.more === 1 }),
        ...(secret === '' ? {} : { secretEncrypted: keys.seal(secret, `tools ${key}`) }),
        // A sign-in is at one address, and a token of one's own takes its place.
        ...(moved || secret !== ''
          ? { login: '' as const, loginEncrypted: null, pendingEncrypted: null }
          : {}),
      };
      if (!known) return { id: await store.insertServer(db, { ...values, key, userId: owner }) };
      await store.changeServer(db, known.id, values);
      // Another address is another server: nothing of it was agreed to.
      if (moved) await store.storeTools(db, known.id, []);
      return { id: known.id };
    },

    check: async (db, id, user) => {
      const row = await changeable(db, id, user);
      await limitChecks(String(user.id));
      return look(db, row);
    },

    beginLogin: async (db, id, origin, user) => {
      const row = await changeable(db, id, user);
      if (isLocal(row.url)) throw new Refusal('manage_unsuitable', inFile);
      await limitChecks(String(user.id));
      const begun = logins.begin(row, `${origin}/tools/authorized`, user);
      const address = {
        url: row.url,
        headers: {},
        requests: requestsOf(row),
        auth: begun.provider,
      };
      const limits = { signal: AbortSignal.timeout(checkMs), ms: checkMs };
      try {
        await withMcp(address, limits, () => Promise.resolve());
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
        await store.changeServer(tx, id, { pendingEncrypted: begun.sealed() });
        return { url: url.href };
      };
    },

    endLogin: async (db, { state, code }, user) => {
      const missing = new Refusal('not_found', '这次授权已经过期，或不是您开始的，请重新授权');
      const row = await store.findServer(db, serverOfState(state));
      if (!row || !mayChange(row, user)) throw missing;
      const ending = logins.ending(row, state, user);
      // It is good for one try, whatever comes of it.
      if (!ending || !(await store.takePending(db, row))) throw missing;
      const auth = ending.provider;
      try {
        await endLogin(
          { url: row.url, headers: {}, requests: requestsOf(row), auth },
          code,
          checkMs,
        );
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        return () => Promise.resolve({ ok: false, message: error.message });
      }
      const given = { login: 'given' as const, loginEncrypted: ending.sealed() };
      await store.changeServer(db, row.id, given);
      return look(db, { ...row, ...given });
    },

    things: async (db, id, user, use) => {
      const row = await store.findServer(db, id);
      const seen = row !== null && (row.userId === null || row.userId === user.id);
      if (!seen || !row.enabled || !row.more)
        throw new Refusal('not_found', '没有这个工具服务，或它没有打开“资源与提示词”');
      await limitAccounts(String(user.id));
      try {
        return await atOnce(row, async () =>
          withMcp(
            await addressOf(db, row),
            { signal: AbortSignal.timeout(checkMs), ms: checkMs },
            use,
          ),
        );
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        await noteFailure(db, row, error);
        throw new Refusal('engine_failed', error.message);
      }
    },

    choose: async (db, { id, tools }, user) => {
      await changeable(db, id, user);
      await store.agreeTo(db, id, tools);
    },

    remove: async (db, id, user) => {
      const { url } = await changeable(db, id, user);
      if (isLocal(url)) throw new Refusal('manage_unsuitable', inFile);
      await store.removeServer(db, id);
    },
  };
};
