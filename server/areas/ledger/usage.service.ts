import { limits } from '#contract/limits.ts';
import type { Consumption } from '#contract/ledger.ts';
import type { Out } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { together } from '#server/db/in-transaction.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import * as store from './ledger.store.ts';

/** How the tokens of a use count by its type (document 3 §9); 1 where nothing is said. */
const weights: Readonly<Record<number, number>> = { 2: 0.25, 4: 2, 5: 2 };
const weighed = (type: number, tokens: number): number => Math.round(tokens * (weights[type] ?? 1));

/** The first day of a month (YYYY-MM) some months on. */
const firstDay = (month: string, on = 0): string => {
  const at = new Date(`${month}-01T00:00:00Z`);
  at.setUTCMonth(at.getUTCMonth() + on);
  return at.toISOString().slice(0, 10);
};

export const chinaMonth = (at: Date): string =>
  new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 7);

/** Twelve months up to the one asked for, which no one can take from the future; and that one's days. */
export const usageOf = async (
  db: Executor,
  userId: number,
  asked: string | undefined,
  sessionsByMonth: (
    db: Executor,
    userId: number,
    from: Date,
    to: Date,
  ) => Promise<ReadonlyMap<string, number>>,
): Promise<Pick<Out<'usage'>, 'month' | 'items' | 'list'>> => {
  const now = chinaMonth(new Date());
  const month = asked === undefined || asked > now ? now : asked;
  const from = firstDay(month, -11);
  const to = firstDay(month, 1);
  const china = (day: string) => new Date(`${day}T00:00:00+08:00`);
  const [months, days, sessions] = await together([
    store.usageMonths(db, userId, from, to),
    store.usageBetween(db, userId, firstDay(month), to),
    sessionsByMonth(db, userId, china(from), china(to)),
  ]);
  const byMonth = new Map(months.map((each) => [each.month, each]));
  return {
    month,
    items: Array.from({ length: 12 }, (_, back) => {
      const name = firstDay(month, -back).slice(0, 7);
      const used = byMonth.get(name);
      return {
        month: name,
        session: sessions.get(name) ?? 0,
        request: used?.requests ?? 0,
        deduct_tokens: used?.deducted ?? 0,
      };
    }),
    list: days.map((row) => ({
      date: row.day,
      type: row.type,
      model: row.model,
      count: row.requests,
      tokens: weighed(row.type, row.promptTokens + row.completionTokens),
      prompt_tokens: row.promptTokens,
      completion_tokens: row.completionTokens,
      deduct_tokens: row.deductTokens,
    })),
  };
};

const viewOf = (row: Awaited<ReturnType<typeof store.consumptionPage>>[number]): Consumption => ({
  id: row.id,
  created_at: row.createdAt.toISOString(),
  type: row.type,
  model: row.model,
  human: row.human,
  prompt_tokens: row.promptTokens,
  completion_tokens: row.completionTokens,
  deduct_tokens: row.deductTokens,
  current_balance: row.currentBalance,
});

/** Pages further down than this are in the file alone. */
const mostPages = 1000;

/** A page of a person's spends, newest first. */
export const transactions = async (
  db: Executor,
  userId: number,
  { page, model, type }: { page: number; model?: string | undefined; type?: number | undefined },
): Promise<Out<'transactionList'>> => {
  const size = limits.pageSize;
  const counts = await store.spendCounts(db, userId);
  const total = counts
    .filter((row) => (model ?? row.model) === row.model && (type ?? row.type) === row.type)
    .reduce((sum, row) => sum + row.count, 0);
  const pages = Math.min(mostPages, Math.ceil(total / size));
  const list =
    page > pages
      ? []
      : await store.consumptionPage(db, { userId, model, type }, windowOf(page, size));
  return {
    list: list.map(viewOf),
    models: [...new Set(counts.map((row) => row.model))],
    types: [...new Set(counts.map((row) => row.type))].sort((a, b) => a - b),
    ...pageOf(total, page, size),
    page_count: pages,
  };
};

const kinds: Readonly<Record<number, string>> = {
  0: '对话',
  1: '画图',
  2: '语音识别',
  3: '朗读',
  4: '视频',
};

/** A cell of a CSV; one that a spreadsheet would take for a formula is marked as text. */
const cell = (value: string | number): string => {
  const text =
    typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const chinaTime = (at: Date): string =>
  new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

const rowsAtOnce = 2000;

/** All spends, or a month's, as the pieces of a CSV with a head. */
export async function* transactionCsv(
  db: Executor,
  userId: number,
  filter: { month?: string | undefined; model?: string | undefined; type?: number | undefined },
): AsyncGenerator<string> {
  const { month, ...others } = filter;
  const span = month === undefined ? {} : { from: firstDay(month), to: firstDay(month, 1) };
  yield '\uFEFF时间,类型,模型,内容,提问 token,回答 token,扣除 token,扣除前余额\r\n';
  let below = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await store.consumptionsBelow(
      db,
      { userId, ...others, ...span },
      below,
      rowsAtOnce,
    );
    yield rows
      .map((row) =>
        [
          chinaTime(row.createdAt),
          kinds[row.type] ?? '其他',
          row.model,
          row.human,
          row.promptTokens,
          row.completionTokens,
          row.deductTokens,
          row.currentBalance,
        ]
          .map(cell)
          .join(','),
      )
      .map((line) => `${line}\r\n`)
      .join('');
    if (rows.length < rowsAtOnce) return;
    below = rows.at(-1)?.id ?? 0;
  }
}
