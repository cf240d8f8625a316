import { limits } from './limits.ts';

/** What of the errors the page knows from its first load on: errors.ts has them whole, with their texts. */

/** The codes that the page tells apart. */
export const codeNumbers = {
  agreement_needed: 1438,
  bad_input: 422,
  balance: 1025,
  balance_excluded: 1026,
  confirm_needed: 1002,
  engine_failed: 1425,
  engine_timeout: 1426,
  upstream: 502,
  unavailable: 503,
  internal: 500,
  login_expired: 1002,
  login_required: 1001,
  model_unavailable: 1413,
  not_found: 404,
  prompt_banned: 1427,
  session_busy: 1409,
  session_deleted: 1433,
  storage_full: 507,
  too_large: 413,
  too_many: 429,
  upload_type: 1416,
  upload_unreadable: 1417,
  wrong_password: 1443,
} as const;

export const monthlyLimit = `本月免费会话已达上限（每月最多 ${limits.freeSessionsAMonth} 个），可购买会员继续使用`;

export const loginRequired = '请先登录';
export const engineFailed = '服务没有成功，没有扣费，请重试';

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
  1001: loginRequired,
  1002: '登录已过期，请重新登录',
  1024: monthlyLimit,
  1025: 'token 余额不足，请充值',
  1027: '这个模型只给付费用户：充值过一次或开通会员后就能用',
  1432: '这是私有会话，禁止查看',
  1433: '会话已删除',
  3001: '账号已被禁用，请联系管理员',
};
