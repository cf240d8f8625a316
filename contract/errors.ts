import { limits } from './limits.ts';

const monthlyLimit = `本月免费会话已达上限（每月最多 ${limits.freeSessionsAMonth} 个），可购买会员继续使用`;

/**
 * Every code there is. `http` is the status that carries it: refusals by a business rule are 200.
 * The texts are what a person reads when the server says nothing more exact.
 */
export const codes = {
  login_required: { code: 1001, http: 200, text: '请先登录' },
  login_expired: { code: 1002, http: 200, text: '登录已过期，请重新登录' },
  /** The number of `login_expired`: who knows nothing of it signs in again, and that proves it, too. */
  confirm_needed: { code: 1002, http: 200, text: '为了安全，请再输入一次密码' },
  monthly_limit: {
    code: 1024,
    http: 200,
    text: monthlyLimit,
  },
  balance: { code: 1025, http: 200, text: '余额不足，请充值' },
  balance_excluded: {
    code: 1026,
    http: 200,
    text: '会员不包含这个模型，余额又不足，请充值或换一个模型',
  },
  paid_only: {
    code: 1027,
    http: 200,
    text: '这个模型只给付费用户：充值过一次或开通会员后就能用',
  },
  session_busy: { code: 1409, http: 200, text: '上一条回复还没有写完，请稍候或先停止' },
  model_locked: { code: 1410, http: 200, text: '会话已有消息，不能再更换模型' },
  prompt_too_long: { code: 1411, http: 200, text: '内容太长' },
  prompt_too_short: { code: 1412, http: 200, text: '内容太短' },
  model_unavailable: { code: 1413, http: 200, text: '这个模型暂时不可用，请换一个' },
  nothing_to_retry: { code: 1414, http: 200, text: '这条消息已有回复，不需要重试' },
  embedding_missing: { code: 1415, http: 200, text: '没有这个知识库，或它不对您开放' },
  upload_type: { code: 1416, http: 200, text: '不支持这种文件' },
  upload_unreadable: { code: 1417, http: 200, text: '文件已损坏或无法读取' },
  address_unreachable: {
    code: 1418,
    http: 200,
    text: '这个地址无法公开访问，或不是 jpg、png 图片',
  },
  import_unreadable: {
    code: 1419,
    http: 200,
    text: '认不出这个文件：请选择鹊桥或 ChatGPT 导出的 JSON',
  },
  file_quota: { code: 1420, http: 200, text: '您的文件空间已满，请先删除一些带图片或附件的会话' },
  vision_missing: { code: 1421, http: 200, text: '这个模型看不了图片，请换一个能看图的模型' },
  session_unsuitable: { code: 1422, http: 200, text: '这个会话不支持这样做' },
  job_unsuitable: { code: 1423, http: 200, text: '这个模型不能这样作画' },
  too_many_jobs: { code: 1424, http: 200, text: '还没有完成的任务太多，请等几个完成后再试' },
  engine_failed: { code: 1425, http: 200, text: '服务没有成功，没有扣费，请重试' },
  engine_timeout: { code: 1426, http: 200, text: '等得太久，已经停止，没有扣费，请重试' },
  prompt_banned: { code: 1427, http: 200, text: '提示词里有不允许的内容，请修改后再试' },
  training_unfinished: { code: 1470, http: 200, text: '模型还没有训练完成，请稍后再试' },
  training_key_taken: { code: 1471, http: 200, text: '这个 Key 已被使用，请换一个' },
  training_files_missing: { code: 1472, http: 200, text: '请添加训练文件' },
  training_too_many: { code: 1473, http: 200, text: '项目或文件太多，请先删除一些' },
  recogniser_missing: {
    code: 1428,
    http: 200,
    text: '还没有连接语音识别：管理员可以连接一个语音识别服务，或设置 SPEECH_MODEL_DIR',
  },
  too_many_keys: { code: 1460, http: 200, text: '最多 5 个 API-KEY，请先删除不用的' },
  payment_unavailable: { code: 1441, http: 200, text: '现在还不能付款，请稍后再试' },
  wrong_password: { code: 1443, http: 200, text: '密码不对' },
  totp_wrong: { code: 1444, http: 200, text: '动态验证码不对' },
  totp_unsuitable: { code: 1445, http: 200, text: '动态验证码现在不能这样设置' },
  proof_unsuitable: { code: 1446, http: 200, text: '现在不能这样做' },
  phone_needed: {
    code: 1447,
    http: 200,
    text: '先在“账户 → 安全”绑定手机号，才能公开发表或给人写私信',
  },
  order_unsuitable: { code: 1442, http: 200, text: '这个订单不能这样做' },
  not_owner: { code: 1403, http: 200, text: '只有会话的主人可以这样做' },
  private_session: { code: 1432, http: 200, text: '这是私有会话，禁止查看' },
  session_deleted: { code: 1433, http: 200, text: '会话已删除' },
  private_forced: { code: 1434, http: 200, text: '您的会话已被设为强制私有，请联系管理员' },
  private_global_off: {
    code: 1435,
    http: 200,
    text: '请先在设置中打开“默认私有”，才能单独更改会话的公开状态',
  },
  question_closed: { code: 1436, http: 200, text: '这个问题已经关闭，不能再回复或修改' },
  words_blocked: { code: 1437, http: 200, text: '内容里有不允许的词，请修改后再发' },
  agreement_needed: { code: 1438, http: 200, text: '请先同意协议' },
  minor_limited: { code: 1439, http: 200, text: '未成年人模式下不能用' },
  manage_unsuitable: { code: 1490, http: 200, text: '现在不能这样做' },
  app_unsuitable: { code: 1480, http: 200, text: '这个应用现在不能这样做' },
  app_unsafe: { code: 1481, http: 200, text: '文件没有通过病毒检查' },
  account_disabled: { code: 3001, http: 200, text: '账号已被禁用，请联系管理员' },
  sessions_forbidden: { code: 3001, http: 200, text: '您已被禁止创建会话，请联系管理员' },

  bad_input: { code: 422, http: 422, text: '输入有误' },
  bad_body: { code: 400, http: 400, text: '请求内容无法读取' },
  unauthorized: { code: 401, http: 401, text: '请先登录' },
  payment_required: {
    code: 402,
    http: 402,
    text: 'API 只对付费用户开放：请先在账户页充值或开通会员，再用余额调用',
  },
  forbidden: { code: 403, http: 403, text: '这个 KEY 不能这样使用' },
  not_found: { code: 404, http: 404, text: '没有找到' },
  too_large: { code: 413, http: 413, text: '内容过大' },
  unsupported: { code: 415, http: 415, text: '不支持的内容类型' },
  conflict: { code: 409, http: 409, text: '这个请求编号已用于别的内容' },
  too_many: { code: 429, http: 429, text: '操作太频繁，请稍后再试' },
  internal: { code: 500, http: 500, text: '服务器异常，请稍后重试' },
  upstream: { code: 502, http: 502, text: '模型服务出错，请重试' },
  unavailable: { code: 503, http: 503, text: '服务暂时不可用，请稍后重试' },
  storage_full: { code: 507, http: 507, text: '服务器存储空间已满，暂时不能保存，请联系管理员' },
} as const;

