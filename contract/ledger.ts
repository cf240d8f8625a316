import * as z from 'zod/mini';
import {
  call,
  dayOf,
  download,
  listOf,
  monthOf,
  page,
  sortedBy,
  text,
  time,
  wholeNumber,
} from './call.ts';
import { sorts } from './sorts.ts';

/** One spend (document 3 §3). */
export const consumption = z.object({
  id: z.int(),
  created_at: time,
  /** The session's type. */
  type: z.int(),
  model: z.string(),
  /** The beginning of the prompt. */
  human: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  deduct_tokens: z.int(),
  /** What could be spent before it. */
  current_balance: z.int(),
});
export type Consumption = z.output<typeof consumption>;

const filter = {
  model: z.optional(text(100)),
  type: z.optional(wholeNumber(0, 100)),
};

/** A month, or days of one's own: from the first to the last, at most `limits.usageDays`. */
const span = {
  month: z.optional(monthOf),
  from: z.optional(dayOf),
  to: z.optional(dayOf),
};

/** What a day took of one kind and model. */
const usageRecord = z.object({
  /** YYYY-MM-DD, in China. */
  date: z.string(),
  type: z.int(),
  model: z.string(),
  count: z.int(),
  /** Of prompts and replies, weighted by the type (document 3 §9). */
  tokens: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  deduct_tokens: z.int(),
});

export const ledgerCalls = {
  usage: call({
    method: 'GET',
    path: '/api/usage',
    access: 'guest',
    summary:
      '一个月的用量，或从 from 到 to 的；items 是到这个月（to 的那个月）为止的十二个月，这个月在最前',
    input: z.object(span),
    output: z.object({
      month: z.string(),
      /** What was asked for by its days, the last one included, and the sessions begun in them. */
      range: z.optional(z.object({ from: z.string(), to: z.string(), session: z.int() })),
      items: z.array(
        z.object({
          month: z.string(),
          session: z.int(),
          request: z.int(),
          deduct_tokens: z.int(),
        }),
      ),
      userInfo: z.object({
        user_id: z.int(),
        user_name: z.string(),
        chatgpt_balance: z.int(),
        vip_balance: z.int(),
        subscribe: z.int(),
      }),
      vipInfo: z.object({
        user_name: z.string(),
        vip: z.int(),
        vip_expired_at: z.nullable(time),
      }),
      list: z.array(usageRecord),
    }),
  }),
  transactionList: call({
    method: 'GET',
    path: '/api/transaction_list',
    access: 'guest',
    summary: '消费记录，可以按类型与模型筛选',
    input: z.object({ page, ...filter, ...sortedBy(sorts.transactionList) }),
    output: z.object({
      ...listOf(consumption),
      models: z.array(z.string()),
      types: z.array(z.int()),
    }),
  }),
  transactionFile: download({
    path: '/api/transaction_file',
    access: 'guest',
    summary: '消费记录的 CSV，可以只要一个月的，或从 from 到 to 的',
    input: z.object({ ...span, ...filter, ticket: z.optional(text(100)) }),
    output: z.string(),
  }),
  vipEndSeen: call({
    method: 'POST',
    path: '/api/vip_end_seen',
    access: 'user',
    summary: '会员快到期的提醒已经看到，这一次不再提醒',
    input: z.object({}),
    output: z.object({}),
  }),
  lowBalanceSeen: call({
    method: 'POST',
    path: '/api/low_balance_seen',
    access: 'guest',
    summary: '余额不足一成的提醒已经看到，这一次不再提醒',
    input: z.object({}),
    output: z.object({}),
  }),
};
