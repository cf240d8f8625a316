import { useAct } from '#src/platform/use-act.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { Button } from '#src/ui/button.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { buy } from '#src/widgets/pay/pay-order.ts';
import { PayHost } from '#src/widgets/pay/pay-host.tsx';
import { PayWay, usePayWay } from '#src/widgets/pay/pay-way.tsx';
import {
  quantities,
  tokenQuote,
  tokenOffText,
  tokenPrice,
  tokensOfMillion,
} from '#contract/goods.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import css from './buy.module.css';
import { Price } from './price.tsx';

const quick = [1, 5, 10, 20, 50, 100];

const RechargeTab = () => {
  const { user } = useAuth();
  const [millions, setMillions] = useState(5);
  const { busy, run } = useAct();
  const way = usePayWay();
  const navigate = useNavigate();
  const pay = async () => {
    await run(async () => {
      await buy(
        { type: 'token', num: millions, provider: way.chosen },
        () => void navigate({ to: '/account', search: { tab: 'usage' } }),
      );
    });
  };
  return (
    <>
      <section className={`card ${css.buy}`}>
        <header className={css.head}>
          <h2>充值 token</h2>
          <p>
            现有 <b className="tabular">{compactNumber(user?.chatgpt_balance ?? 0)}</b>
          </p>
        </header>
        <div className={css.quick} role="group" aria-label="常用数量">
          {quick.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === millions}
              onClick={() => setMillions(each)}
            >
              <b>{compactNumber(each * tokensOfMillion)}</b>
              <span>{yuan(tokenQuote(each).amount)}</span>
            </button>
          ))}
        </div>
        <SliderField
          label="数量"
          value={millions}
          {...quantities.token}
          show={(value) => `${compactNumber(value * tokensOfMillion)} token`}
          onChange={setMillions}
        />
        <Price quote={tokenQuote(millions)} next={tokenOffText} />
        <PayWay {...way} />
        <Button kind="primary" busy={busy} disabled={way.closed !== ''} onClick={() => void pay()}>
          {busy ? '正在下单…' : `支付 ${yuan(tokenQuote(millions).amount)}`}
        </Button>
      </section>
      <section className={`card ${css.words}`}>
        <h2>100 万 token 能做什么</h2>
        <p>
          {tokenPrice.each / 100} 元 100
          万。普通模型按字数一比一扣，能聊五六十万个汉字；图片每张按模型的价格扣，画之前按钮上写着价钱。没有用完的一直有效。
        </p>
      </section>
      <PayHost />
    </>
  );
};

export default RechargeTab;
