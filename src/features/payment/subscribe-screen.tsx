import { ApiError } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { buy } from '#src/widgets/pay/pay-order.ts';
import { PayHost } from '#src/widgets/pay/pay-host.tsx';
import { PayWay, usePayWay } from '#src/widgets/pay/pay-way.tsx';
import { editionAmount, editionBonus, editions } from '#contract/goods.ts';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import css from './payment.module.css';

const bonus = `赠送 ${compactNumber(editionBonus)} tokens`;
const basics = ['完整源码下载，随公告更新', '在自己的服务器上部署', '可以使用开放 API', bonus];

/** What the dearer edition is for: what the operator adds to it, or in plain words that it only supports. */
const premiumGains = (premium: readonly string[]): readonly string[] =>
  premium.length > 0
    ? ['基础版的全部内容', ...premium]
    : [
        '源码、部署、开放 API 与赠送的 token 都与基础版相同',
        `多出的 ${yuan(editionAmount(2, 1) ?? 0)} 是对后续开发的支持，不含另外的功能`,
      ];

/** The source code as a subscription, in two editions. */
export const SubscribeScreen = () => {
  usePageTitle('源码订阅');
  const { user, signedIn } = useAuth();
  const navigate = useNavigate();
  const way = usePayWay();
  const [busy, setBusy] = useState(0);
  const level = user?.subscribe ?? 0;
  const pay = async (type: 'code' | 'code-pro', at: number) => {
    setBusy(at);
    try {
      await buy(
        { type, num: 1, provider: way.chosen },
        (paid) => void navigate({ to: '/notice', state: { paid } }),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    } finally {
      setBusy(0);
    }
  };
  return (
    <div className={`page ${css.subscribe}`}>
      <header className="page-head">
        <h1>源码订阅</h1>
      </header>
      <div className={css.editions}>
        {editions.map((each) => {
          const amount = editionAmount(each.level, level);
          return (
            <section key={each.type} className={`card ${css.edition}`}>
              <h2>
                {each.name}
                {level === each.level && <span className={css.had}>已订阅</span>}
              </h2>
              <p className={`${css.amount} tabular`}>{yuan(each.amount)}</p>
              <ul>
                {(each.level === 1 ? basics : premiumGains(way.premium)).map((gain) => (
                  <li key={gain}>{gain}</li>
                ))}
              </ul>
              {amount !== null &&
                (signedIn ? (
                  <Button
                    kind="primary"
                    busy={busy === each.level}
                    disabled={way.closed !== ''}
                    onClick={() => void pay(each.type, each.level)}
                  >
                    {level > 0 ? `升级订阅 ${yuan(amount)}` : `购买 ${yuan(amount)}`}
                  </Button>
                ) : (
                  <ButtonLink kind="primary" to="/login" search={{ back: '/subscribe' }}>
                    登录后购买
                  </ButtonLink>
                ))}
            </section>
          );
        })}
      </div>
      <PayWay {...way} />
      <p className={css.note}>
        付款后在<Link to="/notice">公告</Link>里下载源码；升级只补差价。
      </p>
      <PayHost />
    </div>
  );
};
