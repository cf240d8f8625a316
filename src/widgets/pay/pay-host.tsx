import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { usePaying } from './pay-order.ts';

const PayDialog = lazyAsked(() => import('./pay-dialog.tsx'));

/** Stands on screens where something can be bought; the dialog loads when it is first wanted. */
export const PayHost = () => {
  const paying = usePaying();
  if (!paying) return null;
  return <PayDialog key={paying.order.trade_no} {...paying} />;
};
