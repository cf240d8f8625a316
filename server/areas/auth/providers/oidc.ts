import type * as OpenId from 'openid-client';
import type { Requests } from '#server/net/guarded-fetch.ts';
import { type Dialect, NotVouched, type Provider } from './vouched.ts';

/** How long what an issuer says of itself is taken for true, ms. */
const keptMs = 10 * 60_000;
const mostKept = 50;

/** Plain HTTP goes to this machine alone. */
const isHere = ({ hostname }: URL): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

const kept = new Map<string, { at: number; config: Promise<OpenId.Configuration> }>();

const discover = async (provider: Provider, ask: Requests): Promise<OpenId.Configuration> => {
  const client = await import('openid-client');
  const issuer = new URL(provider.issuer);
  const more = [
    // Signatures of what comes over TLS are checked all the same.
    client.enableNonRepudiationChecks,
    ...(issuer.protocol === 'http:' && isHere(issuer) ? [client.allowInsecureRequests] : []),
  ];
  const customFetch = (url: string, init: object) => ask(url, init);
  const found = await client.discovery(issuer, provider.clientId, undefined, client.None(), {
    execute: more,
    timeout: 10,
    [client.customFetch]: customFetch,
  });
  const server = found.serverMetadata();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const config = new client.Configuration(
    server,
    provider.clientId,
    undefined,
    provider.secret === ''
      ? client.None()
      : methods.includes('client_secret_basic')
        ? client.ClientSecretBasic(provider.secret)
        : client.ClientSecretPost(provider.secret),
  );
  config[client.customFetch] = customFetch;
  config.timeout = 10;
  for (const set of more) set(config);
  return config;
};

const configOf = (provider: Provider, ask: Requests): Promise<OpenId.Configuration> => {
  const key = JSON.stringify([provider.issuer, provider.clientId, provider.secret]);
  const known = kept.get(key);
  if (known && Date.now() - known.at < keptMs) return known.config;
  if (kept.size >= mostKept) kept.clear();
  const config = discover(provider, ask);
  kept.set(key, { at: Date.now(), config });
  // What failed is tried anew by the next one.
  config.catch(() => kept.delete(key));
  return config;
};

const labelIn = (claims: Record<string, unknown>): string =>
  [claims['name'], claims['preferred_username'], claims['email']].find(
    (each): each is string => typeof each === 'string' && each !== '',
  ) ?? '';

const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 300) : 'unknown';

/** OpenID Connect by openid-client: code with PKCE, state and nonce. */
export const oidc: Dialect = {
  address: async (provider, flow, ask) => {
    try {
      const client = await import('openid-client');
      const config = await configOf(provider, ask);
      return client.buildAuthorizationUrl(config, {
        redirect_uri: flow.redirectUrl,
        scope: provider.scope || 'openid profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      }).href;
    } catch (error) {
      throw new NotVouched(reasonOf(error));
    }
  },

  vouch: async (provider, flow, query, ask) => {
    try {
      const client = await import('openid-client');
      const config = await configOf(provider, ask);
      const back = new URL(flow.redirectUrl);
      back.search = query.toString();
      const tokens = await client.authorizationCodeGrant(config, back, {
        pkceCodeVerifier: flow.verifier,
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('no ID token');
      const { iss, sub } = claims;
      // Many tell the name at another address alone; it is no part of who somebody is.
      const more =
        labelIn(claims) === ''
          ? await client.fetchUserInfo(config, tokens.access_token, sub).catch(() => ({}))
          : {};
      return { issuer: iss, subject: sub, label: labelIn(claims) || labelIn(more) };
    } catch (error) {
      throw new NotVouched(reasonOf(error));
    }
  },
};
