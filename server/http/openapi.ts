import * as z from 'zod/mini';
import type { CallSpec } from '../../contract/call.ts';
import { calls } from '../../contract/calls.ts';
import { codes } from '../../contract/errors.ts';
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

const fileBody: Json = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { file: { type: 'string', format: 'binary' } },
        required: ['file'],
      },
    },
  },
};

const successOf = (spec: CallSpec): Json => {
  const data = schemaOf(spec.output, 'output');
  const refusals = spec.codes.map((name) => `${codes[name].code} ${codes[name].text}`);
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

const operationOf = (name: string, spec: CallSpec): Json => {
  const input = schemaOf(spec.input, 'input');
  const properties = (input['properties'] ?? {}) as Record<string, Json>;
  const required = new Set((input['required'] ?? []) as string[]);
  const isUpload = spec.kind === 'upload';
  const inBody = hasBody(spec) && !isUpload;
  const isInQuery = (field: string) => !inBody || spec.inQuery.includes(field);
  const bodyFields = Object.entries(properties).filter(([field]) => !isInQuery(field));
  const parameters = Object.entries(properties)
    .filter(([field]) => isInQuery(field))
    .map(([field, schema]) => ({
      name: field,
      in: 'query',
      required: required.has(field),
      schema,
    }));
  if (spec.idempotent)
    parameters.push({
      name: 'idempotency-key',
      in: 'header',
      required: false,
      schema: { type: 'string', format: 'uuid' },
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
    ...(isUpload ? { requestBody: fileBody } : {}),
    ...(inBody
      ? {
          requestBody: {
            required: bodyFields.some(([field]) => required.has(field)),
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: Object.fromEntries(bodyFields),
                  required: bodyFields
                    .map(([field]) => field)
                    .filter((field) => required.has(field)),
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

/** The contract as an OpenAPI 3.1 document. */
export const openApiDocument = (version: string, publicUrl: string): Json => {
  const paths: Record<string, Json> = {};
  for (const [name, spec] of Object.entries(calls) as [string, CallSpec][]) {
    paths[spec.path] = {
      ...paths[spec.path],
      [spec.method.toLowerCase()]: operationOf(name, spec),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: '鹊桥', version },
    servers: [{ url: publicUrl || '/' }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Failure: envelopeOf({}) },
    },
  };
};
