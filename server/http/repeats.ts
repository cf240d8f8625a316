import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { CallSpec } from '#contract/call.ts';
import type { Executor } from '../db/database.ts';
import { Refusal, type UploadedFile } from './handlers.ts';
import { claimKey, type ClaimEnd, endClaim, findAnswer, type Key } from './idempotency.store.ts';

/** How often a repeat looks whether the first has its answer, and how long at most, ms. */
const lookEachMs = 300;
const longestMs = 100_000;

/** An answer as it is kept for repeats. */
export const keepable = ({ secrets }: CallSpec, answer: unknown): unknown =>
  secrets.length === 0
    ? answer
    : Object.fromEntries(
        Object.entries(answer as object).filter(([field]) => !secrets.includes(field)),
      );

/** What tells a repeat from another request; a password that proves who asks is no part of it. */
export const hashOf = (
  spec: CallSpec,
  { body }: FastifyRequest,
  input: unknown,
  file: UploadedFile | null,
): Buffer => {
  const { password: _, ...said } = input as { password?: unknown };
  const asked = spec.confirm === 'no' ? input : said;
  return createHash('sha256')
    .update(typeof body === 'string' ? body : JSON.stringify(asked))
    .update(file?.data ?? '')
    .digest();
};

/** The request under a key, and which process asks. */
interface Claim {
  place: Key;
  requestHash: Buffer;
  /** The number of this process; see instances. */
  claimedBy: number;
}

const claimed = async (
  db: Executor,
  { place, requestHash, claimedBy }: Claim,
  work: () => Promise<unknown>,
): Promise<unknown> => {
  const until = Date.now() + longestMs;
  while (!(await claimKey(db, place, { requestHash, claimedBy }))) {
    const kept = await findAnswer(db, place);
    if (kept && !kept.requestHash.equals(requestHash)) throw new Refusal('conflict');
    if (kept && kept.answer !== null) return kept.answer;
    if (Date.now() > until) throw new Refusal('conflict', '这个请求正在进行，请稍后再试');
    if (kept) await sleep(lookEachMs);
  }
  let end: ClaimEnd = 'failed';
  try {
    const answer = await work();
    end = { answer };
    return answer;
  } finally {
    await endClaim(db, place, { end, claimedBy });
  }
};

/** What requests of this process wait for: repeats of one wait for it together. */
const underWay = new Map<string, Promise<unknown>>();

/**
 * What a request is answered whose work asks a service, outside any transaction: its key is taken
 * before, and who comes with the same key meanwhile waits for that answer, or its failure. What
 * failed may be done again, and so may what its process did not survive.
 * @throws Refusal conflict for another request under this key, or one that does not end
 */
export const onceClaimed = (
  db: Executor,
  claim: Claim,
  work: () => Promise<unknown>,
): Promise<unknown> => {
  const { place, requestHash } = claim;
  const request = [place.userId, place.call, place.key, requestHash.toString('hex')].join(' ');
  const begun = underWay.get(request);
  if (begun) return begun;
  const answer = claimed(db, claim, work).finally(() => underWay.delete(request));
  underWay.set(request, answer);
  return answer;
};

/**
 * The same where the answer is no JSON and is not kept: whoever asks again is told that it was done.
 * @throws Refusal conflict
 */
export const onceServed = async (
  db: Executor,
  { place, requestHash, claimedBy }: Claim,
  work: () => Promise<void>,
): Promise<void> => {
  if (!(await claimKey(db, place, { requestHash, claimedBy }))) {
    const kept = await findAnswer(db, place);
    if (kept && !kept.requestHash.equals(requestHash)) throw new Refusal('conflict');
    throw new Refusal('conflict', '这个请求已经做过或正在进行，内容没有保存着');
  }
  let end: ClaimEnd = 'failed';
  try {
    await work();
    end = 'not kept';
  } finally {
    await endClaim(db, place, { end, claimedBy });
  }
};
