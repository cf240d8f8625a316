import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  InvalidGrantError,
  InvalidTokenError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type {
  AuthorizationParams,
  OAuthServerProvider,
} from '@modelcontextprotocol/sdk/server/auth/provider.js';
import {
  createOAuthMetadata,
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  type OAuthClientInformationFull,
  OAuthClientInformationFullSchema,
  type OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import express, { type RequestHandler } from 'express';
import { makeEchoes } from './mcp-server.ts';

/**
 * A server of tools behind an OAuth server, both of the official SDK: it checks PKCE, registers
 * clients, and renews tokens, each refresh token once. `/authorize` shows a page with one link.
 * @param documentAt fetches the document that a client is named by; left out: it knows no such names
 * @param late anybody may connect. `list`: who asks is asked at the list of tools, and a call wants
 *   the scope `call` besides; `call`: anybody may read the list, too
 * @param registers left out: clients register themselves; false: they are known by `enrol` alone
 */
export const startMcpBehindOAuth = async ({
  documentAt,
  late,
  registers = true,
}: {
  documentAt?: (url: string) => Promise<unknown>;
  late?: 'list' | 'call';
  registers?: boolean;
} = {}) => {
  const clients = new Map<string, OAuthClientInformationFull>();
  const codes = new Map<string, { client: string; params: AuthorizationParams }>();
  const access = new Map<string, { until: number; scopes: string[] }>();
  const refresh = new Map<string, string[]>();
  const counts = { registered: 0, refreshed: 0 };
  const give = (scopes: string[]): OAuthTokens => {
    const [token, renew] = [randomUUID(), randomUUID()];
    access.set(token, { until: Date.now() + 3_600_000, scopes });
    refresh.set(renew, scopes);
    return { access_token: token, refresh_token: renew, token_type: 'bearer', expires_in: 3600 };
  };
  const provider: OAuthServerProvider = {
    clientsStore: {
      getClient: async (id) => {
        if (!documentAt || !id.startsWith('https://')) return clients.get(id);
        const told = OAuthClientInformationFullSchema.parse(await documentAt(id));
        return told.client_id === id ? told : undefined;
      },
      ...(registers && {
        registerClient: (client) => {
          counts.registered += 1;
          const full = { ...client, client_id: randomUUID() };
          clients.set(full.client_id, full);
          return full;
        },
      }),
    },
    authorize: async (client, params, response) => {
      const code = randomUUID();
      codes.set(code, { client: client.client_id, params });
      const back = new URL(params.redirectUri);
      back.searchParams.set('code', code);
      if (params.state) back.searchParams.set('state', params.state);
      response.send(`<title>授权</title><a href="${back.href.replaceAll('&', '&amp;')}">同意</a>`);
    },
    challengeForAuthorizationCode: async (_client, code) => {
      const known = codes.get(code);
      if (!known) throw new InvalidGrantError('unknown code');
      return known.params.codeChallenge;
    },
    exchangeAuthorizationCode: async (client, code) => {
      const known = codes.get(code);
      if (known?.client !== client.client_id) throw new InvalidGrantError('not yours');
      codes.delete(code);
      return give(known.params.scopes ?? []);
    },
    exchangeRefreshToken: async (_client, token) => {
      const scopes = refresh.get(token);
      if (!scopes) throw new InvalidGrantError('used');
      refresh.delete(token);
      counts.refreshed += 1;
      return give(scopes);
    },
    verifyAccessToken: async (token) => {
      const { until, scopes } = access.get(token) ?? { until: 0, scopes: [] };
      if (until < Date.now()) throw new InvalidTokenError('expired');
      return { token, clientId: 'any', scopes, expiresAt: Math.floor(until / 1000) };
    },
  };
  const app = express();
  /** Paths that it was asked for. */
  const asked: string[] = [];
  app.use((request, _response, next) => {
    asked.push(request.path);
    next();
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = new URL(`http://${host}/mcp`);
  const given = {
    provider,
    issuerUrl: new URL(`http://${host}`),
    resourceServerUrl: url,
    scopesSupported: ['tools'],
  };
  if (documentAt)
    app.get('/.well-known/oauth-authorization-server', (_request, response) => {
      response.json({
        ...createOAuthMetadata(given),
        client_id_metadata_document_supported: true,
      });
    });
  app.use(mcpAuthRouter(given));
  const called: string[] = [];
  const [known, allowed] = [[], ['call']].map((requiredScopes) =>
    requireBearerAuth({
      verifier: provider,
      requiredScopes,
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url),
    }),
  ) as [RequestHandler, RequestHandler];
  const checked: RequestHandler = (request, response, next) => {
    const { method = '' } = (request.body ?? {}) as { method?: string };
    if (!late || (late === 'list' && method === 'tools/list')) known(request, response, next);
    else if (method === 'tools/call') (late === 'list' ? allowed : known)(request, response, next);
    else next();
  };
  app.all('/mcp', express.json(), checked, (request, response) => {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: false });
    makeEchoes(called)
      .connect(transport)
      .then(() => transport.handleRequest(request, response, request.body))
      .catch(() => response.destroy());
  });
  return {
    host,
    url: url.href,
    called,
    counts,
    asked,
    /** Makes a client known that did not register itself. */
    enrol: (client: OAuthClientInformationFull) => clients.set(client.client_id, client),
    /** What was given so far counts no more; with `all` it cannot be renewed either. */
    expire: (all: boolean) => {
      access.clear();
      if (all) refresh.clear();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
