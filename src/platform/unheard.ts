import type { CallName } from '@contract/calls.ts';
import { ApiError } from './api-error.ts';
import { uuid } from './uuid.ts';

/** So long a write that was not answered and one that says the same are one, ms. */
const lifetime = 10 * 60_000;
/** Writes that were asked and not answered, by what they say. */
const unheard = new Map<string, { key: string; at: number }>();

/**
 * Makes a write under an idempotency key. One that was not answered may have been done: who asks the
 * same once more does so under the same key, so that it is done once.
 * @param says what is asked, in full
 * @param own the key, where its caller has one
 */
export const underKey = async <T>(
  name: CallName,
  says: unknown,
  own: string | undefined,
  make: (key: string) => Promise<T>,
): Promise<T> => {
  if (own !== undefined) return make(own);
  const place = `${name}${JSON.stringify(says)}`;
  const before = unheard.get(place);
  const key = before && Date.now() - before.at < lifetime ? before.key : uuid();
  unheard.delete(place);
  try {
    return await make(key);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0)
      unheard.set(place, { key, at: Date.now() });
    throw error;
  }
};
