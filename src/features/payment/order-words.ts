import type { AdminOrder } from '#contract/manage-order.ts';

const types: Readonly<Record<number, string>> = {
  1: '余额充值',
  2: '会员',
  3: '邀请注册',
  4: '源码基础版',
  5: '源码高级版',
  6: '应用',
};

const isAdjustment = (row: AdminOrder): boolean => row.order_id.startsWith('SYS');

/** One that a manager booked is no purchase. */
export const typeOf = (row: AdminOrder): string =>
  isAdjustment(row) ? '系统调整' : (types[row.type] ?? '其他');

const states = { created: '待付款', paid: '已付款', closed: '已关闭', refunded: '已退款' } as const;

export const stateOf = (row: AdminOrder): string => {
  if (isAdjustment(row)) return row.trade_value < 0 ? '已扣除' : '已记入';
  if (row.refund_asked_at !== null) return '申请退款';
  return row.state === 'paid' && row.refunded_amount > 0 ? '部分退款' : states[row.state];
};
