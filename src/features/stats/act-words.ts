import type { LinkProps } from '@tanstack/react-router';
import { readJson } from '#src/platform/read-json.ts';
import { withoutMarks } from '#common/markdown/plain.ts';
import { dateTime } from '#src/platform/format.ts';
import { yuan } from '#src/widgets/pay/money.ts';
import { fieldWords } from '#contract/field-words.ts';
import { editions } from '#contract/goods.ts';

/** The log of acts keeps names as programs have them: these are the words for people. */

const kinds: Readonly<Record<string, string>> = {
  user: '用户',
  order: '订单',
  session: '会话',
  message: '消息',
  history: '消息',
  model: '模型',
  channel: '模型服务',
  notice: '公告',
  scenario: '场景',
  scenario_category: '场景分类',
  forum_group: '社区分组',
  report: '举报',
  prompt: '提示词',
  keyword: '画图关键词',
  app: '应用',
  app_comment: '应用评论',
  train: '训练项目',
  invoice: '发票',
  difference: '对账差异',
  safety: '内容安全记录',
  people_group: '用户组',
  blocked_words: '屏蔽词',
  compliance: '合规',
  setup: '起步',
  sign_in: '登录方式',
  sign_in_provider: '可以登录的服务',
  upload: '上传',
  backup: '备份',
  channels: '模型服务',
  local_model: '本机模型',
  local_mirrors: '本机模型的下载地址',
};

export const subjectWords = (subject: string): string => {
  const [, kind = '', which = ''] = /^(\w+)(?::(.*))?$/s.exec(subject) ?? [];
  return kinds[kind] ? `${kinds[kind]} ${which}`.trim() : subject;
};

/** What people write of a subject as the log keeps it: 用户 12 → user:12. */
export const subjectOf = (words: string): string => {
  const [, word = '', which = ''] = /^(\p{Script=Han}+)\s*(\S.*)$/su.exec(words) ?? [];
  const [kind] = Object.entries(kinds).find(([, name]) => name === word) ?? [];
  return kind ? `${kind}:${which}` : words;
};

/** Where what an act is about can be seen; undefined: nowhere of its own. */
export const subjectLink = (subject: string): Pick<LinkProps, 'to' | 'search'> | undefined => {
  const [, kind = '', which = ''] = /^(user|order|session):(\w+)$/.exec(subject) ?? [];
  if (kind === 'user') return { to: '/manager/user', search: { person: Number(which) } };
  if (kind === 'order') return { to: '/manager/order', search: { order_id: which } };
  return kind === 'session'
    ? { to: '/manager/session', search: { session: Number(which) } }
    : undefined;
};

type Fields = Record<string, unknown>;

const read = (json: string): Fields | null => {
  const value = readJson<unknown>(json, null);
  return typeof value === 'object' && !Array.isArray(value) ? (value as Fields | null) : null;
};

/** Money is kept in cents. */
const money = new Set(['amount', 'refunded_amount', 'price']);
/** Fields that are on or off, whichever way they are kept. */
const switches =
  /^(private|enabled|display|disabled?|disable_api|vip|vip_excluded|hidden|pinned|essence|closed|resolved|removed?|restored?|remove_file|vision|closeComment|history_private|forgive|draft|add|totp|manager|owner|session_blacklist|session_private|sessionBlacklist)$/;
const values: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rank: { none: '不是管理员', manager: '管理员', owner: '所有者' },
  state: {
    draft: '草稿',
    review: '审核中',
    published: '已发布',
    pending: '等待审核',
    public: '公开',
    private: '仅自己',
    requested: '已申请',
    allowed: '没有问题',
    confirmed: '违规',
    open: '等人看',
    down: '已下架',
    created: '未付款',
    paid: '已付款',
    closed: '已关闭',
    refunded: '已退款',
    waiting: '等待',
    asked: '已申请',
    issued: '已开',
    rejected: '已拒绝',
    done: '完成',
  },
};

/** What numbers stand for. */
const codes: Readonly<Record<string, readonly string[]>> = {
  // Of a model, a template and a scenario alike.
  type: ['聊天', '图片', '语音识别', '语音合成', '视频'],
  subscribe: ['没有', ...editions.map(({ name }) => name)],
};

/** Characters of a value that are shown. */
const longest = 80;
const cut = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)}…（共 ${text.length} 字）` : text;
const wordOf = (name: string): string => fieldWords[name] ?? name;

const shown = (value: unknown, name = ''): string => {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value === 'boolean' || (switches.test(name) && (value === 0 || value === 1)))
    return Number(value) === 1 ? '是' : '否';
  if (typeof value === 'number')
    return codes[name]?.[value] ?? (money.has(name) ? yuan(value) : `${value}`);
  if (typeof value === 'string') {
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return dateTime(value);
    const line = value.includes('\n') ? withoutMarks(value).replaceAll(/\s+/g, ' ').trim() : value;
    return cut(values[name]?.[value] ?? line);
  }
  if (Array.isArray(value)) {
    const parts = value.map((part) => shown(part));
    return value.length === 0 ? '—' : cut(parts.join('、'));
  }
  const parts = Object.entries(value).map(([key, part]) => `${wordOf(key)} ${shown(part, key)}`);
  return parts.length === 0 ? '—' : cut(`（${parts.join('，')}）`);
};

/** What was sent, each field as `name：value`; what is empty is left out. */
export const sentWords = (input: string): string[] =>
  Object.entries(read(input) ?? {}).flatMap(([name, value]) => {
    const said = shown(value, name);
    return said === '—' ? [] : [`${wordOf(name)}：${said}`];
  });

/** What changed, each as `name：before → after`; empty: the log does not say. */
export const changeWords = (from: string, to: string): string[] => {
  const [before, after] = [read(from), read(to)];
  if (!before && !after) return [];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((name) => {
    const word = wordOf(name);
    if (!after) return [`${word}：${shown(before?.[name], name)}`];
    // What stayed is no change.
    if (!(name in after)) return [];
    return before && name in before
      ? [`${word}：${shown(before[name], name)} → ${shown(after[name], name)}`]
      : [`${word}：${shown(after[name], name)}`];
  });
};
