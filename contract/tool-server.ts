import * as z from 'zod/mini';
import { call, flag, id, slowCall, text, time } from './call.ts';

/** A tool of a server, as the server told it last. */
const offeredTool = z.object({
  name: z.string(),
  description: z.string(),
  /** Names what it says of itself: another one after each change. */
  digest: z.string(),
  /** Models may be offered it. */
  on: z.boolean(),
  /** It says something else of itself than when somebody agreed to it; until then it is off. */
  changed: z.boolean(),
});

/** A server of tools that speaks MCP. */
export const toolServer = z.object({
  id: z.int(),
  name: z.string(),
  /** Empty: it is not told to whoever asks. */
  url: z.string(),
  /** For everybody; managers alone change it. */
  shared: z.boolean(),
  /** Whoever asks may change it. */
  mine: z.boolean(),
  enabled: z.boolean(),
  /** The header that carries the token. */
  header: z.string(),
  has_secret: z.boolean(),
  /** What this site is called where one signs in; empty: it registers itself, or it is not told to whoever asks. */
  client_id: z.string(),
  has_client_secret: z.boolean(),
  /** Its resources and prompts are offered, too. */
  more: z.boolean(),
  /** `none`: it asks for no sign-in of its own; it wants one; one stands; one that stood is refused. */
  login: z.enum(['none', 'wanted', 'given', 'lost']),
  /** What went wrong last; empty: nothing since it last answered. */
  last_error: z.string(),
  last_ok_at: z.nullable(time),
  tools: z.array(offeredTool),
});
export type ToolServer = z.output<typeof toolServer>;

export const toolServerLimits = {
  /** Servers of one person, and of everybody. */
  servers: 10,
  shared: 30,
  /** Tools that are known of one server, and that a model is offered in all. */
  tools: 100,
  offered: 40,
} as const;

const headerName = z.string().check(z.regex(/^[A-Za-z][\w-]{0,60}$/, '应为请求头的名字'));

/** What OAuth takes in names and secrets of clients, without blanks. */
const visible = z.regex(/^[!-~]*$/, '应为字母、数字或符号，没有空格');

