import { randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Executor } from '#server/db/database.ts';
import { LoginWanted, type LoginProvider } from '#server/engines/mcp/mcp-client.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { KeyBox } from '../model/channel-key.ts';
import { clientMetadata } from './client-document.ts';
import * as store from './tool-server.store.ts';

/** How long somebody has to sign in there, ms. */
const pendingMs = 15 * 60_000;

/** What a sign-in at a server of tools left behind. */
interface Login {
  client?: OAuthClientInformationMixed;
  discovery?: OAuthDiscoveryState;
  tokens?: OAuthTokens;
  redirect: string;
  /** What the server asked to be allowed when it last refused, in OAuth's words. */
  scope?: string;
}

/** One that is on its way: nobody ends it but who began it, in the same sign-in here. */
interface Pending extends Login {
  state: string;
  verifier: string;
  userId: number;
  jti: string;
  until: number;
}

const same = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** What a client's secret is bound to. @param key of its server */
export const clientSecretOf = (key: string): string => `tools ${key} client`;

const withoutRenewal = (tokens: OAuthTokens | undefined): OAuthTokens | undefined =>
  tokens && { ...tokens, refresh_token: undefined };

/** Has an address ask to be allowed this, too. */
const askFor = ({ searchParams }: URL, more: string): void => {
  const asked = [searchParams.get('scope') ?? '', more];
  const scope = [...new Set(asked.join(' ').split(' ').filter(Boolean))].join(' ');
  if (scope !== '') searchParams.set('scope', scope);
};

/** What its person says that this site is called at a server. @throws Refusal engine_failed */
const entered = (
  keys: KeyBox,
  { key, clientId, clientSecretEncrypted: sealed }: store.ServerRow,
): OAuthClientInformationMixed | undefined => {
  if (clientId === '') return undefined;
  const secret = sealed === null ? '' : keys.open(sealed, clientSecretOf(key));
  if (secret === null) throw new Refusal('engine_failed', '应用密钥解不开，请重新填写');
  return { client_id: clientId, ...(secret !== '' && { client_secret: secret }) };
};

/** A server that knows this address of ours already is not asked to register it again. */
const registered = (
  before: Login | null,
  redirect: string,
): OAuthClientInformationMixed | undefined =>
  before?.redirect === redirect ? before.client : undefined;

/**
 * Sign-ins at servers of tools, by OAuth 2.1 as MCP has it: what is kept of them is sealed.
 * @param named where this site's document about itself is; undefined: it is registered instead
 */
export const createToolLogins = (keys: KeyBox, named: string | undefined) => {
  const read = ({ key }: store.ServerRow, sealed: Buffer | null): Login | null => {
    const text = sealed && keys.open(sealed, `tools ${key} login`);
    return text ? (JSON.parse(text) as Login) : null;
  };
  const seal = ({ key }: store.ServerRow, value: Login): Buffer =>
    keys.seal(JSON.stringify(value), `tools ${key} login`);

  /** What the SDK's client is told and tells of a sign-in, which `login` holds. */
  const provider = (
    login: Login,
    more: Pick<
      OAuthClientProvider,
      'saveTokens' | 'redirectToAuthorization' | 'saveCodeVerifier' | 'codeVerifier'
    > &
      Partial<LoginProvider>,
  ): LoginProvider => ({
    redirectUrl: login.redirect,
    clientMetadata: clientMetadata(login.redirect),
    ...(named && { clientMetadataUrl: named }),
    clientInformation: () => login.client,
    saveClientInformation: (client) => {
      login.client = client;
    },
    tokens: () => login.tokens,
    discoveryState: () => login.discovery,
    saveDiscoveryState: (discovery) => {
      login.discovery = discovery;
    },
    ...more,
  });

  return {
    /** For requests to a server where somebody signed in; null: nobody did. */
    of: (db: Executor, row: store.ServerRow): LoginProvider | null => {
      const login = read(row, row.loginEncrypted);
      if (!login) return null;
      const keep = () => store.changeServer(db, row.id, { loginEncrypted: seal(row, login) });
      let renewable = true;
      return provider(login, {
        // Another process may have renewed them meanwhile.
        tokens: async () => {
          const now = await store.findServer(db, row.id);
          login.tokens = (now && read(now, now.loginEncrypted)?.tokens) ?? login.tokens;
          return renewable ? login.tokens : withoutRenewal(login.tokens);
        },
        // A renewal, which the SDK tries first, allows no more than before.
        wantMore: () => {
          renewable = false;
        },
        saveTokens: async (tokens) => {
          login.tokens = tokens;
          await keep();
        },
        invalidateCredentials: async (scope) => {
          // What was entered by hand no registration replaces.
          if ((scope === 'all' || scope === 'client') && row.clientId === '') delete login.client;
          if (scope === 'all' || scope === 'tokens') delete login.tokens;
          await keep();
        },
        // Nobody is there to be led anywhere: whoever signs in next is asked for this.
        redirectToAuthorization: async (url) => {
          login.scope = url.searchParams.get('scope') ?? '';
          await keep();
          throw new LoginWanted();
        },
        saveCodeVerifier: () => {},
        codeVerifier: () => {
          throw new LoginWanted();
        },
      });
    },

    /** Begins one; `address` is where its person goes, once the server was asked for it. */
    begin: (row: store.ServerRow, redirect: string, user: Identity) => {
      const before = read(row, row.loginEncrypted);
      const client = entered(keys, row) ?? registered(before, redirect);
      const pending: Pending = {
        ...(client && { client }),
        redirect,
        state: `${row.id}.${randomBytes(24).toString('base64url')}`,
        verifier: '',
        userId: user.id,
        jti: user.jti,
        until: Date.now() + pendingMs,
      };
      let address: URL | null = null;
      return {
        address: (): URL | null => address,
        sealed: () => seal(row, pending),
        provider: provider(pending, {
          state: () => pending.state,
          saveTokens: () => {},
          redirectToAuthorization: (url) => {
            askFor(url, before?.scope ?? '');
            address = url;
          },
          saveCodeVerifier: (verifier) => {
            pending.verifier = verifier;
          },
          codeVerifier: () => pending.verifier,
        }),
      };
    },

    /** The one that this state belongs to; null: it is another's, over, or was never begun. */
    ending: (row: store.ServerRow, state: string, user: Identity) => {
      const pending = read(row, row.pendingEncrypted) as Pending | null;
      if (!pending || !same(pending.state, state) || pending.until < Date.now()) return null;
      if (pending.userId !== user.id || pending.jti !== user.jti) return null;
      const { client, discovery, redirect } = pending;
      const login: Login = {
        redirect,
        ...(client && { client }),
        ...(discovery && { discovery }),
      };
      return {
        sealed: () => seal(row, login),
        provider: provider(login, {
          saveTokens: (tokens) => {
            login.tokens = tokens;
          },
          redirectToAuthorization: () => {
            throw new LoginWanted();
          },
          saveCodeVerifier: () => {},
          codeVerifier: () => pending.verifier,
        }),
      };
    },
  };
};

/** The number of the server in a state. */
export const serverOfState = (state: string): number =>
  Number(/^(\d{1,15})\./.exec(state)?.[1] ?? 0);
