/** What people agree to, in the order in which it is shown. */
export const agreementKinds = ['terms', 'privacy', 'content'] as const;
export type AgreementKind = (typeof agreementKinds)[number];

export const agreementTitles: Readonly<Record<AgreementKind, string>> = {
  terms: '用户协议',
  privacy: '隐私政策',
  content: '生成内容规则',
};

export const agreementLimits = { text: 100_000 } as const;
