import type { Area, Host, Kit } from '#server/area.ts';
import { filledAddress } from '#server/engines/mcp/mcp-things.ts';
import { Refusal, type Handlers, type Identity } from '#server/http/handlers.ts';
import { createKeyBox } from '../model/channel-key.ts';
import { clientDocument, documentPath, documentUrl } from './client-document.ts';
import { serverOfState } from './tool-login.ts';
import { createToolServers } from './tool-servers.ts';

interface ToolDeps {
  /** Goes on with what waits for somebody's sign-in at a server; gives the conversation. */
  goOn: (host: Host, asked: { user: Identity; server: number }) => Promise<string | null>;
}

export const toolArea = ({ settings }: Kit, { goOn }: ToolDeps) =>
  ({
    holds: [
      {
        table: 'tool_servers',
        of: ['user_id'],
        end: 'delete',
        take: ['name', 'url', 'header', 'enabled', 'created_at'],
      },
    ],
    routes: (http) => {
      if (!documentUrl(settings.publicUrl)) return;
      const document = clientDocument(settings.publicUrl);
      http.get(documentPath, (_request, reply) =>
        reply.header('cache-control', 'public, max-age=3600').send(document),
      );
    },
    serve: (host) => {
      const servers = createToolServers({
        keys: createKeyBox(settings.secretKey, settings.dataDir),
        dataDir: settings.dataDir,
        allowed: settings.fetchAllowed,
        publicUrl: settings.publicUrl,
      });
      return {
        toolServers: (_input, { db, user }) => servers.list(db, user),
        toolTokens: async (_input, { db, user }) => ({
          tokens: await servers.offeredTokens(db, user),
        }),
        saveToolServer: (input, { db, user }) => servers.save(db, input, user),
        checkToolServer: ({ id }, { db, user }) => servers.check(db, id, user),
        beginToolLogin: ({ id }, { db, user, origin }) => servers.beginLogin(db, id, origin, user),
        endToolLogin: async (input, { db, user }) => {
          const end = await servers.endLogin(db, input, user);
          return async (tx) => {
            const ended = await end(tx);
            const asked = { user, server: serverOfState(input.state) };
            return { ...ended, goes_on: ended.ok ? await goOn(host, asked) : null };
          };
        },
        toolServerThings: async ({ id }, { db, user }) => {
          const things = await servers.things(db, id, user, async (mcp) => ({
            resources: await mcp.resources(),
            templates: await mcp.templates(),
            prompts: await mcp.prompts(),
          }));
          return () => Promise.resolve(things);
        },
        readToolResource: async ({ id, uri, blanks }, { db, user }) => {
          const address = blanks ? await filledAddress(uri, blanks) : uri;
          if (address === null) throw new Refusal('bad_input', 'blanks 填的内容放不进它的地址');
          const read = await servers.things(db, id, user, (mcp) => mcp.read(address));
          if (!read) throw new Refusal('not_found', '这份资源是空的，或已经不在了');
          return () => Promise.resolve(read);
        },
        fillToolPrompt: async ({ id, name, arguments: given }, { db, user }) => {
          const text = await servers.things(db, id, user, (mcp) => mcp.fill(name, given));
          return () => Promise.resolve({ text });
        },
        chooseTools: async (input, { db, user }) => {
          await servers.choose(db, input, user);
          return {};
        },
        deleteToolServer: async ({ id }, { db, user }) => {
          await servers.remove(db, id, user);
          return {};
        },
      } satisfies Partial<Handlers>;
    },
  }) satisfies Area;
