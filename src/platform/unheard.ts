import type { CallName } from '#contract/calls.ts';
import { ApiError } from './api-error.ts';
import { allDrafts, readDraft, writeDraft } from './draft.ts';
import { uuid } from './uuid.ts';

/** So long a write that was not answered and one that says the same are one, ms. */
const lifetime = 10 * 60_000;
/** Writes that were asked and not answered, by what they say. */
const unheard = new Map<string, { key: string; at: number }>();

/**
 * A page that is killed takes that with it, and what it asked may have been done: each write that is
 * under way stands among the drafts, too, by a number of what it says, with its time and key.
 */
const prefix = 'unheard:';
/** When this page began, ms: what other pages ask meanwhile is theirs. */
const began = Date.now();

/** A number of 53 bits, which hardly two texts share. */
const numberOf = (text: string): string => {
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2_654_435_761);
    high = Math.imul(high ^ code, 1_597_334_677);
  }
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  return (4_294_967_296 * (high & 2_097_151) + (low >>> 0)).toString(36);
};

/** Of what holds a secret nothing is written down. */
const secret = /"(password\w*|code|api_key|\w*secret\w*)":/;

/** The key of a write that a page before this one asked and heard nothing of. */
const keyLeft = (place: string): string | undefined => {
  const [at, key] = readDraft(place).split(' ');
  const left = Date.now() - Number(at) < lifetime && Number(at) < began;
  return left ? key : undefined;
};

let swept = false;
/** What nobody asked again is forgotten. */
const sweep = (): void => {
  if (swept) return;
  swept = true;
  for (const [key, { text }] of allDrafts())
    if (key.startsWith(prefix) && Date.now() - Number.parseInt(text, 10) > lifetime)
      writeDraft(key, '');
};

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
  const text = `${name}${JSON.stringify(says)}`;
  const place = secret.test(text) ? undefined : prefix + numberOf(text);
  const write = (said: string) => {
    if (place !== undefined) writeDraft(place, said);
  };
  sweep();
  const before = unheard.get(text);
  const known = before && Date.now() - before.at < lifetime ? before.key : place && keyLeft(place);
  const key = known ?? uuid();
  unheard.delete(text);
  write(`${Date.now()} ${key}`);
  try {
    const answer = await make(key);
    write('');
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0)
      unheard.set(text, { key, at: Date.now() });
    else write('');
    throw error;
  }
};
