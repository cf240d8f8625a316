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
  blocked_words: '屏蔽词',
  upload: '上传',
};

const fields: Readonly<Record<string, string>> = {
  chatgpt_balance: '余额',
  sessionBlacklist: '禁止新建会话',
  session_private: '强制私有',
  hidden: '设为私有的会话',
  disabled: '禁用',
  userName: '名称',
  vipExpiredAt: '会员到期',
  subscribe: '源码订阅',
  gift: '赠送',
  manager: '管理员',
  owner: '所有者',
  ended: '退出的登录',
  totp: '动态验证码',
  name: '名称',
  label: '名称',
  title: '标题',
  content: '内容',
  prompt: '提示词',
  remark: '说明',
  remarks: '备注',
  note: '备注',
  state: '状态',
  refunded_amount: '已退（分）',
  amount: '金额（分）',
  refund: '退款单',
  resolved: '已处理',
  removed: '删除',
  restored: '恢复',
  private: '私有',
  enabled: '启用',
  weight: '权重',
  priority: '优先级',
  base_url: '地址',
  models: '模型',
  factor: '价格',
  promptFactor: '提问价格',
  display: '显示',
  sort: '顺序',
  color: '颜色',
  type: '类型',
  text: '英文',
  lang_zh: '中文',
  dir: '分组',
  sub_dir: '小组',
  word: '词',
  added: '添加',
  essence: '精华',
  pinned: '置顶',
  closed: '关闭',
  groupId: '分组',
  human: '提问',
  ai: '回复',
  url: '地址',
  user_id: '用户',
  version: '版本',
  price: '价格（分）',
};

export const subjectWords = (subject: string): string => {
  const [, kind = '', which = ''] = /^(\w+)(?::(.*))?$/s.exec(subject) ?? [];
  return kinds[kind] ? `${kinds[kind]} ${which}`.trim() : subject;
};

type Fields = Record<string, unknown>;

const read = (json: string): Fields | null => {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : null;
  } catch {
    return null;
  }
};

const shown = (value: unknown): string => {
  if (value === true) return '是';
  if (value === false) return '否';
  if (value === null || value === undefined || value === '') return '—';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** What changed, each as `name：before → after`; empty: the log does not say. */
export const changeWords = (from: string, to: string): string[] => {
  const [before, after] = [read(from), read(to)];
  if (!before && !after) return [];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((name) => {
    const word = fields[name] ?? name;
    if (!after) return [`${word}：${shown(before?.[name])}`];
    // What stayed is no change.
    if (!(name in after)) return [];
    return before && name in before
      ? [`${word}：${shown(before[name])} → ${shown(after[name])}`]
      : [`${word}：${shown(after[name])}`];
  });
};
