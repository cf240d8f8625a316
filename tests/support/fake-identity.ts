import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider from 'oidc-provider';

export const clientId = 'queqiao';
export const clientSecret = 'client-secret-of-tests-0123456789';

const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const closing = (server: Server) => () =>
  new Promise<void>((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

/** A whole OpenID provider; `open` starts it once it is known where it leads back to. */
export const startIdentity = async () => {
  let serve: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  const server = createServer((request, response) => {
    if (serve) serve(request, response);
    else response.writeHead(503).end();
  });
  const issuer = await listening(server);
  return {
    issuer,
    open: (redirectUrls: string[]) => {
      const provider = new Provider(issuer, {
        clients: [
          { client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUrls },
        ],
        pkce: { required: () => true },
        claims: { openid: ['sub'], profile: ['name'] },
        findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, name: sub }) }),
        cookies: { keys: ['of-tests'] },
      });
      const { error, warn } = console;
      provider.on('server_error', (_context, failure) => error(failure));
      console.warn = warn;
      const handle = provider.callback();
      serve = (request, response) => void handle(request, response);
    },
    close: closing(server),
  };
};

/** Walks through the provider's pages as somebody; gives the query that it leads back with. */
export const walkThrough = async (start: string, login: string): Promise<string> => {
  const jar = new Map<string, string>();
  const ask = async (url: string, form?: Record<string, string>) => {
    const answer = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return answer;
  };
  const { origin } = new URL(start);
  let url = start;
  for (let step = 0; step < 15; step += 1) {
    if (new URL(url).origin !== origin) return new URL(url).search.slice(1);
    let answer = await ask(url);
    if (answer.status === 200 && url.includes('/interaction/')) {
      const page = await answer.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
      answer = await ask(url, prompt === 'login' ? { prompt, login, password: 'any' } : { prompt });
    }
    const next = answer.headers.get('location');
    if (next === null) throw new Error(`the provider stopped: ${answer.status} ${url}`);
    url = new URL(next, url).href;
  }
  throw new Error('the provider leads round and round');
};

/** What an answer of the token endpoint is spoiled in. */
export interface Spoiled {
  claims?: (good: JWTPayload) => JWTPayload;
  sign?: 'good' | 'other-key' | 'none' | 'secret' | 'tampered';
  answer?: (good: Record<string, unknown>) => Record<string, unknown>;
  status?: number;
  raw?: string;
}

/** An issuer that says whatever a test wants: everybody is `sub`, with the nonce of their way there. */
export const startLoose = async (sub: string) => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const other = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const state: { spoiled: Spoiled; nonces: Map<string, string> } = {
    spoiled: {},
    nonces: new Map(),
  };
  let issuer = '';
  const token = async (nonce: string): Promise<string> => {
    const { claims = (good) => good, sign = 'good' } = state.spoiled;
    const now = Math.floor(Date.now() / 1000);
    const good = { iss: issuer, aud: clientId, sub, nonce, iat: now, exp: now + 300 };
    const payload = claims(good);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    if (sign === 'none') return `${part({ alg: 'none' })}.${part(payload)}.`;
    if (sign === 'secret')
      return new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(new TextEncoder().encode(clientSecret));
    const made = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(sign === 'other-key' ? other.privateKey : privateKey);
    if (sign !== 'tampered') return made;
    const [head, , signature] = made.split('.');
    return [head, part({ ...payload, sub, admin: true }), signature].join('.');
  };
  const server = createServer((request, response) => {
    void (async () => {
      const json = (value: unknown, status = 200) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(value));
      };
      const { pathname } = new URL(request.url ?? '/', issuer);
      if (pathname === '/.well-known/openid-configuration')
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          authorization_response_iss_parameter_supported: true,
        });
      if (pathname === '/keys') return json({ keys: [jwk] });
      if (pathname !== '/token') return json({}, 404);
      let body = '';
      for await (const piece of request as AsyncIterable<Buffer>) body += piece.toString();
      const code = new URLSearchParams(body).get('code') ?? '';
      const { answer = (good) => good, status = 200, raw } = state.spoiled;
      if (raw !== undefined) {
        response.writeHead(status, { 'content-type': 'text/html' });
        response.end(raw);
        return;
      }
      json(
        answer({
          access_token: 'a',
          token_type: 'Bearer',
          expires_in: 300,
          id_token: await token(state.nonces.get(code) ?? ''),
        }),
        status,
      );
    })();
  });
  issuer = await listening(server);
  return {
    issuer,
    state,
    /** Where it leads back to, by the address that a person was sent to. */
    back: (url: string): URLSearchParams => {
      const { searchParams } = new URL(url);
      const code = `code-${state.nonces.size}`;
      state.nonces.set(code, searchParams.get('nonce') ?? '');
      return new URLSearchParams({
        code,
        state: searchParams.get('state') ?? '',
        iss: issuer,
      });
    },
    close: closing(server),
  };
};

/** The answers of 企业微信, 飞书, 钉钉 and 微信开放平台, all at one address, to the one right code. */
export const startHouses = async () => {
  const asked: string[] = [];
  const right = 'the-right-code';
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const piece of request as AsyncIterable<Buffer>) body += piece.toString();
      const url = new URL(request.url ?? '/', 'http://houses');
      asked.push(url.pathname);
      const given = (body === '' ? {} : JSON.parse(body)) as Record<string, string>;
      const query = Object.fromEntries(url.searchParams);
      const answer = (): object => {
        switch (url.pathname) {
          case '/cgi-bin/gettoken':
            return query['corpsecret'] === clientSecret
              ? { errcode: 0, errmsg: 'ok', access_token: 'of-company', expires_in: 7200 }
              : { errcode: 40001, errmsg: 'invalid credential' };
          case '/cgi-bin/auth/getuserinfo':
            if (query['access_token'] !== 'of-company' || query['code'] !== right)
              return { errcode: 40029, errmsg: 'invalid code' };
            return { errcode: 0, errmsg: 'ok', userid: 'zhangsan', user_ticket: 't' };
          case '/open-apis/authen/v2/oauth/token':
            return given['code'] === right && given['client_secret'] === clientSecret
              ? { code: 0, access_token: 'of-person', token_type: 'Bearer', expires_in: 7200 }
              : { code: 20003, error: 'invalid_grant', error_description: 'code' };
          case '/open-apis/authen/v1/user_info':
            return request.headers.authorization === 'Bearer of-person'
              ? {
                  code: 0,
                  msg: 'success',
                  data: { open_id: 'ou_1', union_id: 'on_1', name: '张三' },
                }
              : { code: 99991663, msg: 'token' };
          case '/v1.0/oauth2/userAccessToken':
            return given['code'] === right && given['clientSecret'] === clientSecret
              ? { accessToken: 'of-person', refreshToken: 'r', expireIn: 7200 }
              : { code: 'invalidCode', message: '不合法的临时授权码' };
          case '/v1.0/contact/users/me':
            return request.headers['x-acs-dingtalk-access-token'] === 'of-person'
              ? { nick: '张三', openId: 'dt_1', unionId: 'du_1' }
              : { code: 'Forbidden', message: '' };
          case '/sns/oauth2/access_token':
            return query['code'] === right && query['secret'] === clientSecret
              ? { access_token: 'of-person', expires_in: 7200, openid: 'wx_1', unionid: 'wu_1' }
              : { errcode: 40029, errmsg: 'invalid code' };
          case '/sns/userinfo':
            return { openid: 'wx_1', nickname: '张三' };
          default:
            return { errcode: -1, code: -1 };
        }
      };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer()));
    })();
  });
  return { issuer: await listening(server), asked, right, close: closing(server) };
};
