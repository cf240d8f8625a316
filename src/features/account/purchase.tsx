import type { Quote } from '#contract/goods.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { yuan } from '#src/widgets/pay/money.ts';
import { buy } from '#src/widgets/pay/pay-order.ts';
import { PayHost } from '#src/widgets/pay/pay-host.tsx';
import { PayWay, usePayWay } from '#src/widgets/pay/pay-way.tsx';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import css from './buy.module.css';

/** Something that is bought by number. */
interface Goods {
  type: 'token' | 'vip';
  /** How many may be bought, and the usual numbers, each a card. */
  range: { min: number; max: number };
  usual: readonly number[];
  quoteOf: (count: number) => Quote;
  /** A number of it in words: 500 万, 6 个月. */
  say: (count: number) => string;
}

/** A discount as shops say it: 95 折, 9 折. */
const offWords = (percent: number): string => `${String(100 - percent).replace(/0$/, '')} 折`;

/** The next number from which more is taken off, in words; null: there is none. */
const nextStep = ({ range, quoteOf, say }: Goods, count: number) => {
  const now = quoteOf(count);
  for (let more = count + 1; more <= range.max; more += 1) {
    const then = quoteOf(more);
    if (then.off <= now.off) continue;
    const saved = now.amount - then.amount;
    const gain = saved > 0 ? `反而省 ${yuan(saved)}` : `打 ${offWords(then.off)}`;
    return { count: more, text: `再加 ${say(more - count)}，${gain}` };
  }
  return null;
};

/** Cards of the usual numbers, any other by the slider, and the way to pay; on a phone the button stays in sight. */
export const Purchase = ({
  goods,
  first,
  label,
  after,
}: {
  goods: Goods;
  /** The number that is chosen at first. */
  first: number;
  label: string;
  /** What one has once so many are paid; empty: it is not said. */
  after: (count: number) => string;
}) => {
  const { type, range, usual, quoteOf, say } = goods;
  const [count, setCount] = useState(first);
  const { busy, run } = useAct();
  const way = usePayWay();
  const navigate = useNavigate();
  const quote = quoteOf(count);
  const next = nextStep(goods, count);
  const pay = () =>
    run(() =>
      // It takes the place of this screen, so that one step back is where one came from.
      buy(
        { type, num: count, provider: way.chosen },
        (paid) =>
          void navigate({
            to: '/account',
            search: { tab: 'usage' },
            state: { paid },
            replace: true,
          }),
      ),
    );
  return (
    <>
      <div className={css.usual} role="group" aria-label="常用数量">
        {usual.map((each) => {
          const { full, amount, off } = quoteOf(each);
          return (
            <button
              key={each}
              type="button"
              aria-pressed={each === count}
              onClick={() => setCount(each)}
            >
              <b>{say(each)}</b>
              <span className="tabular">
                {off > 0 && <s>{yuan(full)}</s>} <span>{yuan(amount)}</span>
              </span>
              {off > 0 && <i>{offWords(off)}</i>}
            </button>
          );
        })}
      </div>
      <SliderField label={label} value={count} {...range} show={say} onChange={setCount} />
      {next && (
        <button type="button" className={css.next} onClick={() => setCount(next.count)}>
          {next.text}
        </button>
      )}
      <PayWay {...way} />
      <footer className={css.pay}>
        <p className="tabular">
          {quote.off > 0 && (
            <b>
              已减 {quote.off}% · 省 {yuan(quote.full - quote.amount)}
            </b>
          )}
          {after(count)}
        </p>
        <Button kind="primary" busy={busy} disabled={way.closed !== ''} onClick={() => void pay()}>
          {busy ? '正在下单…' : `支付 ${yuan(quote.amount)}`}
        </Button>
      </footer>
      <PayHost />
    </>
  );
};
