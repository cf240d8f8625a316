import * as z from 'zod/mini';
import type { CallSpec } from '#contract/call.ts';
import { calls } from '#contract/calls.ts';
import { codes } from '#contract/errors.ts';
import { dialects, openFields } from '#contract/open-fields.ts';
import { hasBody } from './validate.ts';

type Json = Record<string, unknown>;

const schemaOf = (schema: z.ZodMiniType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};

const envelopeOf = (data: Json): Json => ({
  type: 'object',
  required: ['code', 'message', 'data'],
  properties: { code: { type: 'integer' }, message: { type: 'string' }, data },
});

const tokenHeader = {
  authorization: { description: '更新后的令牌', schema: { type: 'string' } },
};

const binary: Json = { type: 'string', format: 'binary' };

/** The body of an upload: its file, and where they stand there its fields and other files. */
const uploadBody = (spec: CallSpec, fields: Json, required: readonly string[]): Json => ({
  required: true,
  content: {
    'multipart/form-data': {
      schema: spec.fieldsInBody
        ? {
            type: 'object',
            properties: {
              ...fields,
              ...Object.fromEntries(['file', ...spec.files].map((field) => [field, binary])),
            },
            required,
          }
        : { type: 'object', properties: { file: binary }, required: ['file'] },
    },
  },
});

/** What the public API answers to what fails: OpenAI's body, or the one of the 13 calls. */
const openFailure: Json = {
  oneOf: [
    {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          properties: {
            message: { type: 'string' },
            type: { type: 'string' },
            param: { type: ['string', 'null'] },
            code: { type: ['string', 'null'] },
          },
        },
      },
    },
    {
      type: 'object',
      required: ['result', 'code', 'message'],
      properties: {
        result: { const: false },
        code: { type: 'integer' },
        message: { type: 'string' },
      },
    },
  ],
};

const successOf = (spec: CallSpec): Json => {
  const data = schemaOf(spec.output, 'output');
  const refusals = spec.codes.map((name) => `${codes[name].code} ${codes[name].text}`);
  if (spec.wire !== 'envelope')
    return {
      description: '成功',
      content:
        data['type'] === 'string'
          ? { 'audio/mpeg': { schema: { type: 'string', format: 'binary' } } }
          : { 'application/json': { schema: data } },
    };
  return {
    description: refusals.length > 0 ? `成功，或 code 大于 0：${refusals.join('；')}` : '成功',
    headers: tokenHeader,
    content:
      spec.kind === 'stream'
        ? { 'text/event-stream': { schema: data } }
        : spec.kind === 'download'
          ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
          : { 'application/json': { schema: envelopeOf(data) } },
  };
};

/** A field with what becomes of it, by the kind of channel that serves the model. */
const withFate = (spec: CallSpec, name: string, schema: Json): Json => {
  const known = openFields[spec.path]?.[name];
  if (!known) return schema;
  const { service, builtIn, note } = known;
  const own = dialects.map((kind) => [`x-${kind}`, known[kind]]);
  return {
    ...schema,
    ...(note === '' ? {} : { description: note }),
    'x-service': service,
    ...Object.fromEntries(own),
    'x-built-in': builtIn,
  };
};

/** The fields that a call knows and refuses, each with the reason. */
const refusedBy = (spec: CallSpec): Json =>
  Object.fromEntries(
    Object.entries(openFields[spec.path] ?? {})
      .filter(([, { service }]) => service === 'refused')
      .map(([name, { note }]) => [name, note]),
  );

const operationOf = (name: string, spec: CallSpec): Json => {
  const input = schemaOf(spec.input, 'input');
  const properties = (input['properties'] ?? {}) as Record<string, Json>;
  const required = new Set((input['required'] ?? []) as string[]);
  const isUpload = spec.kind === 'upload';
  const inBody = hasBody(spec) && !isUpload;
  const isForm = spec.files.length > 0;
  const isInQuery = (field: string) =>
    !spec.fieldsInBody && (!inBody || spec.inQuery.includes(field));
  const refused = refusedBy(spec);
  const bodyFields = Object.entries(properties)
    .filter(([field]) => !isInQuery(field) && !Object.hasOwn(refused, field))
    .map(([field, schema]) => [field, withFate(spec, field, schema)] as const);
  const parameters = Object.entries(properties)
    .filter(([field]) => isInQuery(field))
    .map(([field, schema]) => ({
      name: field,
      in: spec.path.endsWith('*') ? 'path' : 'query',
      required: required.has(field),
      schema,
    }));
  if (spec.idempotent)
    parameters.push({
      name: 'idempotency-key',
      in: 'header',
      required: false,
      schema: spec.kind === 'open' ? { type: 'string' } : { type: 'string', format: 'uuid' },
    });
  const failure = (description: string) => ({
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
  });
  return {
    operationId: name,
    summary: spec.summary,
    security: spec.access === 'public' ? [{}, { token: [] }] : [{ token: [] }],
    parameters,
    ...(isUpload ? { requestBody: uploadBody(spec, properties, [...required]) } : {}),
    ...(inBody
      ? {
          requestBody: {
            required: bodyFields.some(([field]) => required.has(field)),
            content: {
              [isForm ? 'multipart/form-data' : 'application/json']: {
                schema: {
                  type: 'object',
                  properties: {
                    ...Object.fromEntries(
                      spec.files.map((field) => [field, { type: 'string', format: 'binary' }]),
                    ),
                    ...Object.fromEntries(bodyFields),
                  },
                  required: bodyFields
                    .map(([field]) => field)
                    .filter((field) => required.has(field)),
                  ...(spec.kind === 'open' ? { 'x-refused': refused } : {}),
                },
              },
            },
          },
        }
      : {}),
    responses: {
      200: successOf(spec),
      ...(spec.access === 'public' ? {} : { 401: failure('没有令牌或令牌无效') }),
      422: failure('输入不合要求，message 指出字段'),
      429: failure('请求太频繁，Retry-After 说明等待的秒数'),
    },
  };
};

/** The field that the end of a path stands for: the first of the input. */
export const pathFieldOf = ({ input }: CallSpec): string =>
  Object.keys((input as unknown as { shape: object }).shape)[0] ?? '';

/** The contract as an OpenAPI 3.1 document. */
export const openApiDocument = (
  version: string,
  publicUrl: string,
  of: 'app' | 'open' = 'app',
): Json => {
  const paths: Record<string, Json> = {};
  for (const [name, spec] of Object.entries(calls) as [string, CallSpec][]) {
    if ((spec.kind === 'open') !== (of === 'open')) continue;
    const path = spec.path.replace(/\*$/, () => `{${pathFieldOf(spec)}}`);
    paths[path] = {
      ...paths[path],
      [spec.method.toLowerCase()]: operationOf(name, spec),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: of === 'open' ? '鹊桥 API' : '鹊桥', version },
    servers: [{ url: publicUrl || '/' }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: of === 'open' ? 'API-KEY' : 'JWT',
        },
      },
      schemas: { Failure: of === 'open' ? openFailure : envelopeOf({}) },
    },
  };
};
