import { EngineError } from './chat-engine.ts';
import { RelayError } from './chat-relay.ts';
import {
  isKeyFault,
  isMoneyFault,
  isNoModel,
  saysNoModel,
  type UpstreamFault,
} from './openai-compatible/upstream-error.ts';
import { ServiceError } from './service-wire.ts';

/**
 * What a failure says about the service:
 * - asker: the question was at fault, nothing is held against anybody
 * - connection: no connection was made, so that no question can have brought it about
 * - key: the key is refused, or what it may spend is used up; money is the latter
 * - doubt: 403 without a reason that a program can read: the key, or what was asked
 * - full: no room now
 * - model: the service does not have this model
 * - silent: it accepted and said nothing for too long
 * - failed: anything else, which a question may have provoked
 */
export type FaultKind =
  | 'asker'
  | 'connection'
  | 'key'
  | 'money'
  | 'doubt'
  | 'full'
  | 'model'
  | 'silent'
  | 'failed';

const notConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const isUpstreamFault = (cause: unknown): cause is UpstreamFault =>
  typeof cause === 'object' && cause !== null && 'status' in cause && 'param' in cause;

/** What the length or the kind of a question brings about as well as a service. */
const isOdd = (error: Error): boolean =>
  (error instanceof EngineError || error instanceof RelayError) &&
  (error.code === 'empty' || error.code === 'too_large');

/** The fault that a service answered with; null: it answered nothing that can be read. */
const answered = (error: Error): UpstreamFault | null => {
  for (let cause = error.cause, deep = 0; cause && deep < 3; deep += 1) {
    if (isUpstreamFault(cause)) return cause;
    cause = (cause as Error).cause;
  }
  return null;
};

const isNotConnected = (error: Error): boolean => {
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && notConnected.has(code);
};

const isLate = (error: Error): boolean =>
  (error instanceof EngineError && error.code === 'timeout') ||
  (error instanceof RelayError && error.code === 'timeout');

const isFull = (error: Error): boolean =>
  (error instanceof EngineError && error.code === 'rate_limited') ||
  (error instanceof RelayError && error.status === 429);

export interface ChannelFault {
  kind: FaultKind;
  /** HTTP status; 0: there was none. */
  status: number;
  /** When the service wants to be asked again, ms from now; null: it did not say. */
  retryAfterMs: number | null;
  /**
   * No question can have brought it about. A 404 without a reason may be one of a question that asks
   * for what no model of the service can do.
   */
  certain: boolean;
}

export const channelFault = (error: Error): ChannelFault => {
  const fault = answered(error);
  const status = fault?.status ?? 0;
  const told = (kind: FaultKind): ChannelFault => ({
    kind,
    status,
    retryAfterMs: fault?.retryAfterMs ?? null,
    certain: kind === 'connection' || (fault !== null && saysNoModel(fault)),
  });
  if (fault && isNoModel(fault)) return told('model');
  if ((error instanceof EngineError || error instanceof RelayError) && error.askerAtFault)
    return told('asker');
  if (isOdd(error)) return told('asker');
  if (fault && isMoneyFault(fault)) return told('money');
  if (fault && isKeyFault(fault)) return told('key');
  if (status === 403) return told('doubt');
  if (isFull(error)) return told('full');
  if (isLate(error)) return told('silent');
  return told(isNotConnected(error) ? 'connection' : 'failed');
};

const byStatus: Readonly<Record<number, FaultKind>> = {
  401: 'key',
  402: 'money',
  403: 'doubt',
  404: 'model',
  405: 'model',
};

/** The same of a service that makes images, films, sound or vectors. */
export const workFault = (error: Error): Pick<ChannelFault, 'kind' | 'status'> => {
  if (!(error instanceof ServiceError)) return { kind: 'failed', status: 0 };
  const { status, against, busy, codeName } = error;
  const kind = (): FaultKind => {
    if (busy || against === 'full') return 'full';
    if (against === 'nothing') return 'asker';
    if (codeName === 'engine_timeout') return 'silent';
    return byStatus[status] ?? (isNotConnected(error) ? 'connection' : 'failed');
  };
  return { kind: kind(), status };
};
