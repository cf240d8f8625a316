import { useQuery } from '@tanstack/react-query';

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  default?: unknown;
  format?: string;
  'x-service'?: string;
  'x-anthropic'?: string;
  'x-gemini'?: string;
  'x-built-in'?: string;
  description?: string;
}

interface Operation {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: {
    content: Record<
      string,
      {
        schema: {
          properties?: Record<string, Schema>;
          required?: string[];
          'x-refused'?: Record<string, string>;
        };
      }
    >;
  };
}

export interface OpenField {
  name: string;
  where: 'body' | 'query' | 'path' | 'file';
  required: boolean;
  /** In words: text, number, list … */
  kind: string;
  /** What becomes of it, in words; empty: nothing is said. */
  fate: string;
}

/** A call of the public API, as its document has it. */
export interface OpenCall {
  id: string;
  method: string;
  path: string;
  summary: string;
  /** multipart/form-data instead of JSON. */
  form: boolean;
  fields: OpenField[];
  /** Fields that it knows and refuses, with the reason. */
  refused: { name: string; note: string }[];
}

const kinds: Readonly<Record<string, string>> = {
  string: '文字',
  integer: '整数',
  number: '数字',
  boolean: '是或否',
  array: '列表',
  object: '一组字段',
};

const kindOf = (schema: Schema | undefined): string => {
  if (!schema) return '';
  if (schema.format === 'binary') return '文件';
  if (schema.enum) return schema.enum.map(String).join(' | ');
  if (schema.anyOf)
    return [...new Set(schema.anyOf.map(kindOf))].filter((kind) => kind !== '').join('或');
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  return types.map((type) => kinds[type] ?? type).join('或');
};

const fates: Readonly<Record<string, string>> = {
  passed: '转给服务',
  done: '本站处理',
  idle: '收下不用',
  refused: '拒绝',
};

/** Channels of other kinds than OpenAI's, by what the document calls them. */
const kindsOfChannel = [
  ['x-anthropic', 'Anthropic'],
  ['x-gemini', 'Gemini'],
  ['x-built-in', '内置模型'],
] as const;

const fateOf = (schema: Schema): string => {
  const { 'x-service': service = '', description } = schema;
  const said = fates[service] ?? '';
  const others = kindsOfChannel
    .map(([kind, name]) => ({ name, fate: schema[kind] ?? service }))
    // What services with words of their own are told in them is passed on all the same.
    .filter(({ fate }) => fate !== service && !(service === 'passed' && fate === 'done'));
  const own = [...new Set(others.map(({ fate }) => fate))]
    .map((fate) => {
      const names = others.filter((each) => each.fate === fate).map(({ name }) => name);
      return `；${names.join('、')} ${fates[fate] ?? ''}`;
    })
    .join('');
  return said + own + (service === 'idle' && description ? `（${description}）` : '');
};

const callOf = (path: string, method: string, operation: Operation): OpenCall => {
  const [type = '', body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const required = new Set(body?.schema.required ?? []);
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    form: type.startsWith('multipart/'),
    fields: [
      ...(operation.parameters ?? [])
        .filter((field) => field.in !== 'header')
        .map((field) => ({
          name: field.name,
          where: field.in === 'path' ? ('path' as const) : ('query' as const),
          required: field.required === true,
          kind: kindOf(field.schema),
          fate: '',
        })),
      ...Object.entries(body?.schema.properties ?? {}).map(([name, schema]) => ({
        name,
        where: schema.format === 'binary' ? ('file' as const) : ('body' as const),
        required: required.has(name),
        kind: kindOf(schema),
        fate: fateOf(schema),
      })),
    ],
    refused: Object.entries(body?.schema['x-refused'] ?? {}).map(([name, note]) => ({
      name,
      note,
    })),
  };
};

/** Every call of the public API, from its own document. */
export const useOpenCalls = () =>
  useQuery({
    queryKey: ['openDocument'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/v1/openapi.json', { signal });
      if (!response.ok) throw new Error('接口列表没有读到');
      const { paths } = (await response.json()) as {
        paths: Record<string, Record<string, Operation>>;
      };
      return Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => callOf(path, method, operation)),
      );
    },
    staleTime: Infinity,
    meta: { steady: true },
  });
