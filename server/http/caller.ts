import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import { calls } from '#contract/calls.ts';
import type { Database } from '../db/database.ts';
import { type Authenticator, type Context, type Identified, Refusal } from './handlers.ts';

interface CallerDeps {
  db: Database;
  auth: Authenticator;
}

/** The token or key that a request carries. */
export const bearerOf = (request: FastifyRequest): string | null => {
  const header = request.headers.authorization;
  const match = header === undefined ? null : /^Bearer +(\S+)$/i.exec(header);
  return match?.[1] ?? null;
};

const ticketOf = (request: FastifyRequest): string | null => {
  const { ticket } = request.query as { ticket?: unknown };
  return typeof ticket === 'string' && ticket !== '' ? ticket : null;
};

/** The reply whose stream is asked for. */
const replyOf = (spec: CallSpec, request: FastifyRequest): number | null => {
  const { history_id: historyId } = request.query as { history_id?: unknown };
  const id = spec.kind === 'stream' ? Number(historyId) : NaN;
  return Number.isSafeInteger(id) ? id : null;
};

/**
 * The login in the address, as the specification has it of uploads and streams: an EventSource and
 * an upload field set no header. Addresses are logged without their query.
 */
export const tokenInQuery = (spec: CallSpec, request: FastifyRequest): string | null => {
  if (spec.kind !== 'upload' && spec.kind !== 'stream') return null;
  const { token } = request.query as { token?: unknown };
  return typeof token === 'string' && token !== '' ? token : null;
};

/** Calls of managers; to everyone else they do not exist. */
export const forManagers = ({ access }: CallSpec): boolean =>
  access === 'manager' || access === 'owner';

/**
 * Who asks, by the token or ticket that came; null: nobody, where the call is public.
 * @throws Refusal unauthorized
 */
export const authenticate = async (
  { db, auth }: CallerDeps,
  spec: CallSpec,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Identified | null> => {
  const token = bearerOf(request) ?? tokenInQuery(spec, request);
  const ticket = spec.kind !== 'call' && token === null ? ticketOf(request) : null;
  let caller: Identified | null = null;
  if (token !== null) caller = await auth.identify(db, token);
  else if (ticket !== null) {
    caller = await auth.redeemTicket(db, ticket, replyOf(spec, request));
    if (caller === null) throw new Refusal('unauthorized', '链接已失效，请重试');
  }
  if (caller?.refreshed) reply.header('authorization', `Bearer ${caller.refreshed}`);
  if (caller !== null || spec.access === 'public') return caller;
  throw token === null
    ? new Refusal('unauthorized')
    : new Refusal('unauthorized', await auth.whyEnded(db, token));
};

/**
 * Who the handler serves; a disabled account counts as nobody where it is served at all.
 * @throws Refusal not_found, forbidden, account_disabled, login_required
 */
export const checkAccess = (spec: CallSpec, caller: Identified | null): Context['user'] => {
  if (caller === null) return null;
  const { identity } = caller;
  if (forManagers(spec) && (!identity.manager || caller.disabled)) throw new Refusal('not_found');
  if (spec.access === 'owner' && !identity.owner) throw new Refusal('not_found');
  const reads = spec.method === 'GET' || spec === (calls.adminOrderList as CallSpec);
  if (identity.auditor && forManagers(spec) && !reads)
    throw new Refusal('forbidden', '您是审计员，只能查看，不能更改');
  if (caller.disabled) {
    if (spec.forDisabled) return null;
    throw new Refusal('account_disabled');
  }
  if (spec.access === 'user' && identity.guest) throw new Refusal('login_required');
  // What managers may do by everybody's calls is no auditor's.
  return identity.auditor && !forManagers(spec) ? { ...identity, manager: false } : identity;
};
