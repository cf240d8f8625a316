import { type CodeName, codes } from '#contract/errors.ts';
import { accountEnded, databaseFailure, sqlState } from '../db/failure.ts';
import { StorageAway } from '../storage/storage-interface.ts';
import { Refusal } from './handlers.ts';

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';

const byFastify: Readonly<Record<string, CodeName>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported',
};

/** Which refusal an error is to whoever called. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  const known = byFastify[codeOf(error)];
  if (known) return new Refusal(known);
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode < 500
  )
    return new Refusal(error.statusCode === 404 ? 'not_found' : 'bad_body');
  if (error instanceof StorageAway)
    return new Refusal('unavailable', '存文件的地方暂时不可用，请稍后重试');
  if (sqlState(error) === accountEnded) return new Refusal('account_disabled');
  const failure = databaseFailure(error);
  if (failure !== null)
    return new Refusal(failure === 'disk_full' ? 'storage_full' : 'unavailable');
  return new Refusal('internal');
};

/** What the log may keep of an error: never a query's parameters, which hold people's words. */
export const loggable = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { message: String(error) };
  const own: Record<string, unknown> =
    'query' in error && 'params' in error
      ? { type: error.name, query: error.query }
      : { type: error.name, message: error.message, stack: error.stack };
  const code = codeOf(error);
  if (code) own['code'] = code;
  if (error.cause !== undefined) own['cause'] = loggable(error.cause);
  return own;
};

export const statusOf = (refusal: Refusal): number => codes[refusal.codeName].http;
