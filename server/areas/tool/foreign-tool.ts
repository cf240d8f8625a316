import { estimateTokens } from '#contract/price.ts';
import { toolServerLimits } from '#contract/tool-server.ts';
import type { Executor } from '#server/db/database.ts';
import { LoginWanted, McpError, type McpTool, withMcp } from '#server/engines/mcp/mcp-client.ts';
import type { Answering } from '#server/engines/mcp/mcp-questions.ts';
import { Refusal } from '#server/http/handlers.ts';
import { atOnce, digested, digestOf, noteFailure, type Reach } from './tool-reach.ts';
import * as store from './tool-server.store.ts';
import { isLocal } from './local-servers.ts';
import { createOpenCalls } from './open-calls.ts';
import {
  AnswerWanted,
  SignInWanted,
  type Tool,
  type ToolContext,
  ToolFailure,
  type ToolUser,
} from './tool.ts';

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

/** How long a call may take, s. */
const seconds = 60;
/** Letters of the arguments that are shown with the question. */
const mostShown = 1500;

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

interface CallDeps {
  reach: Pick<Reach, 'addressOf'>;
  /** @throws Refusal where this person has called enough today */
  limitCalls: (user: Pick<ToolUser, 'id' | 'guest' | 'person'>) => Promise<void>;
}

/** A server wants a sign-in: whoever may do that is waited for, at everybody's no others than managers. */
const wantedIn = ({ id, userId }: store.ServerRow, { manager }: ToolUser): ToolFailure =>
  userId === null && !manager
    ? new ToolFailure('它要先授权：请管理员在“工具服务”里授权')
    : new SignInWanted(id, '它要先授权');

/** Those of this process. */
const openCalls = createOpenCalls<
  { said: string; now?: never } | { said?: never; now: McpTool[] }
>();

const run = async (
  { reach, limitCalls }: CallDeps,
  foreign: ForeignTool,
  given: Record<string, unknown>,
  { db, user, key, signal, answers }: ToolContext,
): Promise<string> => {
  const row = await store.findServer(db, foreign.serverId);
  // It may have been taken away, or changed hands, since the model was offered it.
  if (!row?.enabled || (row.userId !== null && row.userId !== user.id))
    throw new ToolFailure('这个工具服务已经停用');
  await limitCalls(user).catch((error: unknown) => {
    throw error instanceof Refusal ? new ToolFailure('今天用工具服务的次数到了，明天再试') : error;
  });
  const make = ({ signal: until, answering }: { signal: AbortSignal; answering?: Answering }) =>
    atOnce(row, user, async () =>
      withMcp(
        await reach.addressOf(db, row),
        { signal: until, answering, ms: seconds * 1000 + (answering ? openCalls.openMs : 0) },
        async (mcp) => {
          const now = await mcp.tools();
          const same = now.find(({ name }) => name === foreign.tool);
          if (!same || digestOf(same) !== foreign.digest) return { now };
          return { said: await mcp.call(foreign.tool, given) };
        },
      ),
    );
  const call = answers && openCalls.take(key, foreign.serverName, answers, make);
  try {
    const made = await (call ? call.goOn(answers, signal) : make({ signal }));
    await store.noteServer(db, row.id, null);
    if (made.said !== undefined) return made.said;
    await store.storeTools(db, row.id, digested(made.now));
    throw new ToolFailure('这个工具的说明变了，要在“工具服务”里重新同意才能再用');
  } catch (error) {
    // A program holds a place of few: it is not kept.
    if (call && error instanceof AnswerWanted)
      if (isLocal(row.url)) call.leave(error);
      else openCalls.keep(key, user.id, call, error);
    if (error instanceof ToolFailure) throw error;
    if (!(error instanceof McpError)) throw error;
    if (!signal.aborted) await noteFailure(db, row, error);
    throw error instanceof LoginWanted
      ? wantedIn(row, user)
      : new ToolFailure(`${error.message}${call?.declined() ?? ''}`);
  }
};

/** What a person's models may be offered now. */
export const offeredTools = async (
  db: Executor,
  user: Pick<ToolUser, 'id' | 'guest'>,
): Promise<ForeignTool[]> => {
  const rows = await store.offeredTools(db, user.guest ? null : user.id, toolServerLimits.offered);
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
};

const specOf = ({ name, description, parameters }: ForeignTool) => ({
  name,
  description,
  parameters,
});

/** Of tools by their digests, so that they need not be read to be counted; and how many are kept. */
const counted = new Map<string, number>();
const mostCounted = 10_000;

/** About how many tokens a person's models are told of them. */
export const offeredTokens = async (
  db: Executor,
  user: Pick<ToolUser, 'id' | 'guest'>,
): Promise<number> => {
  const userId = user.guest ? null : user.id;
  const digests = await store.offeredDigests(db, userId, toolServerLimits.offered);
  if (!digests.every((digest) => counted.has(digest))) {
    if (counted.size > mostCounted) counted.clear();
    for (const tool of await offeredTools(db, user))
      if (!counted.has(tool.digest))
        counted.set(tool.digest, estimateTokens(JSON.stringify(specOf(tool))));
  }
  return digests.reduce((sum, digest) => sum + (counted.get(digest) ?? 0), 0);
};

/** A tool of a server as a loop calls it. */
export const toolOf = (deps: CallDeps, foreign: ForeignTool): Tool => ({
  label: `${foreign.serverName} · ${foreign.tool}`.slice(0, 40),
  seconds,
  own: foreign.own,
  spec: specOf(foreign),
  // What it says of itself is its own word: whether it only reads nobody knows.
  asks: (given) =>
    `把下面的内容发给工具服务“${foreign.serverName}”，用它的 ${foreign.tool}：\n${shown(given) || '（没有参数）'}`,
  run: async (given, context) => {
    try {
      return { text: await run(deps, foreign, given, context) };
    } catch (error) {
      if (error instanceof Refusal) throw new ToolFailure(error.message);
      throw error;
    }
  },
});
