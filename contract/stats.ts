import * as z from 'zod/mini';
import { call, id, listOf, page, sortedBy, text, time } from './call.ts';
import { sorts } from './sorts.ts';

const counts = {
  user_count: z.int(),
  order_count: z.int(),
  session_count: z.int(),
  history_count: z.int(),
  image_count: z.int(),
};

/** Who spent how much in a time (document 3 §3). */
const ranked = z.object({
  user_id: z.int(),
  user: z.object({ user_name: z.string() }),
  deduct_tokens: z.int(),
  /** Their account's. */
  created_at: time,
});
export type Ranked = z.output<typeof ranked>;

/** The last moments of document 3 §9. */
export const chartRange = z.enum(['1h', '3h', '12h', '1d', '1w', '1m', '3m']);
export type ChartRange = z.output<typeof chartRange>;

/** `days` is the beginning of a step: a day (`2026-11-21`), or an instant where steps are shorter. */
const counted = z.array(z.object({ days: z.string(), count: z.int() }));

const modelStatRow = z.object({
  model: z.string(),
  request_count: z.int(),
  error_count: z.int(),
  tokens: z.int(),
  /** Means in ms: until the first word, of requests that went well and of those that failed. */
  first_time: z.int(),
  success_time: z.int(),
  error_time: z.int(),
  user_count: z.int(),
});
export type ModelStatRow = z.output<typeof modelStatRow>;

const act = z.object({
  id: z.int(),
  user_id: z.int(),
  user_name: z.string(),
  call: z.string(),
  /** What the call does, in words. */
  summary: z.string(),
  /** Such as `user:12`. */
  subject: z.string(),
  /** Whom it is about: the subject itself, or whose order or session that is. */
  person: z.nullable(z.object({ user_id: z.int(), user_name: z.string() })),
  /** JSON texts; empty: nothing. */
  input: z.string(),
  from: z.string(),
  to: z.string(),
  ip: z.string(),
  created_at: time,
});
export type ManagerAct = z.output<typeof act>;

const manager = z.object({
  user_id: z.int(),
  account: z.string(),
  user_name: z.string(),
  rank: z.enum(['owner', 'manager', 'auditor']),
  totp: z.boolean(),
  last_act_at: z.nullable(time),
});
export type Manager = z.output<typeof manager>;

