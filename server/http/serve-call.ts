import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod/mini';
import type { CallSpec } from '#contract/call.ts';
import type { AppName } from '#contract/calls.ts';
import type { Database, Executor } from '../db/database.ts';
import { committing } from '../db/in-transaction.ts';
import { untilClosed } from './body.ts';
import { checkAccess, forManagers } from './caller.ts';
import type { WatchLogin } from './login-watch.ts';
import type { ChangeTurns } from './change-turns.ts';
import { type Done, fromOf } from './from.ts';
import {
  type ActNote,
  type Authenticator,
  type Context,
  type Handlers,
  type Identity,
  type ManagerAct,
  Refusal,
  type UploadedFile,
} from './handlers.ts';
import { jsonAnswer } from './heavy-answer.ts';
import { findAnswer, keepAnswer, type KeptAnswer, type Key } from './idempotency.store.ts';
import { carry, deviceOf } from './minor-device.ts';
import { originOf } from './origin.ts';
import { whyOutside } from './outside.ts';
import type { StreamLimit } from './rate-limit.ts';
import { hashOf, keepable, onceClaimed, onceServed } from './repeats.ts';
import { readForm, readUpload, type Whole } from './upload.ts';
import { readInput } from './validate.ts';

export interface CallDeps {
  db: Database;
  /** The number of this process; see instances. */
  instanceId: number;
  auth: Authenticator;
  handlers: Handlers;
  /** Where people reach this server; empty: where the request came to. */
  publicUrl: string;
  /** Refuses what would be kept while the disk is nearly full. @throws Refusal storage_full */
  requireDisk: (user: { guest: boolean } | null) => Promise<void>;
  /** The bytes of a person's file that came in pieces. @throws Refusal not_found, too_large */
  wholeUpload: (db: Executor, id: string, bytes: number, user: Identity) => Promise<Buffer>;
  /**
   * What the operator asks of whoever changes something, and of minors whatever they do.
   * @param user null: nobody
   * @param asked.device what the browser carries since a minor's account was used in it
   * @returns what it is to carry from now on; null: nothing more
   * @throws Refusal agreement_needed, minor_limited
   */
  allow: (
    db: Executor,
    user: Identity | null,
    asked: { call: string; input: Record<string, unknown>; device: string | null },
  ) => Promise<string | null>;
  /** Writes down that somebody changed something, in the transaction in which it was done. */
  record: (db: Executor, done: Done) => Promise<void>;
  /** Writes down what a manager did, in the transaction in which it was done. */
  keepAct: (db: Executor, act: ManagerAct) => Promise<void>;
}

/** What all calls of this process count together. */
interface SharedLimits {
  limitGuest: (userId: number, ip: string) => Promise<void>;
  openStream: StreamLimit;
  watchLogin: WatchLogin;
  turns: ChangeTurns;
}

type ServeDeps = CallDeps & SharedLimits;

type AnyHandler = (input: unknown, context: Context) => Promise<unknown>;
type AnySlowHandler = (
  input: unknown,
  context: Context,
) => Promise<(db: Executor) => Promise<unknown>>;
type AnyStreamHandler = (
  input: unknown,
  context: Context & { request: FastifyRequest; reply: FastifyReply },
) => Promise<void>;

/** One request while it is served: who asks what, and what its handler leaves to be done. */
interface AskedCall {
  name: AppName;
  spec: CallSpec;
  request: FastifyRequest;
  reply: FastifyReply;
  user: Context['user'];
  input: unknown;
  /** From the header `idempotency-key`. */
  key: string | null;
  /** What the browser says it is. */
  agent: string;
  file: UploadedFile | null;
  files: Record<string, UploadedFile>;
  whole: Whole;
  /** A login that the handler made. */
  token: { value: string; userId: number } | null;
  /** What it says of a manager's act, and whether that is written down. */
  act: ActNote | null;
  actKept: boolean;
  afterCommit: (() => void | Promise<void>)[];
}

