import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, fetch as undiciFetch, request } from 'undici';
import { isPublicAddress, isPublicHost } from './public-host.ts';
import { timeLimit } from './time-limit.ts';

export interface Fetched {
  data: Buffer;
  /** The content type without its parameters, in small letters; empty: none was told. */
  mime: string;
}

/** What a service is asked with. It is sent to no other address: a redirect is not followed. */
export interface Sent {
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
}

export interface FetchOptions {
  maxBytes: number;
  /** Content types that are wanted; '' stands for none. */
  types: readonly string[];
  signal?: AbortSignal;
  /** How long it may take altogether, ms; 10 s unless told otherwise. */
  totalMs?: number;
  send?: Sent;
  /** Left out: straight there. The proxy connects, so only names are looked at before. */
  proxy?: Dispatcher | undefined;
  /** The HTTP status, of an address that whoever runs this server chose. */
  onStatus?: (status: number) => void;
}

/**
 * Fetches what everybody on the internet could fetch, and nothing else; null for whatever stands
 * in the way, without a word about what it was.
 */
export type GuardedFetch = (url: string, options: FetchOptions) => Promise<Fetched | null>;

const bounds = { redirects: 3, totalMs: 10_000, connectMs: 5_000 };
const usualPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The address is not one that everybody could reach, or the answer is not what was wanted. */
export class Forbidden extends Error {}

export interface GuardOptions {
  /** `host:port` that are allowed though they are not public. */
  allowed?: readonly string[];
  /** Finds a name's addresses; of the system unless told otherwise. */
  lookup?: LookupFunction;
  /** Ports of http: and https:; of one that is left out only what is `allowed` is reached. */
  ports?: Readonly<Record<string, string>>;
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** Asks `lookup` and lets through only names all of whose addresses are public. */
const guarded =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const all = Array.isArray(found) ? found : [];
      const [first] = all;
      if (error) callback(error, '');
      else if (!first || all.some(({ address }) => !isPublicAddress(address)))
        callback(new Forbidden('not public'), '');
      else if (options.all) callback(null, all);
      else callback(null, first.address, first.family);
    });
  };

/**
 * Connects only to what everybody on the internet could reach. The address is checked where the
 * connection is made, so that a name which changes its mind between question and connection gains
 * nothing; `requireAllowed` checks an address as text, and throws. `requireKnownPublic` is for what a
 * proxy connects to: a name that is known here as one of a private network is refused, while one that
 * only the proxy can look up is let through.
 */
export const createGuard = (
  guard: GuardOptions = {},
): {
  agent: Agent;
  requireAllowed: (url: URL) => void;
  requireKnownPublic: (url: URL) => Promise<void>;
} => {
  const allowed = new Set(guard.allowed);
  const ports = guard.ports ?? usualPorts;
  const lookup = guard.lookup ?? systemLookup;
  const open = buildConnector({ timeout: bounds.connectMs, lookup });
  const openPublic = buildConnector({ timeout: bounds.connectMs, lookup: guarded(lookup) });
  const agent = new Agent({
    // Nobody comes back soon: connections are not kept.
    keepAliveTimeout: 1,
    keepAliveMaxTimeout: 1,
    connect: (options, callback) => {
      const hostname = bare(options.hostname);
      if (allowed.has(`${hostname}:${options.port || usualPorts[options.protocol]}`))
        open(options, callback);
      // A literal address is never looked up.
      else if (isIP(hostname) !== 0 && !isPublicAddress(hostname))
        callback(new Forbidden('not public'), null);
      else
        openPublic(options, (...[error, socket]) => {
          if (error) return callback(error, null);
          if (isPublicAddress(socket.remoteAddress ?? '')) return callback(null, socket);
          socket.destroy();
          return callback(new Forbidden('not public'), null);
        });
    },
  });

  const requireAllowed = (url: URL): void => {
    const port = url.port || usualPorts[url.protocol];
    if (!(url.protocol in usualPorts) || url.username !== '' || url.password !== '')
      throw new Forbidden('address');
    if (allowed.has(`${bare(url.hostname)}:${port}`)) return;
    if (port !== ports[url.protocol]) throw new Forbidden('port');
    if (!isPublicHost(url.hostname)) throw new Forbidden('not public');
  };
  const requireKnownPublic = ({ hostname, host, port, protocol }: URL): Promise<void> =>
    allowed.has(`${bare(hostname)}:${port || usualPorts[protocol]}`) || isIP(bare(hostname)) !== 0
      ? Promise.resolve()
      : new Promise((resolve, reject) => {
          guarded(lookup)(hostname, {}, (error) => {
            if (error instanceof Forbidden) reject(new Forbidden(host));
            else resolve();
          });
        });
  return { agent, requireAllowed, requireKnownPublic };
};

