import { useCall } from '#src/platform/call-query.ts';
import type { Out } from '#contract/calls.ts';
import { useState } from 'react';
import css from './pay-way.module.css';

type Provider = Out<'paymentInfo'>['providers'][number];

interface Way {
  providers: readonly Provider[];
  chosen: Provider['name'] | undefined;
  choose: (name: Provider['name']) => void;
  /** Why nothing can be bought; empty: something can. */
  closed: string;
  /** What the dearer edition of the source code has beyond the other. */
  premium: readonly string[];
}

/** By what one pays here. */
export const usePayWay = (): Way => {
  const [wanted, choose] = useState<Provider['name']>();
  const { data } = useCall('paymentInfo', {}, { staleTime: 60_000, meta: { steady: true } });
  const providers = data?.providers ?? [];
  const chosen = wanted ?? providers[0]?.name;
  return { providers, chosen, choose, closed: data?.reason ?? '', premium: data?.premium ?? [] };
};

/** The choice among several; nothing where there is but one, the reason where there is none. */
export const PayWay = ({ providers, chosen, choose, closed }: Omit<Way, 'premium'>) => {
  if (closed !== '') return <p className={css.closed}>{closed}</p>;
  if (providers.length === 0) return null;
  if (providers.length === 1) return <p className={css.only}>通过{providers[0]!.label}付款</p>;
  return (
    <fieldset className={css.ways}>
      <legend>付款方式</legend>
      {providers.map(({ name, label }) => (
        <label key={name}>
          <input
            type="radio"
            name="pay-way"
            checked={name === chosen}
            onChange={() => choose(name)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
};
