import { chinaClock, chinaDay } from '#common/china-time.ts';
import { limits } from '#contract/limits.ts';
import type { Consumption } from '#contract/ledger.ts';
import type { Out, Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { together } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { requireSortable } from '#server/sorting.ts';
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

export const chinaMonth = (at: Date): string => chinaDay(at).slice(0, 7);

/** The day some days on. */
const dayAfter = (day: string, on = 1): string =>
  new Date(Date.parse(day) + on * 24 * 3_600_000).toISOString().slice(0, 10);

type Span = Pick<Parsed<'usage'>, 'month' | 'from' | 'to'>;

/** Days asked for by their first and last, none of the future; null: none are. @throws Refusal bad_input */
const rangeOf = ({ month, from, to: last }: Span): { from: string; to: string } | null => {
  if (from === undefined && last === undefined) return null;
  const no = (field: string, why: string) => new Refusal('bad_input', `${field}：${why}`);
  if (month !== undefined) throw no('month', '月份与 from、to 只能给一种');
  if (from === undefined) throw no('from', '请给出从哪一天开始');
  const today = chinaDay(new Date());
  if (from > today) throw no('from', '开始的一天还没有到');
  if (last !== undefined && from > last) throw no('from', '开始的一天应不晚于结束的一天');
  const to = last === undefined || last > today ? today : last;
  if (dayAfter(from, limits.usageDays) <= to) throw no('to', `一次最多看 ${limits.usageDays} 天`);
  return { from, to };
};

/** Twelve months up to the one asked for, which no one can take from the future; and the days asked for. */
export const usageOf = async (
  db: Executor,
  userId: number,
  asked: Span,
  sessionsByMonth: (
    db: Executor,
    userId: number,
    from: Date,
    to: Date,
  ) => Promise<ReadonlyMap<string, number>>,
): Promise<Pick<Out<'usage'>, 'month' | 'range' | 'items' | 'list'>> => {
  const range = rangeOf(asked);
  const now = chinaMonth(new Date());
  const last = range?.to.slice(0, 7) ?? asked.month;
  const month = last === undefined || last > now ? now : last;
  const days = range
    ? { from: range.from, to: dayAfter(range.to) }
    : { from: firstDay(month), to: firstDay(month, 1) };
  const from = firstDay(month, -11);
  const to = firstDay(month, 1);
  const china = (day: string) => new Date(`${day}T00:00:00+08:00`);
  const [months, used, sessions, begun] = await together([
    store.usageMonths(db, userId, from, to),
    store.usageBetween(db, userId, days.from, days.to),
    sessionsByMonth(db, userId, china(from), china(to)),
    range ? sessionsByMonth(db, userId, china(days.from), china(days.to)) : new Map(),
  ]);
  const byMonth = new Map(months.map((each) => [each.month, each]));
  return {
    month,
    ...(range && {
      range: { ...range, session: [...begun.values()].reduce((sum, each) => sum + each, 0) },
    }),
    items: Array.from({ length: 12 }, (_, back) => {
      const name = firstDay(month, -back).slice(0, 7);
      const taken = byMonth.get(name);
      return {
        month: name,
        session: sessions.get(name) ?? 0,
        request: taken?.requests ?? 0,
        deduct_tokens: taken?.deducted ?? 0,
      };
    }),
    list: used.map((row) => ({
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

/** A page of a person's spends, the newest first where no other order is asked for. @throws Refusal bad_input */
export const transactions = async (
  db: Executor,
  userId: number,
  { page, model, type, ...sorting }: Parsed<'transactionList'>,
): Promise<Out<'transactionList'>> => {
  const size = limits.pageSize;
  const counts = await store.spendCounts(db, userId);
  const total = counts
    .filter((row) => (model ?? row.model) === row.model && (type ?? row.type) === row.type)
    .reduce((sum, row) => sum + row.count, 0);
  requireSortable('transactionList', sorting, total);
  const pages = Math.min(mostPages, Math.ceil(total / size));
  const list =
    page > pages
      ? []
      : await store.consumptionPage(db, { userId, model, type }, windowOf(page, size), sorting);
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

const rowsAtOnce = 2000;

/**
 * All spends, or those of a month or of some days, as the pieces of a CSV with a head.
 * @throws Refusal bad_input
 */
export const transactionCsv = (
  db: Executor,
  userId: number,
  { month, from, to, model, type }: Span & Pick<store.SpendFilter, 'model' | 'type'>,
): { name: string; pieces: AsyncGenerator<string> } => {
  const range = rangeOf({ month, from, to });
  const name = range ? `${range.from}-${range.to}` : (month ?? 'all');
  const span = range
    ? { from: range.from, to: dayAfter(range.to) }
    : month === undefined
      ? {}
      : { from: firstDay(month), to: firstDay(month, 1) };
  return { name, pieces: csvOf(db, { userId, model, type, ...span }) };
};

async function* csvOf(db: Executor, filter: store.SpendFilter): AsyncGenerator<string> {
  yield '\uFEFF时间,类型,模型,内容,提问 token,回答 token,扣除 token,扣除前余额\r\n';
  let below = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await store.consumptionsBelow(db, filter, below, rowsAtOnce);
    yield rows
      .map((row) =>
        [
          chinaClock(row.createdAt).replace('T', ' '),
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
