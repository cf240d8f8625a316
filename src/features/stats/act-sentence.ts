import { compactNumber } from '#common/compact-number.ts';
import type { ManagerAct } from '#contract/stats.ts';
import { readJson } from '#src/platform/read-json.ts';
import { yuan } from '#src/widgets/pay/money.ts';
import { subjectWords } from './act-words.ts';

/** What an act says of itself: what was sent, what was before and what is after. */
interface Told {
  input: Record<string, unknown>;
  from: Record<string, unknown>;
  to: Record<string, unknown>;
  /** There was nothing before. */
  isNew: boolean;
}
/** `{who}`: whom it is about; `{what}`: by name, or by kind and number. */
type Sentence = string | ((told: Told) => string);

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const tokens = (value: unknown): string => `${compactNumber(number(value))} tokens`;
/** Of one that is on or off, the word. */
const turned = (value: unknown, on: string, off: string): string => (value ? on : off);
const made =
  (verb: { add: string; change: string }): Sentence =>
  ({ isNew }) =>
    isNew ? verb.add : verb.change;
const saved = (what: string): Sentence =>
  made({ add: `添加了${what}{what}`, change: `修改了${what}{what}` });

const ofPeople: Readonly<Record<string, Sentence>> = {
  updateUser: ({ input }) => {
    if ('disabled' in input)
      return turned(input['disabled'], '禁用了{who}的账号', '启用了{who}的账号');
    if ('session_blacklist' in input)
      return turned(input['session_blacklist'], '禁止{who}新建会话', '允许{who}新建会话');
    return 'people_group' in input ? '给{who}换了用户组' : '修改了{who}的名称';
  },
  updateTokens: ({ input }) =>
    input['add'] === 0
      ? `扣除{who}的余额 ${tokens(input['tokens'])}`
      : `给{who}增加余额 ${tokens(input['tokens'])}`,
  activatedAbility: ({ input }) =>
    number(input['gift']) > 0
      ? `送给{who} ${tokens(input['gift'])}`
      : '修改了{who}的会员与源码订阅',
  updateUserSession: ({ input }) =>
    input['history_private'] === 1
      ? '把{who}的会话都设为私有'
      : turned(input['session_private'], '强制{who}的会话私有', '不再强制{who}的会话私有'),
  resetPassword: '重设了{who}的密码',
  signOutUser: '让{who}在所有设备上退出登录',
  setManager: ({ input }) =>
    ({
      owner: '把{who}设为所有者',
      manager: '把{who}设为管理员',
      auditor: '把{who}设为审计员',
    })[String(input['rank'])] ?? '撤下了管理员{who}',
  exportRecords: '导出了{who}的记录',
  resetMinor: '关闭了{who}的未成年人模式',
  setupPassword: '换掉了启动时生成的密码',
  totpEnable: '打开了自己的动态验证码',
  totpDisable: '关闭了自己的动态验证码',
};

const ofMoney: Readonly<Record<string, Sentence>> = {
  refundOrder: ({ to, input }) => `给{who}退款 ${yuan(number(to['amount'] ?? input['amount']))}`,
  closeOrder: '关闭了{who}还没有付款的订单',
  rejectRefund: '没有同意{who}的退款申请',
  setOrder: '修改了{who}的订单备注',
  handleInvoice: ({ to }) => (to['state'] === 'rejected' ? '退回了{what}' : '开出了{what}'),
  resolveDifference: '处理了{what}',
};

const ofWords: Readonly<Record<string, Sentence>> = {
  getSession: '看了{who}的私有会话',
  adminSetSession: ({ to }) => turned(to['private'], '把{who}的会话设为私有', '公开了{who}的会话'),
  adminDeleteSession: '删除了{who}的会话',
  adminUpdateHistory: '修改了{who}的会话里的一条消息',
  adminDeleteHistory: '删除了{who}的会话里的一条消息',
  adminUpload: '上传了一个文件',
  manageScenario: ({ isNew, from, to }) => {
    if (from['state'] === 'pending' && to['state'] === 'public') return '通过了场景{what}';
    if (from['state'] === 'pending' && to['state'] === 'private') return '退回了场景{what}';
    return isNew ? '添加了场景{what}' : '修改了场景{what}';
  },
  removeScenario: '删除了场景{what}',
  saveScenarioCategory: saved('场景分类'),
  delScenarioCategory: '删除了场景分类{what}',
  saveForumGroup: saved('社区分组'),
  delForumGroup: '删除了社区分组{what}',
  markQuestion: '标记了{who}的问题',
  addBlockedWords: '添加了屏蔽词',
  delBlockedWord: '删除了一个屏蔽词',
  resolveReport: ({ to }) =>
    turned(to['removed'], '删除了被举报的内容', '处理了一个举报，内容留下'),
  managePrompt: saved('提示词'),
  removePrompt: '删除了提示词{what}',
  manageKeyword: saved('画图关键词'),
  removeKeyword: ({ input }) =>
    turned(input['restore'], '恢复了画图关键词{what}', '删除了画图关键词{what}'),
  saveNotice: made({ add: '发布了公告{what}', change: '修改了公告{what}' }),
  delNotice: '删除了公告{what}',
  setTrainProject: '修改了{what}',
  delTrainProject: '删除了{what}',
};

