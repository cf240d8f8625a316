import type { KeyBound } from '#contract/developer.ts';
import { tokenPrice, tokensOfMillion } from '#contract/goods.ts';
import { limits } from '#contract/limits.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller } from '#server/http/open-handlers.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import type { Bound } from './developer.tables.ts';
import type { FullBound } from './key-meter.store.ts';

/** Tokens of money that a cent buys. */
const tokensOfCent = tokensOfMillion / tokenPrice.each;

/** What tokens of money cost, yuan. */
export const yuanOf = (tokens: number): number => tokens / (tokensOfCent * 100);

/** A bound as it is kept: money stands in tokens there. */
export const keptBound = ({ per, unit, amount }: KeyBound): Bound =>
  unit === 'yuan'
    ? { per, unit: 'taken', most: Math.max(1, Math.round(amount * 100 * tokensOfCent)) }
    : { per, unit, most: amount };

export const shownBound = ({ per, unit, most }: Bound): KeyBound =>
  unit === 'taken' ? { per, unit: 'yuan', amount: yuanOf(most) } : { per, unit, amount: most };

/** @throws Refusal bad_input */
export const requireBounds = (bounds: readonly KeyBound[]): void => {
  const seen = new Set<string>();
  for (const { per, unit, amount } of bounds) {
    if (unit !== 'yuan' && !Number.isInteger(amount))
      throw new Refusal('bad_input', 'limits：请求数和 token 数应为整数');
    const name = `${per} ${unit}`;
    if (seen.has(name)) throw new Refusal('bad_input', 'limits：同一种限制只能写一次');
    seen.add(name);
  }
};

const whiles: Readonly<Record<Bound['per'], { name: string; again: string }>> = {
  minute: { name: '每分钟', again: '请稍等再试' },
  day: { name: '今天', again: '明天 0 点（北京时间）恢复' },
  week: { name: '本周', again: '下周一 0 点（北京时间）恢复' },
  month: { name: '本月', again: '下月 1 日 0 点（北京时间）恢复' },
};

const amountIn = ({ unit, most }: Bound): string => {
  if (unit === 'requests') return `${most} 次请求`;
  return unit === 'tokens' ? `${most} 个 token` : `${yuanOf(most)} 元（${most} 余额 token）`;
};

/** What a program is told whose key has used up a bound. A minute passes by itself: it may ask again. */
export const overBound = (bound: FullBound): ApiRefusal => {
  const change = '，KEY 的主人可以在 /api 页修改';
  if (bound.per === 'at_once')
    return new ApiRefusal(
      'too_many',
      `这个 API-KEY 正在进行的请求已到上限，请等前面的结束${change}`,
      { code: 'key_concurrency_reached' },
      { retry_after: 1 },
    );
  const { name, again } = whiles[bound.per];
  const text = `这个 API-KEY ${name}最多 ${amountIn(bound)}，剩下的不够这一次，${again}${change}`;
  return bound.per === 'minute'
    ? new ApiRefusal('too_many', text, { code: 'key_limit_reached' }, { retry_after: 15 })
    : new ApiRefusal('balance', text, { code: 'key_limit_reached' });
};

/**
 * Tokens that a call may have, prompt and answer together. A key's owner may raise what is usual; what
 * a manager set for a model nobody raises.
 */
export const callTokens = (
  { callTokens: wanted }: Pick<ApiCaller, 'callTokens'>,
  { apiMaxTokens: fixed }: Pick<ResolvedModel, 'apiMaxTokens'>,
): number => Math.min(fixed ?? Infinity, wanted ?? fixed ?? limits.apiTokens);
