import { randomUUID } from 'node:crypto';
import { IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import multipart from '@fastify/multipart';
import fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  LogController,
} from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';
import { codes } from '#contract/errors.ts';
import type { Database } from '../db/database.ts';
import type { Settings } from '../settings.ts';
import { type Authenticator, type Handlers, Refusal } from './handlers.ts';
import { answerEarlyFailure, answerFailure } from './answer-failure.ts';
import { generalBodyLimit, readBody } from './body.ts';
import { countedStatus } from './faults.ts';
import { createByteRoom } from './held-bytes.ts';
import { openApiDocument } from './openapi.ts';
import { createPackedDocument } from './packed-document.ts';
import { inlineScriptHashes, registerPage } from './page.ts';
import { type Probes, registerProbes } from './probes.ts';
import { createTurns, endUnread } from './slow-readers.ts';
import { traceRequests } from './trace-requests.ts';
import { registerCalls, type RouteDeps } from './routes.ts';

interface ServerDeps {
  settings: Settings;
  log: FastifyBaseLogger;
  db: Database;
  instanceId: number;
  auth: Authenticator;
  handlers: Handlers;
  keepAct: RouteDeps['keepAct'];
  allow: RouteDeps['allow'];
  record: RouteDeps['record'];
  requireDisk: RouteDeps['requireDisk'];
  wholeUpload: RouteDeps['wholeUpload'];
  /** Told of each call that was answered and of each fault: its name, HTTP status and duration in ms. */
  onAnswer: (name: string, status: number, ms: number) => void;
  /** Other addresses that the page reads replies from. */
  accelerators: () => readonly string[];
  /** Adds addresses that are no calls, such as /files/. */
  registerMore: (app: FastifyInstance) => void;
  /** What the process does: `leaving` serves as before and says so, `closing` answers 503. */
  stage: () => 'serving' | 'leaving' | 'closing';
}

/** Times that a client has, ms: without them, sockets that never finish a request add up. */
export const patience = {
  headers: 15_000,
  request: 600_000,
  check: 5_000,
  idle: 72_000,
  /** Without taking anything of an answer. */
  unread: 60_000,
};

const requestIdOf = (id: unknown) => ({ 'x-request-id': String(id) });

const unreadable: Readonly<Record<string, [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, '地址或请求头太长'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, '请求没有及时发完'],
};

/** Replies what is not even a whole HTTP request, where the socket still takes it. */
const answerUnreadable = (error: Error & { code?: string }, socket: Duplex): void => {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = unreadable[error.code ?? ''] ?? [400, codes.bad_body.text];
  const body = JSON.stringify({ code: status, message, data: null });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
};

/**
 * Styles may be inline because Mermaid measures and draws with <style> elements of its own, and
 * KaTeX sets style attributes; scripts may not, but for those that the build put into index.html.
 */
const contentPolicy = (scriptHashes: string[], accelerators: readonly string[]) => ({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'", ...scriptHashes],
    styleSrc: ["'self'", "'unsafe-inline'"],
    // Nothing of another server loads by itself, whatever a text holds: that would tell who reads it.
    imgSrc: ["'self'", 'data:', 'blob:'],
    fontSrc: ["'self'", 'data:'],
    mediaSrc: ["'self'", 'blob:'],
    connectSrc: ["'self'", ...accelerators],
    workerSrc: ["'self'", 'blob:'],
    manifestSrc: ["'self'"],
    frameSrc: ["'none'"],
    objectSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
  },
});

/** The headers that helmet gives every answer, made once and not for each. */
const securityHeaders = (options: HelmetOptions) => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return response.getHeaders();
};

