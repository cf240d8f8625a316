import { useAct } from '#src/platform/use-act.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import { Button } from '#src/ui/button.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { buy } from '#src/widgets/pay/pay-order.ts';
import { PayHost } from '#src/widgets/pay/pay-host.tsx';
import { PayWay, usePayWay } from '#src/widgets/pay/pay-way.tsx';
import { quantities, vipQuote, vipOffText, vipPrice } from '#contract/goods.ts';
import { limits } from '#contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import css from './buy.module.css';
import { Price } from './price.tsx';

const gains = [
  `每月 ${compactNumber(limits.vipMonthlyTokens)} token，从开通那天起每月重置，先用它再用余额`,
  '画图免费',
  '会话不限个数',
  '可以使用开放 API',
];

const VipTab = () => {
  const { user } = useAuth();
  const [months, setMonths] = useState(1);
  const { busy, run } = useAct();
  const way = usePayWay();
  const navigate = useNavigate();
  const vip = user?.vip === 1 && user.vip_expired_at;
  const pay = async () => {
    await run(async () => {
      await buy(
        { type: 'vip', num: months, provider: way.chosen },
        () => void navigate({ to: '/account', search: { tab: 'usage' } }),
      );
    });
  };
  return (
    <>
      <section className={css.member}>
        <h2>{vip ? '您是会员' : '鹊桥会员'}</h2>
        <p>
          {vip
            ? `有效期至 ${dateTime(vip).slice(0, 10)}，本月还有 ${compactNumber(user.vip_balance)} token`
            : `每月 ${vipPrice.each / 100} 元`}
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
        <SliderField
          label={vip ? '续费' : '开通'}
          value={months}
          {...quantities.vip}
          show={(value) => `${value} 个月`}
          onChange={setMonths}
        />
        <Price quote={vipQuote(months)} next={vipOffText} />
        <PayWay {...way} />
        <Button kind="primary" busy={busy} disabled={way.closed !== ''} onClick={() => void pay()}>
          {busy ? '正在下单…' : `支付 ${yuan(vipQuote(months).amount)}`}
        </Button>
      </section>
      <PayHost />
    </>
  );
};

export default VipTab;
