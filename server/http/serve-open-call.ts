import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import type { OpenName } from '#contract/calls.ts';
import type { Database } from '../db/database.ts';
import { generalBodyLimit, untilClosed } from './body.ts';
import { openEventStream } from './event-stream.ts';
import { reportFault } from './faults.ts';
import { fromOf } from './from.ts';
import { Refusal } from './handlers.ts';
import { jsonAnswer } from './heavy-answer.ts';
import { heardOf, listening, sinceMs } from './heard-calls.ts';
import { claimKey, type ClaimEnd, endClaim, findAnswer, type Key } from './idempotency.store.ts';
import { ApiRefusal, failureBody } from './open-failure.ts';
import type {
  ApiCaller,
  Events,
  KeyGate,
  OpenAnswer,
  OpenContext,
  OpenHandlers,
} from './open-handlers.ts';
import { tellIgnored } from './ignored-fields.ts';
import { pathFieldOf } from './openapi.ts';
import { originOf } from './origin.ts';
import type { StreamLimit } from './rate-limit.ts';
import { sinkOf } from './sink.ts';
import { shortName } from './upload.ts';
import { hasBody, readInput } from './validate.ts';

export interface OpenCallDeps {
  db: Database;
  /** The number of this process; see instances. */
  instanceId: number;
  gate: KeyGate;
  handlers: OpenHandlers;
  publicUrl: string;
}

type ServeDeps = OpenCallDeps & { openStream: StreamLimit };