export type CodeName = keyof typeof codes;

/** Codes that end a stream, in the field `code` of its error event. */
export const streamCodes = {
  balance: '余额不足，回复已停止。已写出的内容会保留',
  context_length_exceeded: '对话超出了模型的最大长度，请新建会话后继续',
  rate_limited: '模型服务繁忙，请稍后重试',
  upstream: '模型服务出错，请重试',
  timeout: '模型长时间没有回应，请重试',
  too_large: '回复超出了长度上限，已停止',
  interrupted: '服务器重启过，这条回复的结尾丢了，只留下已经写出的部分',
  empty: '模型没有返回内容，请重试',
  blocked: '没有通过内容安全检查',
  connection: '连接中断，请重试',
  temporary: '临时对话的回复没有保存，已经看不到了',
} as const;

export type StreamCode = keyof typeof streamCodes;

/** What the page /error says for a code; anything else is 未知错误. */
export const errorPageTexts: Readonly<Record<number, string>> = {
  1001: '请先登录',
  1002: '登录已过期，请重新登录',
  1024: monthlyLimit,
  1025: 'token 余额不足，请充值',
  1027: '这个模型只给付费用户：充值过一次或开通会员后就能用',
  1432: '这是私有会话，禁止查看',
  1433: '会话已删除',
  3001: '账号已被禁用，请联系管理员',
};
