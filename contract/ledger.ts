import * as z from 'zod/mini';
import { call, listOf, page, text, time } from './call.ts';

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

export const ledgerCalls = {
  transactionList: call({
    method: 'GET',
    path: '/api/transaction_list',
    access: 'guest',
    summary: '消费记录',
    input: z.object({ page, model: z.optional(text(100)) }),
    output: z.object({ ...listOf(consumption), models: z.array(z.string()) }),
    codes: ['account_disabled'],
  }),
};