/** Every redirect is checked as the first address is. */
export const createGuardedFetch = (guard: GuardOptions = {}): GuardedFetch => {
  const { agent, requireAllowed, requireKnownPublic } = createGuard(guard);

  const read = async (
    address: URL,
    { maxBytes, types, signal, send, proxy, onStatus }: FetchOptions,
    until: AbortSignal,
  ): Promise<Fetched> => {
    let url = address;
    for (let redirects = 0; redirects <= bounds.redirects; redirects += 1) {
      requireAllowed(url);
      if (proxy) await requireKnownPublic(url);
      const { statusCode, headers, body } = await request(url, {
        dispatcher: proxy ?? agent,
        signal: signal ? AbortSignal.any([signal, until]) : until,
        method: send?.method ?? 'GET',
        headers: {
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'queqiao',
          ...send?.headers,
        },
        ...(send?.body === undefined ? {} : { body: send.body }),
      });
      onStatus?.(statusCode);
      // Whatever ends the reading of a body early is no error of this process.
      body.on('error', () => {});
      try {
        const { location } = headers;
        if (!send && statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
          url = new URL(location, url);
          continue;
        }
        const mime = String(headers['content-type'] ?? '')
          .split(';', 1)[0]!
          .trim()
          .toLowerCase();
        if (statusCode !== 200 || !types.includes(mime) || headers['content-encoding'])
          throw new Forbidden('answer');
        const chunks: Buffer[] = [];
        let size = 0;
        for await (const chunk of body as AsyncIterable<Buffer>) {
          size += chunk.length;
          if (size > maxBytes) throw new Forbidden('size');
          chunks.push(chunk);
        }
        return { data: Buffer.concat(chunks), mime };
      } finally {
        body.destroy();
      }
    }
    throw new Forbidden('redirects');
  };

  return async (url, options) => {
    try {
      return await read(new URL(url), options, timeLimit(options.totalMs ?? bounds.totalMs));
    } catch {
      return null;
    }
  };
};

/** A fetch for a protocol of several requests. */
export type Requests = (url: string | URL, init?: RequestInit) => Promise<Response>;

const counted = (most: number): TransformStream<Uint8Array, Uint8Array> => {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > most) controller.error(new Forbidden('size'));
      else controller.enqueue(chunk);
    },
  });
};

/**
 * Requests that follow no redirect, and of whose answers no more than so many bytes are read.
 * @param guard null: to any address, as managers may choose them
 */
export const createRequests = (guard: GuardOptions | null, maxBytes: number): Requests => {
  const guarded = guard && createGuard(guard);
  const agent = guarded?.agent ?? new Agent({ connect: { timeout: bounds.connectMs } });
  return async (url, init) => {
    guarded?.requireAllowed(new URL(url));
    const options = { ...init, redirect: 'manual', dispatcher: agent };
    const answer = await undiciFetch(url, options as Parameters<typeof undiciFetch>[1]);
    const { status, statusText, headers, body } = answer;
    const text = body as ReadableStream<Uint8Array> | null;
    return new Response(text && text.pipeThrough(counted(maxBytes)), {
      status,
      statusText,
      headers: [...headers],
    });
  };
};
