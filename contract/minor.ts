import * as z from 'zod/mini';
import { call, id, text, wholeNumber } from './call.ts';

const minuteOfDay = wholeNumber(0, 24 * 60);
/** What a guardian sets, and nobody else knows. */
const code = text(12).check(z.regex(/^[0-9]{4,12}$/, '密码是 4 到 12 位数字'));

const rules = {
  /** Minutes of the day in China's time between which it may be used; `from` is before `to`. */
  from: minuteOfDay,
  to: minuteOfDay,
  /** Minutes a day. */
  minutes: wholeNumber(1, 24 * 60),
};

export const minorUsual = { from: 6 * 60, to: 22 * 60, minutes: 60 } as const;

const state = z.object({
  /** The operator offers it. */
  offered: z.boolean(),
  on: z.boolean(),
  from: z.int(),
  to: z.int(),
  minutes: z.int(),
  /** Minutes of today that are used. */
  used: z.int(),
});
export type MinorState = z.output<typeof state>;

export const minorCalls = {
  minorState: call({
    method: 'GET',
    path: '/api/minor',
    access: 'user',
    summary: '自己的账号是不是未成年人模式，几点到几点、一天几分钟、今天用了多少',
    input: z.object({}),
    output: state,
  }),
  startMinor: call({
    method: 'POST',
    path: '/api/minor/start',
    access: 'user',
    summary:
      '打开未成年人模式，或凭监护人的密码改它：使用时段、每天的分钟数；不能付款，不能和陌生人来往，检查更严',
    input: z.object({ code, ...rules }),
    output: state,
    codes: ['manage_unsuitable', 'wrong_password'],
  }),
  endMinor: call({
    method: 'POST',
    path: '/api/minor/end',
    access: 'user',
    summary: '凭监护人的密码关闭未成年人模式',
    input: z.object({ code }),
    output: state,
    codes: ['manage_unsuitable', 'wrong_password'],
  }),
  resetMinor: call({
    method: 'POST',
    path: '/api/admin/reset_minor',
    access: 'manager',
    summary: '管理：监护人忘了密码，核实之后关闭一个人的未成年人模式',
    input: z.object({ user_id: id }),
    output: z.object({}),
  }),
};
