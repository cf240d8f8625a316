import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { storable, storableText } from '#server/storable.ts';

/** What a server has to be read, beside its tools. */
export interface McpResource {
  uri: string;
  name: string;
  description: string;
  mime: string;
}

/** Resources whose address has blanks. */
export interface McpTemplate extends McpResource {
  blanks: string[];
}

export interface McpPrompt {
  name: string;
  title: string;
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
}

/** One resource: its text, or its bytes as base64. */
export interface McpContent {
  mime: string;
  text: string;
  data: string;
}

/** What of a list is looked at, and of a text. UTF-16 units. */
const most = { pages: 3, listed: 100, name: 200, uri: 2000, description: 500, arguments: 20 };
const mostText = 200_000;

export interface Bounds {
  signal: AbortSignal;
  ms: number;
}

const cut = (text: string | undefined, length: number): string =>
  storableText((text ?? '').slice(0, length));

/** All pages of a list, as far as they are looked at. */
const pagesOf = async <T>(
  ask: (cursor: string | undefined) => Promise<{ list: T[]; nextCursor?: string | undefined }>,
): Promise<T[]> => {
  const all: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < most.pages && all.length < most.listed; page += 1) {
    const { list, nextCursor } = await ask(cursor);
    all.push(...list);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return all.slice(0, most.listed);
};

const optionsOf = ({ signal, ms }: Bounds) => ({ signal, timeout: ms });
const paramsOf = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

export const resourcesOf = async (client: Client, bounds: Bounds): Promise<McpResource[]> => {
  if (!client.getServerCapabilities()?.resources) return [];
  const { ListResourcesResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const found = await pagesOf(async (cursor) => {
    const asked = { method: 'resources/list' as const, params: paramsOf(cursor) };
    const { resources, nextCursor } = await client.request(
      asked,
      ListResourcesResultSchema,
      optionsOf(bounds),
    );
    return { list: resources, nextCursor };
  });
  return found
    .filter(({ uri }) => uri.length <= most.uri)
    .map(({ uri, name, title, description, mimeType }) => ({
      uri: storableText(uri),
      name: cut(title ?? name, most.name) || cut(uri, most.name),
      description: cut(description, most.description),
      mime: cut(mimeType, 100),
    }));
};

export const templatesOf = async (client: Client, bounds: Bounds): Promise<McpTemplate[]> => {
  if (!client.getServerCapabilities()?.resources) return [];
  const [{ ListResourceTemplatesResultSchema, ErrorCode }, { UriTemplate }] = await Promise.all([
    import('@modelcontextprotocol/sdk/types.js'),
    import('@modelcontextprotocol/sdk/shared/uriTemplate.js'),
  ]);
  const ask = async (cursor: string | undefined) => {
    const asked = { method: 'resources/templates/list' as const, params: paramsOf(cursor) };
    const { resourceTemplates, nextCursor } = await client.request(
      asked,
      ListResourceTemplatesResultSchema,
      optionsOf(bounds),
    );
    return { list: resourceTemplates, nextCursor };
  };
  const found = await pagesOf(ask).catch((error: unknown) => {
    // Many that have resources know of no templates.
    if ((error as { code?: unknown }).code === ErrorCode.MethodNotFound) return [];
    throw error;
  });
  return found.flatMap(({ uriTemplate: uri, name, title, description, mimeType }) => {
    if (uri.length > most.uri) return [];
    let blanks: string[];
    try {
      blanks = [...new Set(new UriTemplate(uri).variableNames)];
    } catch {
      return [];
    }
    if (blanks.length > most.arguments || blanks.some((blank) => blank.length > most.name))
      return [];
    return {
      uri: storableText(uri),
      name: cut(title ?? name, most.name) || cut(uri, most.name),
      description: cut(description, most.description),
      mime: cut(mimeType, 100),
      blanks,
    };
  });
};

/** The address of a template with its blanks filled in. Null: it is none, or too long. */
export const filledAddress = async (
  template: string,
  given: Record<string, string>,
): Promise<string | null> => {
  const { UriTemplate } = await import('@modelcontextprotocol/sdk/shared/uriTemplate.js');
  try {
    const uri = new UriTemplate(template).expand(given);
    return uri.length <= most.uri ? uri : null;
  } catch {
    return null;
  }
};

export const readResource = async (
  client: Client,
  uri: string,
  bounds: Bounds,
): Promise<McpContent | null> => {
  const { ReadResourceResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const asked = { method: 'resources/read' as const, params: { uri } };
  const { contents } = await client.request(asked, ReadResourceResultSchema, optionsOf(bounds));
  const [first] = contents;
  if (!first) return null;
  const mime = cut(first.mimeType, 100);
  // What has several parts, as a folder has, is one text.
  const texts = contents.flatMap((part) => ('text' in part ? part.text : []));
  if (texts.length > 0) return { mime, text: cut(texts.join('\n\n'), mostText), data: '' };
  return 'blob' in first ? { mime, text: '', data: first.blob } : null;
};

export const promptsOf = async (client: Client, bounds: Bounds): Promise<McpPrompt[]> => {
  if (!client.getServerCapabilities()?.prompts) return [];
  const { ListPromptsResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const found = await pagesOf(async (cursor) => {
    const asked = { method: 'prompts/list' as const, params: paramsOf(cursor) };
    const { prompts, nextCursor } = await client.request(
      asked,
      ListPromptsResultSchema,
      optionsOf(bounds),
    );
    return { list: prompts, nextCursor };
  });
  return found
    .filter(({ name }) => name.length <= most.name)
    .map((prompt) => ({
      name: storableText(prompt.name),
      title: cut(prompt.title ?? prompt.name, most.name),
      description: cut(prompt.description, most.description),
      arguments: (prompt.arguments ?? []).slice(0, most.arguments).map((each) => ({
        name: cut(each.name, most.name),
        description: cut(each.description, most.description),
        required: each.required === true,
      })),
    }));
};

/** A prompt with its blanks filled in, as one text; who says what stands before it where several do. */
export const fillPrompt = async (
  client: Client,
  name: string,
  given: Record<string, string>,
  bounds: Bounds,
): Promise<string> => {
  const { GetPromptResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const asked = { method: 'prompts/get' as const, params: { name, arguments: given } };
  const { messages } = await client.request(asked, GetPromptResultSchema, optionsOf(bounds));
  const said = storable(
    messages.flatMap(({ role, content }) => {
      if (content.type === 'text') return [{ role, text: content.text }];
      if (content.type !== 'resource' || !('text' in content.resource)) return [];
      return [{ role, text: content.resource.text }];
    }),
  ) as { role: string; text: string }[];
  const both = new Set(said.map(({ role }) => role)).size > 1;
  const who = (role: string) => (role === 'assistant' ? '回答：' : '用户：');
  return said
    .map(({ role, text }) => (both ? `${who(role)}${text}` : text))
    .join('\n\n')
    .slice(0, mostText);
};
