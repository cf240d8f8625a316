import { agreementTitles } from '#contract/agreement-kinds.ts';
import { useSite } from '#src/platform/site.ts';
import { Link } from '@tanstack/react-router';

/** The texts that people agree to here, each a link. */
export const AgreementLinks = ({ target }: { target?: '_blank' }) =>
  useSite().agreements.map(({ kind }) => (
    <Link key={kind} to="/help" search={{ page: `agreement-${kind}` }} target={target}>
      《{agreementTitles[kind]}》
    </Link>
  ));
