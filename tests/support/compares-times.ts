/** Options of a test that compares times: a busy machine may spoil one try. Others fail at once. */
export const comparesTimes = { retry: process.env['CI'] ? 1 : 0 };
