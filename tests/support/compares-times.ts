/**
 * Options of a test that compares times: a busy machine, such as one that shows pages in browsers
 * meanwhile, may spoil one try. Others fail at once.
 */
export const comparesTimes = { retry: process.env['CI'] || process.env['BESIDE_OTHERS'] ? 1 : 0 };