/** The fields and files of a multipart body. */
const readForm = async (request: FastifyRequest, spec: CallSpec) => {
  if (!request.isMultipart()) throw new Refusal('unsupported', '请用 multipart/form-data 上传');
  const fileSize = spec.maxBytes ?? generalBodyLimit;
  const fields: Record<string, unknown> = {};
  const files: OpenContext['files'] = [];
  try {
    const limits = { files: 8, fields: 40, fieldSize: 200_000, parts: 48, fileSize };
    for await (const part of request.parts({ limits })) {
      if (part.type === 'field') fields[part.fieldname] = part.value;
      else {
        if (!spec.files.includes(part.fieldname))
          throw new Refusal('bad_input', `${part.fieldname} 不是这个接口收的文件`);
        files.push({
          field: part.fieldname,
          name: shortName(part.filename),
          mime: part.mimetype,
          data: await part.toBuffer(),
        });
      }
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if ((error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE')
      throw new Refusal('too_large', `文件太大，最多 ${Math.floor(fileSize / 1024 / 1024)} MB`);
    throw new Refusal('bad_body', '上传的内容无法读取');
  }
  if (files.length === 0) throw new Refusal('bad_input', `${spec.files[0]}：请选择一个文件`);
  return { fields, files };
};

/** The number under which an answer is kept: the key's owner chose any text. */
const keptKey = (keyId: number, given: string): string => {
  const hash = createHash('sha256').update(`${keyId} ${given}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    hash.slice(12, 16),
    hash.slice(16, 20),
    hash.slice(20, 32),
  ].join('-');
};

const keyOf = (spec: CallSpec, request: FastifyRequest): string | null => {
  const given = request.headers['idempotency-key'];
  if (!spec.idempotent || typeof given !== 'string' || given === '') return null;
  if (given.length > 255) throw new Refusal('bad_input', '请求头 idempotency-key 太长');
  return given;
};

const contextOf = (
  { db, gate, publicUrl }: OpenCallDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: ApiCaller,
  gone: AbortController,
) => {
  const unwatch = gate.watch(caller, () =>
    gone.abort(new ApiRefusal('unauthorized', '这个 API-KEY 已被删除或停用')),
  );
  reply.raw.once('close', () => {
    unwatch();
    if (!reply.raw.writableFinished) gone.abort(new ApiRefusal('bad_body', '客户端已断开'));
  });
  return {
    caller,
    db,
    requestId: request.id,
    log: request.log,
    origin: originOf(request, publicUrl),
    signal: gone.signal,
    hold: (bytes: number) =>
      untilClosed(reply, request.server.holdBytes(bytes, caller.user, request.ip)),
    header: (name: string, value: string) => void reply.header(name, value),
    asked: (name: string) => String(request.headers[name] ?? ''),
  };
};

const streamEvents = async (
  reply: FastifyReply,
  wire: CallSpec['wire'],
  write: (events: Events) => Promise<void>,
): Promise<void> => {
  const response = openEventStream(reply);
  const heard = heardOf(reply.request);
  if (heard) heard.firstMs = sinceMs(heard.begun);
  const failure = (refusal: Refusal): string => {
    if (heard) heard.failure = refusal.message;
    const body = failureBody(wire, refusal);
    if (wire === 'anthropic') return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
    const said = wire === 'openai' ? body : [body['code'], body['message']];
    return `data: ${JSON.stringify(said)}\n\n`;
  };
  try {
    await write({ sink: listening(reply.request, sinkOf(response)), failure });
    response.end();
  } catch (error) {
    reportFault(reply.request, error, 'a stream of the API broke');
    response.destroy();
  }
};

const send = async (
  reply: FastifyReply,
  answer: Exclude<OpenAnswer, { events: unknown }>,
): Promise<FastifyReply> => {
  const heard = heardOf(reply.request);
  const isText = 'json' in answer || 'text' in answer;
  if (heard?.caller.logBodies && isText)
    heard.answer = 'json' in answer ? JSON.stringify(answer.json) : answer.text;
  // What was paid for is answered, whatever else its program reads meanwhile.
  if ('json' in answer)
    return reply.request.method === 'GET' && heard
      ? reply.send(await jsonAnswer(reply, answer.json, heard.caller.user))
      : reply.send(answer.json);
  reply.type(answer.type);
  if ('stream' in answer) return reply.send(answer.stream);
  return reply.send('text' in answer ? answer.text : answer.bytes);
};

const deliver = async (
  reply: FastifyReply,
  wire: CallSpec['wire'],
  answer: OpenAnswer,
): Promise<FastifyReply> => {
  if (!('events' in answer)) return send(reply, answer);
  await streamEvents(reply, wire, answer.events);
  return reply;
};

/**
 * Answers under a key that the caller chose: a repeat gets the same answer, or is refused while the
 * first is served. Streams and sounds are not kept, and of other answers those that fit a person's
 * room.
 * @throws Refusal conflict
 */
const once = async (
  { db, instanceId: claimedBy }: OpenCallDeps,
  place: Key,
  {
    wire,
    requestHash,
    reply,
  }: Pick<CallSpec, 'wire'> & { requestHash: Buffer; reply: FastifyReply },
  serve: () => Promise<OpenAnswer>,
): Promise<FastifyReply> => {
  if (!(await claimKey(db, place, { requestHash, claimedBy }))) {
    const kept = await findAnswer(db, place);
    if (kept && !kept.requestHash.equals(requestHash)) throw new Refusal('conflict');
    const answer = kept?.answer as Parameters<typeof send>[1] | null | undefined;
    if (answer) return send(reply.header('x-idempotent-replay', 'true'), answer);
    throw new Refusal(
      'conflict',
      '这个 idempotency-key 的请求正在进行，或回答没有保存着（流和声音不保存，别的只留最近的 200 MB）',
    );
  }
  let end: ClaimEnd = 'failed';
  let answer: OpenAnswer;
  try {
    answer = await serve();
    end = 'json' in answer || 'text' in answer ? { answer, bounded: true } : 'not kept';
    if ('events' in answer) return await deliver(reply, wire, answer);
  } finally {
    await endClaim(db, place, { end, claimedBy });
  }
  return deliver(reply, wire, answer);
};

/** Names in the address of a call that reads its body alone: clients add some, such as `beta` or `api-version`. */
const unreadOf = (spec: CallSpec, { query }: FastifyRequest): string[] =>
  hasBody(spec)
    ? Object.keys(query as object)
        .filter((name) => !spec.inQuery.includes(name))
        .slice(0, 20)
        .map((name) => encodeURIComponent(name).slice(0, 100))
    : [];

/** Serves a call of the public API that was let in: may it, what it asks, its handler, the answer bare. */
export const createServe =
  (deps: ServeDeps, name: OpenName, spec: CallSpec) =>
  async (
    request: FastifyRequest,
    reply: FastifyReply,
    { caller, gone }: { caller: ApiCaller; gone: AbortController },
  ): Promise<FastifyReply> => {
    if (spec.method === 'POST') await deps.gate.allow(caller, name, fromOf(request));
    const isForm = spec.files.length > 0;
    if (!isForm && request.isMultipart()) throw new Refusal('unsupported');
    const { fields, files } = isForm
      ? await readForm(request, spec)
      : { fields: request.body, files: [] };
    const rest = (request.params as Record<string, string | undefined>)['*'];
    const query =
      rest === undefined
        ? request.query
        : { ...(request.query as object), [pathFieldOf(spec)]: rest };
    const input = readInput(spec, query, fields);
    const heard = heardOf(request);
    if (heard) heard.body = input;
    // Before anything is spent on it.
    if ((input as { stream?: unknown }).stream === true)
      reply.raw.once('close', deps.openStream(caller.user, request.ip, 'program'));
    const handler = deps.handlers[name] as (
      input: unknown,
      context: OpenContext,
    ) => Promise<OpenAnswer>;
    const context = { ...contextOf(deps, request, reply, caller, gone), files };
    tellIgnored(context, unreadOf(spec, request));
    const serve = () => handler(input, context);
    const key = keyOf(spec, request);
    if (key === null) return deliver(reply, spec.wire, await serve());
    const place = { userId: caller.user.id, call: name, key: keptKey(caller.keyId, key) };
    const hash = createHash('sha256').update(JSON.stringify(input));
    for (const { field, data } of files) hash.update(`${field} ${data.length} `).update(data);
    const requestHash = hash.digest();
    return once(deps, place, { wire: spec.wire, requestHash, reply }, serve);
  };
