import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import { quantities, vipQuote, vipPrice } from '#contract/goods.ts';
import { limits } from '#contract/limits.ts';
import { yuan } from '#src/widgets/pay/money.ts';
import css from './buy.module.css';
import { Purchase } from './purchase.tsx';

const goods = {
  type: 'vip',
  range: quantities.vip,
  usual: [1, 3, 6, 12],
  quoteOf: vipQuote,
  say: (months: number) => `${months} 个月`,
} as const;

const gains = [
  `每月 ${compactNumber(limits.vipMonthlyTokens)} tokens，从开通那天起每月重置，先用它再用余额`,
  '画图免费',
  '会话不限个数',
  '可以使用开放 API',
];

const VipTab = () => {
  const { user } = useAuth();
  const vip = user?.vip === 1 && user.vip_expired_at;
  return (
    <>
      <section className={css.member}>
        <h2>{vip ? '您是会员' : '鹊桥会员'}</h2>
        <p>
          {vip
            ? `有效期至 ${dateTime(vip).slice(0, 10)}，本月还有 ${compactNumber(user.vip_balance)} tokens`
            : `每月 ${yuan(vipPrice.each)}`}
        </p>
        <ul>
          {gains.map((gain) => (
            <li key={gain}>{gain}</li>
          ))}
        </ul>
        <p className={css.except}>
          GPT-4、DALL-E、Stable Diffusion 3 与 API 调用不在会员之内，按用量从余额扣除。
        </p>
      </section>
      <section className={`card ${css.buy}`}>
        <Purchase goods={goods} first={1} label={vip ? '续费' : '开通'} after={() => ''} />
      </section>
    </>
  );
};

export default VipTab;
