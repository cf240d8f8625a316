import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { McpError, type McpSession, withMcp } from '#server/engines/mcp/mcp-client.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { type ForeignTool, offeredTokens, offeredTools, toolOf } from './foreign-tool.ts';
import {
  atOnce,
  checkLimits,
  createReach,
  look,
  noteFailure,
  type ReachDeps,
} from './tool-reach.ts';
import { changeable, listServers, ofPeople, saveServer } from './tool-server-list.ts';
import * as store from './tool-server.store.ts';
import { beginLogin, finishLogin } from './tool-sign-in.ts';
import type { ToolUser } from './tool.ts';

/** Calls of one person in a day, and checks in a minute: others' servers are not to be worn out from here. */
const aDay = { account: 500, guest: 50 };
const checksAMinute = 20;
export type ToolServers = ReturnType<typeof createToolServers>;

/** Servers of tools that speak MCP: what they offer, who chose it, and how it is called. */
export const createToolServers = (deps: ReachDeps) => {
  const reach = createReach(deps);
  const limitAccounts = createKeyLimit(aDay.account, 86_400, 'calls of tool servers');
  const limitGuests = createKeyLimit(aDay.guest, 86_400, 'calls of tool servers by guests');
  const limitChecks = createKeyLimit(checksAMinute, 60, 'checks of tool servers');
  const limitCalls = ({ guest, person, id }: Pick<ToolUser, 'id' | 'guest' | 'person'>) =>
    guest ? limitGuests(person) : limitAccounts(String(id));

  return {
    offered: offeredTools,
    offeredTokens,
    tool: (foreign: ForeignTool) => toolOf({ reach, limitCalls }, foreign),
    list: (db: Executor, user: Identity) => listServers(reach, db, user),
    save: (db: Executor, input: Parsed<'saveToolServer'>, user: Identity) =>
      saveServer(reach, db, input, user),

    async check(db: Executor, id: number, user: Identity) {
      const row = await changeable(db, id, user);
      await limitChecks(String(user.id));
      return look(reach, db, row);
    },

    /** @param origin of this site: its person comes back there */
    async beginLogin(db: Executor, id: number, origin: string, user: Identity) {
      const row = await ofPeople(db, id, user);
      await limitChecks(String(user.id));
      return beginLogin(reach, row, origin, user);
    },

    endLogin: (db: Executor, input: Parsed<'endToolLogin'>, user: Identity) =>
      finishLogin(reach, db, input, user),

    /**
     * Uses a server whose resources and prompts are offered to this person.
     * @throws Refusal not_found, engine_failed
     */
    async things<T>(
      db: Executor,
      id: number,
      user: Identity,
      use: (mcp: McpSession) => Promise<T>,
    ): Promise<T> {
      const row = await store.findServer(db, id);
      const seen = row !== null && (row.userId === null || row.userId === user.id);
      if (!seen || !row.enabled || !row.more)
        throw new Refusal('not_found', '没有这个工具服务，或它没有打开“资源与提示词”');
      await limitAccounts(String(user.id));
      try {
        return await atOnce(row, user, async () =>
          withMcp(await reach.addressOf(db, row), checkLimits(), use),
        );
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        await noteFailure(db, row, error);
        throw new Refusal('engine_failed', error.message);
      }
    },

    async choose(db: Executor, { id, tools }: Parsed<'chooseTools'>, user: Identity) {
      await changeable(db, id, user);
      await store.agreeTo(db, id, tools);
    },

    async remove(db: Executor, id: number, user: Identity) {
      await ofPeople(db, id, user);
      await store.removeServer(db, id);
    },
  };
};