export const toolServerCalls = {
  toolServers: call({
    method: 'GET',
    path: '/api/tool_servers',
    access: 'user',
    summary: '工具服务（MCP）：给所有人的，与自己的',
    input: z.object({}),
    output: z.object({ list: z.array(toolServer) }),
  }),
  toolTokens: call({
    method: 'GET',
    path: '/api/tool_tokens',
    access: 'guest',
    summary: '模型每次被告知我能用的工具服务（MCP）的工具，约多少 token',
    input: z.object({}),
    output: z.object({ tokens: z.int() }),
  }),
  saveToolServer: call({
    method: 'POST',
    path: '/api/save_tool_server',
    access: 'user',
    summary: '添加或更改一个工具服务；shared=1 给所有人，只有管理员可以',
    input: z.object({
      id: z.optional(id),
      name: text(40).check(z.trim(), z.minLength(1)),
      url: text(500).check(z.regex(/^https?:\/\/[^\s@]+$/i, '应为 http 或 https 的地址')),
      header: z._default(headerName, 'Authorization'),
      /** Left out or empty: as it is. */
      secret: z.optional(text(4000)),
      /**
       * What this site is called at a server that registers nobody by itself. Empty: it registers
       * itself. Left out: as it is. A token takes its place, and it a token's.
       */
      client_id: z.optional(text(500).check(z.trim(), visible)),
      /** Left out or empty: as it is, while `client_id` is the same. */
      client_secret: z.optional(text(1000).check(z.trim(), visible)),
      enabled: z._default(flag, 1),
      shared: z._default(flag, 0),
      /** 1: its resources and prompts are offered, too. Left out: as it is. */
      more: z.optional(flag),
    }),
    output: z.object({ id: z.int() }),
    codes: ['manage_unsuitable'],
    idempotent: true,
    logged: false,
  }),
  checkToolServer: slowCall({
    method: 'POST',
    path: '/api/check_tool_server',
    access: 'user',
    summary: '连接一个工具服务，读出它现在有哪些工具',
    input: z.object({ id }),
    output: z.object({ ok: z.boolean(), message: z.string() }),
  }),
  beginToolLogin: slowCall({
    method: 'POST',
    path: '/api/begin_tool_login',
    access: 'user',
    summary:
      '到一个工具服务那里授权（OAuth）：给出要打开的地址，回来的地址是本站的 /tools/authorized',
    input: z.object({ id }),
    output: z.object({ url: z.string() }),
    codes: ['engine_failed', 'manage_unsuitable'],
    logged: false,
  }),
  endToolLogin: slowCall({
    method: 'POST',
    path: '/api/end_tool_login',
    access: 'user',
    summary:
      '从工具服务的授权回来：用得到的 code 换成令牌，加密保存；只有开始的人、在同一次登录里能做。等着这次授权的回复接着写',
    input: z.object({ state: text(200), code: text(4000) }),
    output: z.object({
      ok: z.boolean(),
      message: z.string(),
      /** The conversation whose reply goes on, as a call in it waited for this; null: none did. */
      goes_on: z.nullable(z.string()),
    }),
    logged: false,
  }),
  toolServerThings: slowCall({
    method: 'GET',
    path: '/api/tool_server_things',
    access: 'user',
    summary: '一个工具服务现在有哪些资源（能放进消息）与提示词；只有打开了“资源与提示词”的',
    input: z.object({ id }),
    output: z.object({
      resources: z.array(
        z.object({
          uri: z.string(),
          name: z.string(),
          description: z.string(),
          /** Its kind; empty: not told. */
          mime: z.string(),
        }),
      ),
      /** Resources whose address has blanks, which `read_tool_resource` takes with what fills them. */
      templates: z.array(
        z.object({
          uri: z.string(),
          name: z.string(),
          description: z.string(),
          mime: z.string(),
          blanks: z.array(z.string()),
        }),
      ),
      prompts: z.array(
        z.object({
          name: z.string(),
          title: z.string(),
          description: z.string(),
          arguments: z.array(
            z.object({ name: z.string(), description: z.string(), required: z.boolean() }),
          ),
        }),
      ),
    }),
    codes: ['engine_failed'],
  }),
  readToolResource: slowCall({
    method: 'POST',
    path: '/api/read_tool_resource',
    access: 'user',
    summary: '读一个工具服务的一份资源：文字，或 base64 的内容',
    input: z.object({
      id,
      uri: text(2000).check(z.minLength(1)),
      /** What fills the blanks of a template's address. */
      blanks: z.optional(z.record(text(200), text(1000))),
    }),
    output: z.object({ mime: z.string(), text: z.string(), data: z.string() }),
    codes: ['engine_failed'],
  }),
  fillToolPrompt: slowCall({
    method: 'POST',
    path: '/api/fill_tool_prompt',
    access: 'user',
    summary: '一个工具服务的一个提示词，填好空后的文字',
    input: z.object({
      id,
      name: text(200).check(z.minLength(1)),
      arguments: z._default(z.record(text(200), text(4000)), {}),
    }),
    output: z.object({ text: z.string() }),
    codes: ['engine_failed'],
  }),
  chooseTools: call({
    method: 'POST',
    path: '/api/choose_tools',
    access: 'user',
    summary: '选定一个服务里让模型用的工具；digest 与现在的不同的不会打开',
    input: z.object({
      id,
      tools: z
        .array(z.object({ name: text(100), digest: text(64) }))
        .check(z.maxLength(toolServerLimits.tools)),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  deleteToolServer: call({
    method: 'DELETE',
    path: '/api/delete_tool_server',
    access: 'user',
    summary: '删除一个工具服务',
    input: z.object({ id }),
    output: z.object({}),
  }),
};
