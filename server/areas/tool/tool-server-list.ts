import { randomUUID } from 'node:crypto';
import type { Out, Parsed } from '#contract/calls.ts';
import { type ToolServer, toolServerLimits } from '#contract/tool-server.ts';
import type { Executor } from '#server/db/database.ts';
import { McpError } from '#server/engines/mcp/mcp-client.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { isLocal } from './local-servers.ts';
import type { Reach } from './tool-reach.ts';
import { clientSecretOf } from './tool-login.ts';
import * as store from './tool-server.store.ts';

export const mayChange = (row: store.ServerRow, user: Identity): boolean =>
  row.userId === null ? user.manager : row.userId === user.id;

/** One that somebody may change. @throws Refusal not_found: also for what is another's */
export const changeable = async (
  db: Executor,
  id: number,
  user: Identity,
): Promise<store.ServerRow> => {
  const row = await store.findServer(db, id);
  if (!row || !mayChange(row, user)) throw new Refusal('not_found', '没有这个工具服务');
  return row;
};

/** One that a person wrote down here, and somebody may change. @throws Refusal not_found, manage_unsuitable */
export const ofPeople = async (
  db: Executor,
  id: number,
  user: Identity,
): Promise<store.ServerRow> => {
  const row = await changeable(db, id, user);
  if (isLocal(row.url))
    throw new Refusal('manage_unsuitable', '它写在服务器的 mcp.json 里，请在那里更改或去掉');
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
    client_id: mine ? row.clientId : '',
    has_client_secret: row.clientSecretEncrypted !== null,
    more: row.more,
    login: row.login === '' ? 'none' : row.login,
    last_error: mine ? row.lastError : '',
    last_ok_at: row.lastOkAt?.toISOString() ?? null,
    tools: mine ? listed : listed.filter(({ on }) => on),
  };
};

/** What the file names is there for managers to choose from; what it no longer names is gone. */
const takeLocal = async ({ local }: Pick<Reach, 'local'>, db: Executor): Promise<void> => {
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

/** The servers that somebody may use, with their tools. */
export const listServers = async (
  reach: Pick<Reach, 'local'>,
  db: Executor,
  user: Identity,
): Promise<Out<'toolServers'>> => {
  if (user.manager) await takeLocal(reach, db);
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
};

/**
 * How this site is known at a server: by a token, or by a name that it was given there and a sign-in.
 * @param known null: the server is new
 * @throws Refusal bad_input
 */
const waysIn = (
  { keys }: Pick<Reach, 'keys'>,
  known: store.ServerRow | null,
  key: string,
  input: Parsed<'saveToolServer'>,
) => {
  const moved = known !== null && known.url !== input.url;
  const secret = input.secret?.trim() ?? '';
  const clientId = secret === '' ? (input.client_id ?? known?.clientId ?? '') : '';
  const clientSecret = input.client_secret ?? '';
  if (secret !== '' && (input.client_id ?? '') !== '')
    throw new Refusal('bad_input', 'client_id 与令牌只填一个：有令牌就不用授权');
  if (clientSecret !== '' && clientId === '')
    throw new Refusal('bad_input', 'client_id 请填写，密钥是与它一起用的');
  const renamed = clientId !== (known?.clientId ?? '');
  if (moved && secret === '' && known.secretEncrypted && clientId === '')
    throw new Refusal('bad_input', 'secret 地址变了，请重新填写令牌');
  if (moved && !renamed && clientSecret === '' && known.clientSecretEncrypted)
    throw new Refusal('bad_input', 'client_secret 地址变了，请重新填写');
  return {
    ...(secret === '' ? {} : { secretEncrypted: keys.seal(secret, `tools ${key}`) }),
    ...(renamed && clientId !== '' ? { secretEncrypted: null } : {}),
    clientId,
    ...(renamed ? { clientSecretEncrypted: null } : {}),
    ...(clientSecret === ''
      ? {}
      : { clientSecretEncrypted: keys.seal(clientSecret, clientSecretOf(key)) }),
    // A sign-in is at one address under one name, and a token of one's own takes its place.
    ...(moved || secret !== '' || renamed || clientSecret !== ''
      ? {
          login: clientId === '' ? ('' as const) : ('wanted' as const),
          loginEncrypted: null,
          pendingEncrypted: null,
        }
      : {}),
  };
};

/** Adds a server, or changes one; gives its number. @throws Refusal manage_unsuitable, bad_input, not_found */
export const saveServer = async (
  reach: Pick<Reach, 'keys'>,
  db: Executor,
  input: Parsed<'saveToolServer'>,
  user: Identity,
): Promise<{ id: number }> => {
  const shared = input.shared === 1;
  if (shared && !user.manager) throw new Refusal('manage_unsuitable', '只有管理员能给所有人添加');
  if (!URL.canParse(input.url)) throw new Refusal('bad_input', 'url 应为 http 或 https 的地址');
  const known = input.id === undefined ? null : await ofPeople(db, input.id, user);
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
    ...waysIn(reach, known, key, input),
  };
  if (!known) return { id: await store.insertServer(db, { ...values, key, userId: owner }) };
  await store.changeServer(db, known.id, values);
  // Another address is another server: nothing of it was agreed to.
  if (known.url !== input.url) await store.storeTools(db, known.id, []);
  return { id: known.id };
};
