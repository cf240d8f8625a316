import type { LoggedCall } from '#contract/developer.ts';
import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { callAt, callsOf } from './call-log.store.ts';
import { yuanOf } from './key-bounds.ts';

const page = 50;

/** A person's own calls, newest first, without their words. */
export const listCalls = async (
  db: Executor,
  { key_id: keyId, failed, before }: Parsed<'apiCallLog'>,
  userId: number,
): Promise<{ list: LoggedCall[]; more: boolean }> => {
  const at = before === undefined ? null : await callAt(db, userId, before);
  // What it went on from was cleared meanwhile.
  if (before !== undefined && at === null) return { list: [], more: false };
  const rows = await callsOf(
    db,
    userId,
    {
      keyId,
      failed: failed === 1,
      before: at && before !== undefined ? { at, id: before } : undefined,
    },
    page + 1,
  );
  return {
    more: rows.length > page,
    list: rows.slice(0, page).map((row) => ({
      id: row.id,
      time: row.begunAt.toISOString(),
      key_id: row.keyId,
      key: row.key,
      path: row.path,
      model: row.model,
      status: row.status,
      failure: row.failure,
      first_ms: row.firstMs,
      ms: row.ms,
      prompt_tokens: row.promptTokens,
      cached_tokens: row.cachedTokens,
      completion_tokens: row.completionTokens,
      reasoning_tokens: row.reasoningTokens,
      deduct_tokens: row.deductTokens,
      yuan: yuanOf(row.deductTokens),
      has_bodies: row.hasBodies,
    })),
  };
};
