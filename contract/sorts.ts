/** By what each list can be sorted, the whole of it and not only a page: columns of its rows. */
export const sorts = {
  adminUserList: ['created_at', 'chatgpt_balance', 'vip_expired_at'],
  adminUserLedger: ['created_at', 'amount'],
  adminOrderList: ['created_at', 'amount', 'trade_value', 'paid_at'],
  adminSessionList: ['created_at', 'reply_count', 'like_count'],
  adminTrainList: ['created_at', 'progress', 'token'],
  adminModelList: ['label', 'factor', 'prompt_factor', 'sort'],
  adminActList: ['created_at'],
  managedAppList: ['price', 'rating', 'reports', 'download_count', 'sales', 'income', 'updated_at'],
  reportList: ['created_at'],
  transactionList: [
    'created_at',
    'prompt_tokens',
    'completion_tokens',
    'deduct_tokens',
    'current_balance',
  ],
} as const;

export type SortedList = keyof typeof sorts;
export type SortOf<L extends SortedList> = (typeof sorts)[L][number];

/** Those that have an index: by the others, lists of `limits.counted` rows and more are not sorted. */
const indexed: { readonly [L in SortedList]?: readonly SortOf<L>[] } = {
  adminUserList: ['created_at'],
  adminOrderList: ['created_at'],
};

/** By what a list that is so long, or longer, can be sorted. */
export const sortsOfLong = (list: SortedList): readonly string[] => indexed[list] ?? [];
