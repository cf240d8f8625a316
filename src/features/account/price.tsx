import { yuan } from '#src/widgets/pay/money.ts';
import type { Quote } from '#contract/goods.ts';
import css from './buy.module.css';

/** What it costs with what is taken off, as it comes true while the quantity changes. */
export const Price = ({ quote, next }: { quote: Quote; next: string }) => (
  <div className={css.price}>
    <strong className="tabular">{yuan(quote.amount)}</strong>
    {quote.off > 0 ? (
      <>
        <s className="tabular">{yuan(quote.full)}</s>
        <span className={css.off}>
          已减 {quote.off}% · 省 {yuan(quote.full - quote.amount)}
        </span>
      </>
    ) : (
      <span className={css.next}>{next}</span>
    )}
  </div>
);