const idempotencyKey = z.uuid();

const keyOf = (spec: CallSpec, request: FastifyRequest): string | null => {
  const header = request.headers['idempotency-key'];
  if (!spec.idempotent || header === undefined) return null;
  const key = z.safeParse(idempotencyKey, header);
  if (!key.success) throw new Refusal('bad_input', '请求头 idempotency-key 应为 UUID');
  return key.data.toLowerCase();
};

/** Whatever is asked to see it, it is one way of opening it. */
const opening =
  (keepAct: CallDeps['keepAct'], userId: number, ip: string): NonNullable<Identity['opens']> =>
  (db, what) =>
    keepAct(db, { ...what, userId, ip, call: 'getSession', input: {}, hourly: true });

/** The answer as the contract has it: what it does not name is left out. */
const present = (spec: CallSpec, answer: unknown): unknown => z.parse(spec.output, answer);

/** Who asks, and what: whoever may not ask learns nothing of what is wrong with what they sent. */
const admit = async (
  { db, keepAct, requireDisk, wholeUpload }: ServeDeps,
  { name, spec }: Pick<AskedCall, 'name' | 'spec'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AskedCall> => {
  const found = checkAccess(spec, await request.caller);
  const user = found?.manager ? { ...found, opens: opening(keepAct, found.id, request.ip) } : found;
  if (spec.kind !== 'upload' && request.isMultipart()) throw new Refusal('unsupported');
  if (spec.kind === 'upload' && spec.effect !== 'none') await requireDisk(user);
  const whole: Whole = async (id, bytes) => {
    if (!user) throw new Refusal('unauthorized');
    const data = await wholeUpload(db, id, bytes, user);
    untilClosed(reply, request.server.holdBytes(data.length, user, request.ip));
    return data;
  };
  const form = spec.fieldsInBody ? await readForm(request, spec, whole) : null;
  const query = form ? { ...(request.query as object), ...form.fields } : request.query;
  return {
    name,
    spec,
    request,
    reply,
    user,
    input: readInput(spec, query, spec.kind === 'upload' ? undefined : request.body),
    key: keyOf(spec, request),
    agent: (request.headers['user-agent'] ?? '').slice(0, 300),
    file: form?.file ?? null,
    files: form?.files ?? {},
    whole,
    token: null,
    act: null,
    actKept: false,
    afterCommit: [],
  };
};

/** What the operator and the call itself ask of whoever makes it. @throws Refusal */
const permit = async (
  { db, allow, auth }: ServeDeps,
  { name, spec, request, reply, user, input }: AskedCall,
): Promise<void> => {
  const device = deviceOf(request);
  if ((user || device) && (spec.method !== 'GET' || user?.minor) && !forManagers(spec)) {
    const wanted = { call: name, input: input as Record<string, unknown>, device };
    const carried = await allow(db, user, wanted);
    if (carried !== null && carried !== device) carry(request, reply, carried);
  }
  if (user && spec.confirm !== 'no') {
    const { password } = input as { password?: string };
    await auth.confirm(spec.confirm, password, { user, ip: request.ip, log: request.log });
  }
};

const contextOn = (
  { auth, publicUrl, keepAct }: ServeDeps,
  asked: AskedCall,
  executor: Executor,
): Context => {
  const { name, request, user, input, agent } = asked;
  return {
    user,
    db: executor,
    ip: request.ip,
    gone: () => request.raw.socket.destroyed,
    host: request.hostname,
    outside: () => whyOutside(request),
    origin: originOf(request, publicUrl),
    agent,
    requestId: request.id,
    log: request.log,
    issueToken: async (userId) => {
      const value = await auth.issueToken(executor, userId, agent);
      if (value === null) throw new Refusal('account_disabled');
      asked.token = { value, userId };
      return value;
    },
    repeated: null,
    afterCommit: (act) => void asked.afterCommit.push(act),
    noteAct: (act) => {
      asked.act = act;
    },
    keepAct: async (tx, act) => {
      if (!user) return;
      await keepAct(tx, { ...act, userId: user.id, call: name, input, ip: request.ip });
      asked.actKept = true;
    },
  };
};

/** Whether a line in the log of managers' acts follows. */
const isAct = ({ spec, user }: Pick<AskedCall, 'spec' | 'user'>): boolean =>
  user !== null && forManagers(spec) && spec.method !== 'GET' && spec.logged;

/** The record of what people change, and the log of what managers do. */
const writeDown = async (
  { record, keepAct }: ServeDeps,
  { name, spec, request, user, input, token, act, actKept }: AskedCall,
  executor: Executor,
  answer: unknown,
): Promise<void> => {
  if (spec.method === 'GET') return;
  const entered = answer as { profile?: { id: number }; error?: string } | null;
  const userId = entered?.profile?.id ?? token?.userId ?? user?.id;
  // A sign-in that failed says so in `error`.
  if (userId !== undefined && !entered?.error) {
    const from = fromOf(request);
    await record(executor, { userId, call: name, byKey: false, input, answer, from });
  }
  if (isAct({ spec, user }) && user && !actKept)
    await keepAct(executor, { ...act, userId: user.id, call: name, input, ip: request.ip });
};

const countGuest = async (
  { limitGuest }: ServeDeps,
  { spec, request, user, input }: AskedCall,
): Promise<void> => {
  if (user?.guest && spec.countsForGuests(input as Record<string, unknown>))
    await limitGuest(user.id, request.ip);
};

const stream = async (deps: ServeDeps, asked: AskedCall): Promise<FastifyReply> => {
  const { db, handlers, openStream, watchLogin } = deps;
  const { name, spec, request, reply, user, input, key } = asked;
  if (spec.kind === 'stream') {
    reply.raw.once('close', openStream(user, request.ip));
    if (user) watchLogin(user.jti, reply.raw);
  }
  const serve = async (): Promise<void> => {
    await countGuest(deps, asked);
    await writeDown(deps, asked, db, null);
    const handler = handlers[name] as AnyStreamHandler;
    await handler(input, { ...contextOn(deps, asked, db), request, reply });
  };
  if (key === null) await serve();
  else {
    const place = { userId: user?.id ?? 0, call: name, key };
    const requestHash = hashOf(spec, request, input, null);
    await onceServed(db, { place, requestHash, claimedBy: deps.instanceId }, serve);
  }
  return reply;
};

/** Does what takes long, in no transaction. Gives what then answers, in one or on the pool. */
const begin = async (
  deps: ServeDeps,
  asked: AskedCall,
): Promise<(executor: Executor) => Promise<unknown>> => {
  const { name, spec, input, file, files } = asked;
  const handler: unknown = deps.handlers[name];
  let finish = (executor: Executor) =>
    (handler as AnyHandler)(input, contextOn(deps, asked, executor));
  await countGuest(deps, asked);
  if (spec.slow)
    finish = await (handler as AnySlowHandler)(input, {
      ...contextOn(deps, asked, deps.db),
      ...(file && { file }),
      ...(spec.kind === 'upload' && { files }),
    });
  return async (executor) => {
    const answer = present(spec, await finish(executor));
    await writeDown(deps, asked, executor, answer);
    return answer;
  };
};

/** What a request was answered before, or meanwhile by another process. @throws Refusal conflict */
const repeat = async (
  deps: ServeDeps,
  asked: AskedCall,
  kept: KeptAnswer,
  requestHash: Buffer,
): Promise<unknown> => {
  const { db, handlers, auth } = deps;
  const { name, spec, input, user, agent } = asked;
  if (!kept.requestHash.equals(requestHash)) throw new Refusal('conflict');
  // PostgreSQL gives the fields of a JSON value in an order of its own.
  const { answer, tokenUserId } = kept;
  const again = { ...contextOn(deps, asked, db), repeated: answer };
  const data = present(
    spec,
    spec.secrets.length > 0 ? await (handlers[name] as AnyHandler)(input, again) : answer,
  );
  if (tokenUserId !== null && user === null) {
    const value = await auth.issueAgain(db, tokenUserId, agent);
    if (value !== null) asked.token = { value, userId: tokenUserId };
  }
  return data;
};

/** Does a change when it is its turn. @param held within a transaction of its own */
const inTurnOf = <T>(
  { turns }: ServeDeps,
  { spec, user, request, input }: AskedCall,
  held: boolean,
  work: () => Promise<T>,
): Promise<T> => {
  if (spec.method === 'GET' || spec.effect === 'none') return work();
  const writes = spec.writes(input as Record<string, unknown>);
  return turns({ user, ip: request.ip, held, writes }, work);
};

/** Answers in one transaction with the row of its key: whoever asks again gets the same. */
const once = async (
  deps: ServeDeps,
  asked: AskedCall,
  place: Key,
  requestHash: Buffer,
): Promise<unknown> => {
  const { db } = deps;
  const { spec, user } = asked;
  // Others' keys are found taken when their answer is kept; a guest may have asked as nobody.
  const mayBeKept = user === null || user.guest || spec.slow;
  const kept = mayBeKept ? await findAnswer(db, place) : null;
  if (kept) return repeat(deps, asked, kept, requestHash);
  const answerOn = await begin(deps, asked);
  try {
    return await inTurnOf(deps, asked, true, () =>
      committing(db, async (tx) => {
        const answer = await answerOn(tx);
        const tokenUserId = asked.token?.userId ?? null;
        return async () => {
          await keepAnswer(tx, place, { requestHash, answer: keepable(spec, answer), tokenUserId });
          return answer;
        };
      }),
    );
  } catch (error) {
    const meanwhile = await findAnswer(db, place).catch(() => null);
    if (meanwhile === null) throw error;
    asked.afterCommit.length = 0;
    asked.token = null;
    return repeat(deps, asked, meanwhile, requestHash);
  }
};

const answer = async (deps: ServeDeps, asked: AskedCall): Promise<unknown> => {
  const { db, instanceId } = deps;
  const { name, spec, request, user, input, file, key } = asked;
  const place = key === null ? null : { userId: user?.id ?? 0, call: name, key };
  const requestHash = place ? hashOf(spec, request, input, file) : Buffer.alloc(0);
  if (spec.claimsKey) {
    const work = async () => (await begin(deps, asked))(db);
    const claim = place && { place, requestHash, claimedBy: instanceId };
    return claim ? onceClaimed(db, claim, work) : work();
  }
  if (place) return once(deps, asked, place, requestHash);
  const answerOn = await begin(deps, asked);
  const held = spec.idempotent || isAct(asked);
  return inTurnOf(deps, asked, held, () => (held ? db.transaction(answerOn) : answerOn(db)));
};

const runAfterCommit = async ({ name, request, afterCommit }: AskedCall): Promise<void> => {
  for (const act of afterCommit) {
    try {
      await act();
    } catch (error) {
      request.log.error({ err: error, call: name }, 'after the commit');
    }
  }
};

/** Serves a call: who asks and what, whether they may, the handler's work, the envelope. */
export const createServe =
  (deps: ServeDeps, name: AppName, spec: CallSpec) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const asked = await admit(deps, { name, spec }, request, reply);
    await permit(deps, asked);
    if (spec.kind === 'stream' || spec.kind === 'download') return stream(deps, asked);
    if (spec.kind === 'upload' && !spec.fieldsInBody)
      asked.file = await readUpload(request, spec, asked.whole);
    const data = await answer(deps, asked);
    await runAfterCommit(asked);
    if (asked.token) reply.header('authorization', `Bearer ${asked.token.value}`);
    const envelope = { code: 0, message: '', data };
    // What was changed is told, whatever else its person reads meanwhile.
    const reads = spec.method === 'GET' || spec.effect === 'none';
    return reads ? jsonAnswer(reply, envelope, asked.user) : envelope;
  };
