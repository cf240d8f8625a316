import { compactNumber } from '#common/compact-number.ts';
import {
  editionAmount,
  editionBonus,
  editions,
  quantities,
  tokenQuote,
  tokensOfMillion,
  vipQuote,
} from '#contract/goods.ts';
import { orderTypes } from '#contract/kinds.ts';
import { limits } from '#contract/limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import { balances, credit, debit, heldOf } from '../ledger/ledger.service.ts';
import { membershipOf, prolongVip, setSubscribe, shortenVip } from '../ledger/vip.service.ts';
import type { Taken } from './taken-back.ts';
import { type OrderRow, type Payable, shareOf, type Wish } from './payable.ts';
import { paidKinds } from './payment.store.ts';

const referenceOf = ({ id }: OrderRow): string => `order:${id}`;

const quantityOf = (
  { quantity }: Wish,
  { min, max }: { min: number; max: number },
  what: string,
): number => {
  if (!Number.isInteger(quantity) || quantity < min || quantity > max)
    throw new Refusal('bad_input', `num：请选择${what}：${min} 到 ${max} 的整数`);
  return quantity;
};

const give = (tx: Transaction, order: OrderRow, amount: number): Promise<void> =>
  credit(tx, order.userId, amount, {
    kind: 'purchase',
    reference: referenceOf(order),
    remark: order.title,
  });

const takeBack = async (
  tx: Transaction,
  order: OrderRow,
  amount: number,
  forgive: boolean,
): Promise<number> => {
  const taken = await debit(tx, order.userId, amount, {
    kind: 'refund',
    reference: referenceOf(order),
    remark: `退款：${order.title}`,
  });
  if (taken < amount && forgive && (await heldOf(tx, order.userId)) > 0)
    throw new Refusal(
      'order_unsuitable',
      '还有正在进行的请求占着余额，它们结束后会还回来：请等一会儿再豁免，或先禁用这个账号',
    );
  if (taken < amount && !forgive)
    throw new Refusal(
      'order_unsuitable',
      `这笔退款要收回 ${amount.toLocaleString('zh-CN')} token，余额只剩 ${taken.toLocaleString('zh-CN')}`,
    );
  return taken;
};

const giveAgain = async (tx: Transaction, order: OrderRow, { tokens }: Taken): Promise<void> => {
  if (tokens === 0) return;
  await credit(tx, order.userId, tokens, {
    kind: 'refund',
    reference: referenceOf(order),
    remark: `退款没有成功：${order.title}`,
  });
};

const token: Payable = {
  kind: 'token',
  type: orderTypes.token,
  price: async (_db, _userId, wish) => {
    const millions = quantityOf(wish, quantities.token, '充值数量（单位 100 万 token）');
    return {
      ...wish,
      title: `鹊桥充值 ${compactNumber(millions * tokensOfMillion).replace('\u00A0', ' ')} token`,
      amount: tokenQuote(millions).amount,
      tokens: millions * tokensOfMillion,
    };
  },
  describe: () => ({ url: '/account?tab=usage', words: '充值成功' }),
  deliver: (tx, order) => give(tx, order, order.tokens),
  revoke: async (tx, order, part, forgive) => ({
    tokens: await takeBack(tx, order, shareOf(order.tokens, order.amount, part), forgive),
  }),
  restore: giveAgain,
};

const vip: Payable = {
  kind: 'vip',
  type: orderTypes.vip,
  price: async (_db, _userId, wish) => {
    const months = quantityOf(wish, quantities.vip, '会员月数');
    return {
      ...wish,
      title: `鹊桥会员 ${months} 个月`,
      amount: vipQuote(months).amount,
      tokens: 0,
    };
  },
  describe: () => ({ url: '/account?tab=usage', words: '会员已开通' }),
  deliver: (tx, order) => prolongVip(tx, order.userId, order.quantity),
  revoke: async (tx, order, part, forgive) => {
    const months = shareOf(order.quantity, order.amount, part);
    const { vip: left } = await balances(tx, order.userId);
    const { ended, over } = await shortenVip(tx, order.userId, months);
    if (over > 0 && !forgive)
      throw new Refusal(
        'order_unsuitable',
        `退款要收回 ${months} 个月会员，其中有 ${over} 个月已经过去，收不回来`,
      );
    const used = limits.vipMonthlyTokens - left;
    if (ended && used > 0 && !forgive)
      throw new Refusal(
        'order_unsuitable',
        `退款会结束会员，这个月赠送的 token 已经用了 ${used.toLocaleString('zh-CN')}`,
      );
    return { tokens: 0, months: months - over };
  },
  restore: async (tx, order, { months }) => {
    if (typeof months === 'number' && months > 0) await prolongVip(tx, order.userId, months);
  },
};

