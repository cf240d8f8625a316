import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { McpError } from '#server/engines/mcp/mcp-client.ts';

/** What begins the address of a server of tools that runs on this machine. */
const scheme = 'stdio:';

/** A program that speaks MCP by its input and output. */
export interface LocalServer {
  command: string;
  args: string[];
  env: Record<string, string>;
}

export const isLocal = (url: string): boolean => url.startsWith(scheme);
export const localUrl = (name: string): string => `${scheme}${encodeURIComponent(name)}`;

const wordsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

const readEntry = (value: unknown): LocalServer | null => {
  const { command, args, env } = (value ?? {}) as Record<string, unknown>;
  if (typeof command !== 'string' || command === '') return null;
  const variables = Object.entries((env ?? {}) as Record<string, unknown>).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { command, args: wordsOf(args), env: Object.fromEntries(variables) };
};

/**
 * Programs that the operator lets run here: `mcp.json` in the data folder, as other clients have it,
 * `{ "mcpServers": { name: { command, args, env } } }`. Only who can write there adds one: a program
 * has the rights of this server. Read anew each time. @throws McpError where the file is broken
 */
export const createLocalServers = (dataDir: string) => {
  const file = path.join(dataDir, 'mcp.json');
  const read = async (): Promise<Map<string, LocalServer>> => {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null) return new Map();
    let given: unknown;
    try {
      given = JSON.parse(text);
    } catch {
      throw new McpError('数据文件夹里的 mcp.json 不是 JSON，请检查');
    }
    const { mcpServers = {} } = (given ?? {}) as { mcpServers?: Record<string, unknown> };
    return new Map(
      Object.entries(mcpServers).flatMap(([name, value]) => {
        const entry = readEntry(value);
        return entry && name.length <= 40 ? [[localUrl(name), entry] as const] : [];
      }),
    );
  };
  return {
    read,
    /** @throws McpError where it is not in the file */
    find: async (url: string): Promise<LocalServer> => {
      const found = (await read()).get(url);
      if (!found) throw new McpError('服务器上的 mcp.json 里没有它了');
      return found;
    },
    nameOf: (url: string): string => decodeURIComponent(url.slice(scheme.length)),
  };
};
