import type { Out } from '#contract/calls.ts';
import { AgreementLinks } from '#src/widgets/agreement/agreement-links.tsx';
import css from './site-foot.module.css';

type Site = Out<'siteInfo'>;
type Foot = Site['foot'];

const outside = { target: '_blank', rel: 'noreferrer' } as const;

/** Where a report goes: an address of the web or of mail, or a number to call. */
const reportLink = (report: string): string | undefined => {
  if (/^https?:\/\//.test(report)) return report;
  if (/^[^\s@]+@[^\s@]+$/.test(report)) return `mailto:${report}`;
  return /^\+?[\d\s-]{5,20}$/.test(report) ? `tel:${report.replaceAll(/[\s-]/g, '')}` : undefined;
};

/** Who runs this and under which numbers; what is not set is left out. */
const SiteFoot = ({
  foot,
  agreements,
  visitor,
}: {
  foot: Foot;
  agreements: Site['agreements'];
  /** Somebody without an account: using it is how they agree. */
  visitor: boolean;
}) => {
  const { operator, report, icp, police, algorithm, model_record: model } = foot;
  const code = /\d{14}/.exec(police)?.[0];
  const to = reportLink(report);
  return (
    <footer className={css.foot}>
      {agreements.length > 0 && (
        <span>
          {visitor && '不登录直接使用，即表示同意 '}
          <AgreementLinks />
        </span>
      )}
      {operator !== '' && <span>{operator}</span>}
      {icp !== '' && (
        <a href="https://beian.miit.gov.cn/" {...outside}>
          {icp}
        </a>
      )}
      {police !== '' && (
        <a
          href={`https://beian.mps.gov.cn/#/query/webSearch${code ? `?code=${code}` : ''}`}
          {...outside}
        >
          {police}
        </a>
      )}
      {algorithm !== '' && (
        <a href="https://beian.cac.gov.cn/" {...outside}>
          算法备案 {algorithm}
        </a>
      )}
      {model !== '' && <span>模型备案 {model}</span>}
      {report !== '' && (
        <span>
          投诉举报：
          {to ? <a href={to}>{report}</a> : report}
        </span>
      )}
    </footer>
  );
};

export default SiteFoot;
