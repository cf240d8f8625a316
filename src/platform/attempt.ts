import { ApiError } from './api-error.ts';
import { toast } from './toast.ts';

/** A call that failed has said why; what else was thrown is a fault. */
export const ignoreApiError = (error: unknown): void => {
  if (!(error instanceof ApiError)) throw error;
};

/**
 * For what nobody waits for but the button that began it (`useOnce`): a call that failed has said
 * why.
 */
export const quietly = (work: Promise<unknown>): unknown => work.catch(ignoreApiError);

/**
 * Does something that can fail. True: it was done.
 * @param said shown once it is done
 */
export const attempt = async (
  work: () => Promise<unknown>,
  said = '',
  failed: (error: unknown) => void = ignoreApiError,
): Promise<boolean> => {
  try {
    await work();
    if (said !== '') toast(said, 'success');
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
};