const ofHouse: Readonly<Record<string, Sentence>> = {
  saveSignIn: '修改了登录方式',
  trySending: ({ to }) => (to['kind'] === 'phone' ? '试发了一条短信' : '试发了一封邮件'),
  saveProvider: saved('可以用来登录的服务'),
  delProvider: '删除了可以用来登录的服务{what}',
  fetchLocalModel: '开始下载{what}',
  stopLocalModel: '停下了{what}的下载',
  removeLocalModel: '删去了{what}',
  saveLocalMirrors: '修改了本机模型的下载地址',
  pullOllama: '让 Ollama 拉{what}',
  stopOllama: '不再让 Ollama 拉{what}',
  savePeopleGroup: saved('用户组'),
  delPeopleGroup: '删除了用户组{what}',
  setModel: '修改了{what}',
  saveChannel: saved('模型服务'),
  setChannel: '修改了模型服务{what}',
  delChannel: '删除了模型服务{what}',
  importChannels: '导入了模型服务',
  adminBackup: '开始了一次备份',
  saveSetup: '修改了起步的设置',
  saveCompliance: '修改了合规的设置',
  saveAgreement: '写了协议的新版本：{what}',
  saveSafety: '修改了内容安全检查',
  decideSafetyCase: ({ to }) =>
    to['state'] === 'allowed' ? '看过{what}：没有问题' : '看过{what}：确认违规',
  saveApp: ({ to }) => turned(to['draft'], '存了应用草稿{what}', '发布了应用{what}'),
  addAppVersion: '给{what}加了一个版本',
  delAppComment: '删除了{what}的一条评论',
  saveAppDescription: '修改了{what}的介绍',
  saveAppGeneralInfo: '修改了应用{what}',
  setAppState: ({ to }) => (to['state'] === 'down' ? '下架了{what}' : '上架了{what}'),
  delAppDraft: '删除了应用草稿{what}',
};

export const sentences: Readonly<Record<string, Sentence>> = {
  ...ofPeople,
  ...ofMoney,
  ...ofWords,
  ...ofHouse,
};

const fieldsOf = (json: string): Record<string, unknown> =>
  readJson<Record<string, unknown> | null>(json, null) ?? {};

/** Characters of a name that are told. */
const longest = 24;
const nameIn = ({ from, to, input }: Told): string => {
  const found = [to, from, input]
    .flatMap((each) => [each['name'], each['title'], each['label'], each['notice'], each['word']])
    .find((value) => typeof value === 'string' && value !== '');
  // A notice is Markdown, often with a heading first.
  const name = typeof found === 'string' ? found.split('\n')[0]!.replace(/^#+\s*/, '') : '';
  return name.length > longest ? `${name.slice(0, longest)}…` : name;
};

/** Why it was done, where that was asked for. */
const whyOf = ({ input }: Told): string => {
  const why = ['reason', 'remarks', 'remark', 'note']
    .map((name) => input[name])
    .find((value) => typeof value === 'string' && value !== '');
  return typeof why === 'string' ? `（${why}）` : '';
};

/** What somebody did as one sentence without its subject: 给“小明”退款 ￥19.00（买多了）. */
export const actSentence = (
  act: Pick<ManagerAct, 'call' | 'summary' | 'subject' | 'person' | 'input' | 'from' | 'to'>,
): string => {
  const told = {
    input: fieldsOf(act.input),
    from: fieldsOf(act.from),
    to: fieldsOf(act.to),
    isNew: act.from === '',
  };
  const sentence = sentences[act.call];
  const subject = subjectWords(act.subject);
  if (sentence === undefined)
    return `${act.summary.split(/[；。]/)[0]}${subject === '' ? '' : `（${subject}）`}`;
  const name = nameIn(told);
  const said = typeof sentence === 'string' ? sentence : sentence(told);
  return `${said
    .replace('{who}', act.person ? `“${act.person.user_name}”` : ` ${subject} `)
    .replace('{what}', name === '' ? ` ${subject} ` : `“${name}”`)
    .trim()}${whyOf(told)}`;
};
