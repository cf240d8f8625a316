import { createHash } from 'node:crypto';
import type { ProviderKind } from '#contract/sign-in.ts';
import type { Requests } from '#server/net/guarded-fetch.ts';
import { oidc } from './oidc.ts';
import { type Dialect, NotVouched, type Provider, single } from './vouched.ts';

/**
 * Services that speak something like OAuth 2.0 of their own, after their public documents. Each is
 * asked over TLS for the person behind the code; the subject is what names a person for one app.
 */

type Json = Record<string, unknown>;

/** A usual address, or the operator's own in its place (private installations). */
const at = ({ issuer }: Provider, usual: string, path: string): string =>
  `${(issuer || usual).replace(/\/+$/, '')}${path}`;

const withQuery = (address: string, query: Record<string, string>): string =>
  `${address}?${new URLSearchParams(query).toString()}`;

const answerOf = async (
  ask: Requests,
  url: string,
  init: { method?: string; headers?: Record<string, string>; json?: object } = {},
): Promise<Json> => {
  let text: string;
  try {
    const answer = await ask(url, {
      method: init.method ?? 'GET',
      headers: {
        accept: 'application/json',
        ...(init.json ? { 'content-type': 'application/json; charset=utf-8' } : {}),
        ...init.headers,
      },
      ...(init.json ? { body: JSON.stringify(init.json) } : {}),
      signal: AbortSignal.timeout(10_000),
    });
    text = await answer.text();
  } catch {
    throw new NotVouched('no answer');
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // Said below.
  }
  throw new NotVouched('an answer that is no JSON object');
};

/** @throws NotVouched when the service says that something was wrong */
const good = (answer: Json, code: 'errcode' | 'code'): Json => {
  const number = answer[code];
  if (number !== undefined && number !== 0)
    throw new NotVouched(JSON.stringify(answer).slice(0, 200));
  return answer;
};

/** @throws NotVouched unless it is a text with something in it */
const textOf = (answer: Json, name: string): string => {
  const value = answer[name];
  if (typeof value !== 'string' || value === '') throw new NotVouched(`no ${name}`);
  return value;
};
const labelOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Who vouches: another app, or another address, has other people. */
const voucher = ({ kind, clientId, issuer }: Provider): string =>
  `${kind}:${clientId}${issuer === '' ? '' : `@${issuer}`}`;

const wecom: Dialect = {
  address: async (provider, { redirectUrl, state }) =>
    withQuery(at(provider, 'https://login.work.weixin.qq.com', '/wwlogin/sso/login'), {
      login_type: 'CorpApp',
      appid: provider.clientId,
      agentid: provider.agentId,
      redirect_uri: redirectUrl,
      state,
    }),
  vouch: async (provider, _flow, query, ask) => {
    const code = single(query, 'code');
    const api = (path: string) => at(provider, 'https://qyapi.weixin.qq.com', path);
    const token = good(
      await answerOf(
        ask,
        withQuery(api('/cgi-bin/gettoken'), {
          corpid: provider.clientId,
          corpsecret: provider.secret,
        }),
      ),
      'errcode',
    );
    const person = good(
      await answerOf(
        ask,
        withQuery(api('/cgi-bin/auth/getuserinfo'), {
          access_token: textOf(token, 'access_token'),
          code,
        }),
      ),
      'errcode',
    );
    // Who is no member of the company has an openid and no userid.
    const subject = textOf(person, 'userid');
    return { issuer: voucher(provider), subject, label: subject };
  },
};

const feishu: Dialect = {
  address: async (provider, { redirectUrl, state, verifier }) =>
    withQuery(at(provider, 'https://accounts.feishu.cn', '/open-apis/authen/v1/authorize'), {
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: redirectUrl,
      state,
      ...(provider.scope === '' ? {} : { scope: provider.scope }),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
  vouch: async (provider, { redirectUrl, verifier }, query, ask) => {
    const api = (path: string) => at(provider, 'https://open.feishu.cn', path);
    const token = good(
      await answerOf(ask, api('/open-apis/authen/v2/oauth/token'), {
        method: 'POST',
        json: {
          grant_type: 'authorization_code',
          client_id: provider.clientId,
          client_secret: provider.secret,
          code: single(query, 'code'),
          redirect_uri: redirectUrl,
          code_verifier: verifier,
        },
      }),
      'code',
    );
    const { data } = good(
      await answerOf(ask, api('/open-apis/authen/v1/user_info'), {
        headers: { authorization: `Bearer ${textOf(token, 'access_token')}` },
      }),
      'code',
    ) as { data?: Json };
    return {
      issuer: voucher(provider),
      subject: textOf(data ?? {}, 'open_id'),
      label: labelOf(data?.['name']),
    };
  },
};

const dingtalk: Dialect = {
  address: async (provider, { redirectUrl, state }) =>
    withQuery(at(provider, 'https://login.dingtalk.com', '/oauth2/auth'), {
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: redirectUrl,
      scope: provider.scope || 'openid',
      state,
      prompt: 'consent',
    }),
  vouch: async (provider, _flow, query, ask) => {
    const api = (path: string) => at(provider, 'https://api.dingtalk.com', path);
    const token = good(
      await answerOf(ask, api('/v1.0/oauth2/userAccessToken'), {
        method: 'POST',
        json: {
          clientId: provider.clientId,
          clientSecret: provider.secret,
          code: single(query, query.has('authCode') ? 'authCode' : 'code'),
          grantType: 'authorization_code',
        },
      }),
      'code',
    );
    const person = good(
      await answerOf(ask, api('/v1.0/contact/users/me'), {
        headers: { 'x-acs-dingtalk-access-token': textOf(token, 'accessToken') },
      }),
      'code',
    );
    return {
      issuer: voucher(provider),
      subject: textOf(person, 'openId'),
      label: labelOf(person['nick']),
    };
  },
};

const wechat: Dialect = {
  address: async (provider, { redirectUrl, state }) =>
    `${withQuery(at(provider, 'https://open.weixin.qq.com', '/connect/qrconnect'), {
      appid: provider.clientId,
      redirect_uri: redirectUrl,
      response_type: 'code',
      scope: 'snsapi_login',
      state,
    })}#wechat_redirect`,
  vouch: async (provider, _flow, query, ask) => {
    const api = (path: string) => at(provider, 'https://api.weixin.qq.com', path);
    const token = good(
      await answerOf(
        ask,
        withQuery(api('/sns/oauth2/access_token'), {
          appid: provider.clientId,
          secret: provider.secret,
          code: single(query, 'code'),
          grant_type: 'authorization_code',
        }),
      ),
      'errcode',
    );
    const subject = textOf(token, 'openid');
    const named = await answerOf(
      ask,
      withQuery(api('/sns/userinfo'), {
        access_token: textOf(token, 'access_token'),
        openid: subject,
      }),
    ).catch((): Json => ({}));
    return { issuer: voucher(provider), subject, label: labelOf(named['nickname']) };
  },
};

export const dialects: Readonly<Record<ProviderKind, Dialect>> = {
  oidc,
  wecom,
  feishu,
  dingtalk,
  wechat,
};