/** The calls, the OpenAPI document and the page over HTTP; not yet listening. */
export const createHttpServer = async (
  deps: ServerDeps,
): Promise<{ server: FastifyInstance; probes: Probes }> => {
  const { settings, log } = deps;
  const pageFolder = path.join(settings.root, 'dist', 'page');
  const options: FastifyHttpOptions<Server> = {
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: settings.trustProxy || false,
    bodyLimit: generalBodyLimit,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    requestTimeout: patience.request,
    keepAliveTimeout: patience.idle,
    http: { headersTimeout: patience.headers, connectionsCheckingInterval: patience.check },
    frameworkErrors: (error, request, reply) => {
      answerFailure(error, request, reply);
    },
    clientErrorHandler: answerUnreadable,
  };
  const app = fastify(options);
  endUnread(app.server, { after: patience.unread, every: patience.check });
  const takeTurn = createTurns();
  app.addHook('onRequest', (request, reply, done) => takeTurn(request.raw, reply.raw, done));
  if (settings.trace.endpoint !== '') traceRequests(app);

  const https = settings.publicUrl.startsWith('https:');
  const scriptHashes = inlineScriptHashes(pageFolder);
  const headersFor = (accelerators: readonly string[]) => ({
    ...securityHeaders({
      contentSecurityPolicy: contentPolicy(scriptHashes, accelerators),
      referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
      xFrameOptions: { action: 'deny' },
      // Over plain HTTP, as on a home network, a browser must not be told to insist on HTTPS.
      strictTransportSecurity: https,
      crossOriginOpenerPolicy: https,
      originAgentCluster: https,
    }),
    // What the page itself uses, and nothing for whatever it may show.
    'permissions-policy':
      'camera=(self), microphone=(self), geolocation=(), payment=(), usb=(), serial=(), midi=(), browsing-topics=()',
    'access-control-expose-headers': 'authorization, retry-after, x-request-id',
  });
  let always = { accelerators: '', headers: headersFor([]) };

  app.addHook('onRequest', (request, reply, done) => {
    const accelerators = deps.accelerators();
    const names = accelerators.join(' ');
    if (names !== always.accelerators)
      always = { accelerators: names, headers: headersFor(accelerators) };
    reply.raw.once('close', () => {
      const { config, url = '' } = request.routeOptions;
      const status = countedStatus(request, reply);
      if (config.call !== undefined || status >= 500)
        deps.onAnswer(config.call ?? url, status, request.served ?? reply.elapsedTime);
    });
    reply.headers(always.headers).headers(requestIdOf(request.id));
    if (request.url.startsWith('/api/')) reply.header('cache-control', 'no-store');
    const stage = deps.stage();
    if (stage !== 'serving') reply.header('connection', 'close');
    if (stage === 'closing') {
      done(new Refusal('unavailable', '服务器正在重启，请稍后重试'));
    } else done();
  });

  await app.register(compress, {
    threshold: 1024,
    encodings: ['br', 'gzip'],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readBody);
  await app.register(multipart, {
    limits: { files: 1, fields: 10, fieldSize: 10_000, parts: 11, headerPairs: 100 },
  });
  app.setErrorHandler(answerEarlyFailure);

  app.decorate('streamRoom', { open: 0, most: settings.eventStreams });
  app.decorate('holdBytes', createByteRoom());
  registerCalls(app, {
    db: deps.db,
    instanceId: deps.instanceId,
    auth: deps.auth,
    handlers: deps.handlers,
    keepAct: deps.keepAct,
    allow: deps.allow,
    record: deps.record,
    requireDisk: deps.requireDisk,
    wholeUpload: deps.wholeUpload,
    publicUrl: settings.publicUrl,
    limits: {
      general: settings.rateLimit,
      credentials: settings.credentialsLimit,
      guestUses: settings.guestMessages,
    },
  });

  const sendDocument = createPackedDocument(() =>
    openApiDocument(settings.version, settings.publicUrl),
  );
  app.get('/api/openapi.json', sendDocument);
  const probes = registerProbes(app, { db: deps.db, isStopping: () => deps.stage() !== 'serving' });
  deps.registerMore(app);
  await registerPage(app, pageFolder);
  return { server: app, probes };
};
