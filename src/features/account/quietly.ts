import { ApiError } from '@/platform/api-error.ts';

/** Makes calls whose failures the page has shown already. */
export const quietly = async (act: () => Promise<unknown>): Promise<void> => {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
};
