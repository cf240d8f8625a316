const cents = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

/** Cents as people read them: ￥95.00, ￥1,140.40. */
export const yuan = (amount: number): string =>
  `￥${(amount / 100).toLocaleString('zh-CN', cents)}`;

/** What tokens cost at the plain price of 20 yuan a million, yuan. */
export const yuanOfTokens = (tokens: number): number => (tokens * 20) / 1e6;

/** The same as people read it, with the places that matter. */
export const tokensInYuan = (tokens: number): string => {
  const value = yuanOfTokens(tokens);
  if (value === 0) return '￥0.00';
  return value < 0.01 ? '不到 ￥0.01' : `￥${value.toFixed(2)}`;
};
