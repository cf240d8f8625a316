/** Calls that are asked before the app is there: vite.config.ts gives the first HTML their addresses. */
export const earlyCalls = ['models', 'userInfo', 'getSession', 'historyList'] as const;
