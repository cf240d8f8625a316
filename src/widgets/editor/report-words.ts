import type { ReportReason } from '#contract/forum.ts';

/** Reasons of a report, as people read them. */
export const reportWords: Record<ReportReason, string> = {
  spam: '广告或灌水',
  abuse: '辱骂或骚扰',
  illegal: '违法违规',
  false: '虚假或误导',
  other: '其他',
};