const editionKinds = editions.map((each) => each.type);

/** Paid as the difference to the other edition: alone it is worth no more than that one. */
const isUpgrade = ({ kind, amount }: OrderRow): boolean =>
  amount < (editions.find((each) => each.type === kind)?.amount ?? 0);

/** The level that these paid orders of editions come to. */
const levelBy = (paid: readonly OrderRow[]): number => {
  const whole = paid.filter((order) => !isUpgrade(order));
  const levels = whole.map(({ kind }) => editions.find((each) => each.type === kind)?.level ?? 0);
  const upgraded = whole.length < paid.length;
  return upgraded ? (whole.length > 0 ? 2 : 1) : Math.max(0, ...levels);
};

/** What an edition costs a person now, cents: of the one they have counts what is paid and kept. */
const editionPrice = async (
  db: Executor,
  userId: number,
  level: 1 | 2,
): Promise<{ amount: number; has: number } | null> => {
  const has = (await membershipOf(db, userId))?.subscribe ?? 0;
  const amount = editionAmount(level, has);
  if (amount === null) return null;
  const lower = has === 0 ? [] : await paidKinds(db, userId, editionKinds);
  const refunded = lower.reduce((sum, order) => sum + order.refundedAmount, 0);
  return { amount: amount + refunded, has };
};

const edition = ({ level, type, name }: (typeof editions)[number]): Payable => ({
  kind: type,
  type: level === 1 ? orderTypes.code : orderTypes.codePro,
  // The dearer one as well: whoever has the first pays the difference alone.
  rivals: editionKinds,
  price: async (db, userId) => {
    const price = await editionPrice(db, userId, level);
    if (!price) throw new Refusal('order_unsuitable', '您已订阅这个版本');
    const { amount, has } = price;
    const title = has > 0 ? `鹊桥源码升级到${name}` : `鹊桥源码${name}`;
    return { quantity: 1, subject: '', title, amount, tokens: editionBonus };
  },
  describe: () => ({ url: '/notice', words: '订阅成功' }),
  isHad: async (tx, order) => ((await membershipOf(tx, order.userId))?.subscribe ?? 0) >= level,
  isStale: async (tx, order) =>
    order.amount < ((await editionPrice(tx, order.userId, level))?.amount ?? 0),
  deliver: async (tx, order) => {
    await give(tx, order, order.tokens);
    const has = (await membershipOf(tx, order.userId))?.subscribe ?? 0;
    if (has < level) await setSubscribe(tx, order.userId, level);
  },
  revoke: async (tx, order, part, forgive) => {
    const paid = await paidKinds(tx, order.userId, editionKinds);
    const others = paid.filter(({ id }) => id !== order.id);
    if (part.whole && others.some(isUpgrade))
      throw new Refusal('order_unsuitable', '后来按差价升级过，请先退升级的那一笔');
    const tokens = await takeBack(tx, order, shareOf(order.tokens, order.amount, part), forgive);
    // An edition is had or not: a part of its price changes nothing about it.
    if (part.whole) await setSubscribe(tx, order.userId, levelBy(others));
    return { tokens, whole: part.whole };
  },
  restore: async (tx, order, taken) => {
    await giveAgain(tx, order, taken);
    const has = (await membershipOf(tx, order.userId))?.subscribe ?? 0;
    const again = levelBy(await paidKinds(tx, order.userId, editionKinds));
    if (taken['whole'] === true && has < again) await setSubscribe(tx, order.userId, again);
  },
});

/** What the house itself sells. */
export const ownPayables: readonly Payable[] = [token, vip, ...editions.map(edition)];
