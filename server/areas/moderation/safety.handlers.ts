import { safetyServices } from '#contract/safety.ts';
import type { Executor } from '#server/db/database.ts';
import { type Handlers, Refusal } from '#server/http/handlers.ts';
import { fieldName } from '#server/http/field-words.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import type { SafetyService } from './safety.service.ts';
import * as store from './safety.store.ts';

type Served =
  | 'safetyState'
  | 'saveSafety'
  | 'safetyCaseList'
  | 'decideSafetyCase'
  | 'ownSafetyCases'
  | 'appealSafetyCase';

const pageSize = 20;

const stateOf = async (db: Executor) => {
  const { settings, secret } = await store.readSafety(db);
  const days = await store.lastDays(db);
  return {
    settings,
    has_secret: secret !== null,
    days: days.map(({ ms, ...row }) => ({ ...row, mean_ms: row.checks > 0 ? ms / row.checks : 0 })),
  };
};

const viewCase = ({ row }: Awaited<ReturnType<typeof store.casePage>>[number]) => ({
  id: row.id,
  created_at: row.createdAt.toISOString(),
  way: row.way,
  kind: row.kind,
  level: row.level,
  reason: row.reason,
  state: row.state,
  appeal: row.appeal,
  appealed_at: row.appealedAt?.toISOString() ?? null,
  decided_at: row.decidedAt?.toISOString() ?? null,
});

export const createSafetyHandlers = (safety: SafetyService): Pick<Handlers, Served> => ({
  safetyState: async (_input, { db }) => {
    await safety.flush();
    return stateOf(db);
  },

  saveSafety: async ({ secret, ...change }, { db, user, noteAct, afterCommit }) => {
    const before = await store.readSafety(db);
    const after = { ...before.settings, ...change };
    if (after.address !== '' && !URL.canParse(after.address))
      throw new Refusal('manage_unsuitable', `${fieldName('address')} 不是一个网址`);
    const judged = after.judge !== '' && after.judge !== before.settings.judge;
    if (judged && !(await safety.canJudge(after.judge, user.id)))
      throw new Refusal('manage_unsuitable', `${fieldName('judge')} 没有叫这个名字的对话模型`);
    const hasSecret = secret === undefined ? before.secret !== null : secret !== '';
    if (safetyServices.indexOf(after.service) > 0 && (after.key_id === '' || !hasSecret))
      throw new Refusal('manage_unsuitable', '用外面的服务检查，要填它的密钥编号和密钥');
    const sealed = secret === '' ? null : safety.seal(secret ?? '');
    await store.writeSafety(db, change, secret === undefined ? undefined : sealed);
    noteAct({ subject: 'compliance', from: before.settings, to: after });
    afterCommit(() => safety.forget());
    return stateOf(db);
  },

  safetyCaseList: async ({ page, open, user_id: userId, ip }, { db }) => {
    const which = { userId, ip, open: open === 1 };
    const rows = await store.casePage(db, {
      ...which,
      ...windowOf(page, pageSize),
    });
    const total = await store.countCases(db, which);
    return {
      list: rows.map((each) => ({
        ...viewCase(each),
        user_id: each.row.userId,
        user_name: each.userName ?? '已注销',
        by: each.row.by,
        excerpt: each.row.excerpt,
        times: each.times,
        ip: each.row.ip,
        ip_times: each.ipTimes,
      })),
      ...pageOf(total, page, pageSize),
    };
  },

  decideSafetyCase: async ({ id, state }, { db, user, noteAct }) => {
    if (!(await store.decideCase(db, id, state, user.id)))
      throw new Refusal('not_found', '没有这一条，或已经处理过了');
    noteAct({ subject: `safety:${id}`, from: { state: 'open' }, to: { state } });
    return {};
  },

  ownSafetyCases: async ({ page }, { db, user }) => {
    const asked = { userId: user.id, open: false, ...windowOf(page, pageSize) };
    const rows = await store.casePage(db, asked);
    return {
      list: rows.map(viewCase),
      ...pageOf(await store.countCases(db, asked), page, pageSize),
    };
  },

  appealSafetyCase: async ({ id, appeal }, { db, user }) => {
    if (!(await store.appealCase(db, id, user.id, appeal)))
      throw new Refusal('not_found', '没有这一条，或已经申诉过了');
    return {};
  },
});
