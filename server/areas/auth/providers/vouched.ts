import type { ProviderKind } from '#contract/sign-in.ts';
import type { Requests } from '#server/net/guarded-fetch.ts';

/** A service whose accounts people sign in with, its secret opened. */
export interface Provider {
  id: number;
  kind: ProviderKind;
  name: string;
  issuer: string;
  clientId: string;
  secret: string;
  agentId: string;
  scope: string;
}

/** What one way there and back is known by. */
export interface Flow {
  redirectUrl: string;
  state: string;
  nonce: string;
  verifier: string;
}

/** Who somebody is elsewhere, and who says so. */
export interface Vouched {
  issuer: string;
  subject: string;
  /** What they are called there; empty: it did not say. */
  label: string;
}

/** The provider did not vouch for anybody; for the log. */
export class NotVouched extends Error {}

/** How a kind of provider is spoken to. Both throw NotVouched. */
export interface Dialect {
  /** Where the person is sent. */
  address: (provider: Provider, flow: Flow, ask: Requests) => Promise<string>;
  /** Who came back, by the query that the provider gave along. */
  vouch: (
    provider: Provider,
    flow: Flow,
    query: URLSearchParams,
    ask: Requests,
  ) => Promise<Vouched>;
}

/** @throws NotVouched unless it stands there exactly once */
export const single = (query: URLSearchParams, name: string): string => {
  const [value = '', ...more] = query.getAll(name);
  if (value === '' || more.length > 0) throw new NotVouched(`${name} is missing or repeated`);
  return value;
};
