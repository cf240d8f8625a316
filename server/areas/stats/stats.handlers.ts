import type { Out, Parsed } from '#contract/calls.ts';
import type { Host } from '#server/area.ts';
import type { Executor } from '#server/db/database.ts';
import { readDates } from '#server/http/date-range.ts';
import { type Handlers, Refusal } from '#server/http/handlers.ts';
import { listActs } from './acts.service.ts';
import { upToDate } from './roll-up.store.ts';
import { serviceState } from './service-state.ts';
import * as store from './stats.store.ts';

/** Document 3 §9. */
const mostRanked = 20;

const summary = async (db: Executor): Promise<Out<'adminSummary'>> => {
  await upToDate(db);
  const rows = new Map((await store.summary(db)).map((row) => [row.metric, row]));
  const counts = (of: 'total' | 'today' | 'yesterday') => ({
    user_count: rows.get('user')?.[of] ?? 0,
    order_count: rows.get('order')?.[of] ?? 0,
    session_count: rows.get('session')?.[of] ?? 0,
    history_count: rows.get('history')?.[of] ?? 0,
    image_count: rows.get('image')?.[of] ?? 0,
  });
  return {
    ...counts('total'),
    vip_count: await store.countMembers(db),
    today: counts('today'),
    yesterday: counts('yesterday'),
  };
};

const dayMs = 86_400_000;

/** How wide the steps of a span are, so that there are some 30 to 100. */
const stepOf = (ms: number): string => {
  if (ms <= 3 * 3_600_000) return '5 minutes';
  if (ms <= dayMs) return '30 minutes';
  if (ms <= 8 * dayMs) return '6 hours';
  return '1 day';
};

const modelStats = async (
  db: Executor,
  input: Parsed<'adminModelStats'>,
): Promise<Out<'adminModelStats'>> => {
  const given = readDates(input.start_date, input.end_date, {
    start: 'start_date',
    end: 'end_date',
  });
  const to = given.to ?? new Date();
  const from = given.from ?? new Date(to.getTime() - dayMs);
  const step = stepOf(to.getTime() - from.getTime());
  const points = await store.modelFigures(db, from, to, step);
  const whole = await store.modelFigures(db, from, to, null);
  return {
    list: points,
    models: whole,
    modelUserStats: await store.modelUsers(db, from, to),
  };
};

export const createStatsHandlers = (
  deps: Pick<Host, 'settings' | 'figures' | 'backups' | 'instance'>,
): Pick<
  Handlers,
  | 'adminSummary'
  | 'adminRankList'
  | 'adminChartList'
  | 'adminModelStats'
  | 'adminActList'
  | 'adminService'
  | 'adminBackup'
> => ({
  adminSummary: (_input, { db }) => summary(db),

  adminRankList: async (_input, { db }) => {
    await upToDate(db);
    const of = (days: number | null) => store.ranking(db, days, mostRanked);
    return {
      day: await of(0),
      three_day: await of(3),
      week: await of(7),
      month: await of(30),
      list: await of(null),
    };
  },

  adminChartList: async ({ range }, { db }) => {
    await upToDate(db);
    const counted = async (metric: string) =>
      (await store.chart(db, metric, range)).map(({ days, value }) => ({ days, count: value }));
    const tokens = await store.chart(db, 'tokens', range);
    return {
      userCounts: await counted('user'),
      requestCounts: await counted('request'),
      sessionCounts: await counted('session'),
      tokenCounts: tokens.map(({ days, value }) => ({ days, tokens: value })),
    };
  },

  adminModelStats: (input, { db }) => modelStats(db, input),

  adminActList: (input, { db }) => listActs(db, input),

  adminService: (_input, { db }) => serviceState(db, deps),

  adminBackup: async (_input, { noteAct }) => {
    noteAct({ subject: 'backup', to: { begun: true } });
    if (!(await deps.backups.begin()))
      throw new Refusal('manage_unsuitable', '正在备份，请等它完成');
    return {};
  },
});
