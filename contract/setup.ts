import * as z from 'zod/mini';
import { user } from './auth.ts';
import { call, confirmation, confirmCodes, flag, slowCall, text } from './call.ts';
import { limits } from './limits.ts';

const step = z.enum(['answer', 'password', 'address', 'payment', 'people']);
export type SetupStep = z.output<typeof step>;
/** In the order of the path: what brings an answer first. */
export const setupSteps = step.options;

/** open: anybody; invited: by somebody's link; closed: nobody. */
const people = z.enum(['open', 'invited', 'closed']);
export type WhoMayJoin = z.output<typeof people>;

const state = z.object({
  /** 1: nothing is left of it, or the owner wants to see no more of it. */
  ended: flag,
  steps: z.array(z.object({ key: step, done: flag })),
  /** 1: the owner still signs in with the password that was made up at the start. */
  made_up: flag,
  /** Services and files of this machine that answer beside what is built in. */
  services: z.array(z.object({ label: z.string() })),
  /** Empty: none is set. */
  public_url: z.string(),
  /** Names of what people can pay by; the sandbox takes no money. */
  providers: z.array(z.string()),
  /** 0: nobody can pay, whatever the server's settings say. */
  payment: flag,
  people,
  /** 1: one may ask without an account. */
  guests: flag,
});
export type SetupState = z.output<typeof state>;

/** What was looked at; how it is, and what to do where it is not well. */
const finding = z.object({
  area: z.string(),
  state: z.enum(['well', 'note', 'broken']),
  text: z.string(),
  /** Empty where nothing is to be done. */
  advice: z.string(),
});
export type SiteFinding = z.output<typeof finding>;

export const setupCalls = {
  setupEnter: call({
    method: 'POST',
    path: '/api/setup_enter',
    access: 'public',
    forDisabled: true,
    limit: 'credentials',
    summary: '用第一次启动时打印的链接登录为所有者，只能用一次',
    input: z.object({ code: text(100) }),
    output: z.object({ token: z.string(), profile: user }),
    effect: 'none',
  }),
  setupState: call({
    method: 'GET',
    path: '/api/setup_state',
    access: 'owner',
    summary: '管理：起步的五步做到哪里了',
    input: z.object({}),
    output: state,
  }),
  saveSetup: call({
    method: 'POST',
    path: '/api/save_setup',
    access: 'owner',
    summary: '管理：更改谁可以来、能不能付款，或把一步记为做好；没有写的不变',
    input: z.object({
      people: z.optional(people),
      guests: z.optional(flag),
      payment: z.optional(flag),
      /** A step that needs nothing more. */
      settle: z.optional(step),
      /** 1: the path is not shown any more; 0: it is shown again. */
      ended: z.optional(flag),
    }),
    output: state,
  }),
  setupPassword: call({
    method: 'POST',
    path: '/api/setup_password',
    access: 'owner',
    limit: 'credentials',
    summary: '管理：换掉启动时生成的密码；其他设备上的登录随即失效',
    input: z.object({ new_password: text(limits.password.max * 4), ...confirmation }),
    output: state,
    codes: confirmCodes,
  }),
  checkSite: slowCall({
    method: 'POST',
    path: '/api/check_site',
    access: 'owner',
    summary:
      '管理：检查这个站点依靠的一切，如 npm run doctor；part 为 address 时只试 PUBLIC_URL：有没有回答、是不是 https、代理会不会攒住回复',
    input: z.object({ part: z._default(z.enum(['all', 'address']), 'all') }),
    output: z.object({ list: z.array(finding) }),
    effect: 'none',
    logged: false,
  }),
};