export const statsCalls = {
  adminSummary: call({
    method: 'GET',
    path: '/api/admin/summary_data',
    access: 'manager',
    summary: '管理：各种数量，以及今天与昨天新增了多少',
    input: z.object({}),
    output: z.object({
      ...counts,
      vip_count: z.int(),
      /** Since midnight of China, and on the day before until the same hour. */
      today: z.object(counts),
      yesterday: z.object(counts),
    }),
  }),
  adminRankList: call({
    method: 'GET',
    path: '/api/admin/rank_list',
    access: 'manager',
    summary: '管理：今天、三天、一周、一个月与全部时间里用得最多的二十人',
    input: z.object({}),
    output: z.object({
      day: z.array(ranked),
      three_day: z.array(ranked),
      week: z.array(ranked),
      month: z.array(ranked),
      list: z.array(ranked),
    }),
  }),
  adminChartList: call({
    method: 'GET',
    path: '/api/admin/chart_list',
    access: 'manager',
    summary: '管理：一段时间里的新用户、请求、会话与 token',
    input: z.object({ range: z._default(chartRange, '1m') }),
    output: z.object({
      userCounts: counted,
      requestCounts: counted,
      sessionCounts: counted,
      tokenCounts: z.array(z.object({ days: z.string(), tokens: z.int() })),
    }),
  }),
  adminModelStats: call({
    method: 'GET',
    path: '/api/admin/model_stats',
    access: 'manager',
    summary: '管理：各模型的请求、失败、快慢与人数',
    /** Days of China, both whole, or times; the last day where they are left out. */
    input: z.object({ start_date: z.optional(text(40)), end_date: z.optional(text(40)) }),
    output: z.object({
      list: z.array(z.extend(modelStatRow, { time_point: z.string() })),
      /** The same over the whole time. */
      models: z.array(modelStatRow),
      modelUserStats: z.array(
        z.object({
          model: z.string(),
          user_id: z.int(),
          user_name: z.string(),
          request_count: z.int(),
          error_count: z.int(),
        }),
      ),
    }),
  }),
  adminActList: call({
    method: 'GET',
    path: '/api/admin/act_list',
    access: 'manager',
    summary: '管理：谁在什么时候改了什么，新的在前',
    input: z.object({
      page,
      user_id: z.optional(id),
      call: z.optional(text(60)),
      subject: z.optional(text(60)),
      ...sortedBy(sorts.adminActList),
    }),
    output: z.object({
      ...listOf(act),
      calls: z.array(z.object({ call: z.string(), summary: z.string() })),
      /** Who is in the log. */
      managers: z.array(z.object({ user_id: z.int(), user_name: z.string() })),
    }),
  }),
  adminService: call({
    method: 'GET',
    path: '/api/admin/service_state',
    access: 'manager',
    summary: '管理：服务的版本、磁盘、数据库、队列、任务、出错与慢的请求',
    input: z.object({}),
    output: z.object({
      version: z.string(),
      node: z.string(),
      database: z.string(),
      /** s. */
      uptime: z.int(),
      /** Bytes. */
      memory: z.int(),
      disk_free: z.nullable(z.int()),
      disk_total: z.nullable(z.int()),
      database_size: z.int(),
      connections: z.int(),
      processes: z.int(),
      /** Every process on the database: those that live, and those that fell silent in the last hour. */
      instances: z.array(
        z.object({
          id: z.int(),
          alive: z.boolean(),
          /** It answered this call. */
          own: z.boolean(),
          host: z.string(),
          /** Where it serves; empty: it only works on jobs. */
          address: z.string(),
          version: z.string(),
          /** How busy its thread was in the last half minute, 0 to 1; null: it told nothing yet. */
          load: z.nullable(z.number()),
          /** Bytes. */
          memory: z.nullable(z.int()),
          started_at: time,
          seen_at: time,
        }),
      ),
      tables: z.array(z.object({ name: z.string(), rows: z.int(), bytes: z.int() })),
      jobs: z.array(z.object({ kind: z.string(), state: z.string(), count: z.int() })),
      queue: z.int(),
      search_queue: z.int(),
      calls: z.array(
        z.object({
          name: z.string(),
          path: z.string(),
          count: z.int(),
          errors: z.int(),
          /** ms. */
          mean: z.number(),
          slowest: z.number(),
        }),
      ),
      requests: z.int(),
      errors: z.int(),
      metrics: z.boolean(),
      /** Of what the rules for such services ask for, how much is not set (see 合规). */
      compliance_missing: z.int(),
      /** Content that somebody has to look at, and appeals and reports that wait for more than a day. */
      safety_open: z.int(),
      appeals_late: z.int(),
      reports_late: z.int(),
      backup: z.object({
        running: z.boolean(),
        /** Why the last one failed; empty: it did not. */
        error: z.string(),
        /** Hours between two that are made by themselves; 0: none are. */
        hours: z.int(),
        /** The bucket where they are put, too; empty: none. */
        bucket: z.string(),
      }),
      last_backup: z.nullable(z.object({ name: z.string(), bytes: z.int(), created_at: time })),
    }),
  }),
  adminBackup: call({
    method: 'POST',
    path: '/api/admin/backup',
    access: 'owner',
    summary: '管理：现在备份一次，在服务器的数据文件夹里',
    input: z.object({}),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  managerList: call({
    method: 'GET',
    path: '/api/admin/manager_list',
    access: 'owner',
    summary: '管理：有哪些管理员',
    input: z.object({}),
    output: z.object({ list: z.array(manager) }),
  }),
  setManager: call({
    method: 'POST',
    path: '/api/admin/set_manager',
    access: 'owner',
    summary: '管理：让某人成为审计员（只能查看）、管理员、所有者，或不再是',
    input: z.object({ user_id: id, rank: z.enum(['none', 'auditor', 'manager', 'owner']) }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
};
