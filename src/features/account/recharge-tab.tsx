import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { quantities, tokenQuote, tokenPrice, tokensOfMillion } from '#contract/goods.ts';
import { yuan } from '#src/widgets/pay/money.ts';
import css from './buy.module.css';
import { Purchase } from './purchase.tsx';

const goods = {
  type: 'token',
  range: quantities.token,
  usual: [1, 5, 10, 20, 50, 100],
  quoteOf: tokenQuote,
  say: (millions: number) => compactNumber(millions * tokensOfMillion),
} as const;

const RechargeTab = () => {
  const balance = useAuth().user?.chatgpt_balance ?? 0;
  return (
    <>
      <section className={`card ${css.buy}`}>
        <header className={css.head}>
          <h2>充值 token</h2>
          <p>
            现有 <b className="tabular">{compactNumber(balance)}</b>
          </p>
        </header>
        <Purchase
          goods={goods}
          first={5}
          label="数量"
          after={(millions) => `到账后余额 ${compactNumber(balance + millions * tokensOfMillion)}`}
        />
      </section>
      <section className={`card ${css.words}`}>
        <h2>100 万 tokens 能做什么</h2>
        <p>
          100 万 tokens {yuan(tokenPrice.each)}
          。普通模型按字数一比一扣，能聊五六十万个汉字；图片每张按模型的价格扣，画之前按钮上写着价钱。没有用完的一直有效；不想用了，可以在订单里申请退款。
        </p>
      </section>
    </>
  );
};

export default RechargeTab;
