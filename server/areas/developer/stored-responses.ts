import { sql } from 'drizzle-orm';
import type { Parsed } from '#contract/calls.ts';
import type { ResponseItem } from '#contract/open-messages.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { storableJson } from '#server/storable.ts';
import { tellIgnored } from '#server/http/ignored-fields.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenContext } from '#server/http/open-handlers.ts';
import { apiResponses } from './batch.tables.ts';
import { paged } from './list-page.ts';

/** Responses that are kept so that programs can go on from them. Only the key that made one knows it. */

type Json = Record<string, unknown>;
type Asked = Parsed<'createResponse'>;

/** What one may have, and all of a person's keys together: the oldest go then. */
const mostBytes = 4 * 1024 * 1024;
const mostOfPerson = 64 * 1024 * 1024;
const mostCount = 2000;
/** Responses that one goes back to at most. */
const longestChain = 200;

const missing = (id: string, param: string): ApiRefusal =>
  new ApiRefusal('not_found', `没有这个回答 ${id.slice(0, 100)}，或已超过 30 天、已被删除`, {
    code: param === 'previous_response_id' ? 'previous_response_not_found' : 'not_found',
    status: param === 'previous_response_id' ? 400 : 404,
    param,
  });

const keep = statement(
  'api_response_keep',
  `WITH kept AS (
     INSERT INTO api_responses (id, key_id, user_id, previous_id, items, response, bytes)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7)
   ), aged AS (
     SELECT id, sum(bytes) OVER newest + $7::int AS total, row_number() OVER newest + 1 AS place
     FROM api_responses WHERE user_id = $3 WINDOW newest AS (ORDER BY created_at DESC, id)
   )
   DELETE FROM api_responses r USING aged
   WHERE r.id = aged.id AND (aged.total > ${mostOfPerson} OR aged.place > ${mostCount})`,
);

/** Bytes of what one goes back to: images cost few tokens, and all of it is read at once. */
const longestBytes = 20 * 1024 * 1024;

/** The numbers alone are followed first: what they hold may be far too much. */
const chain = statement<{ items: ResponseItem[] | null; whole: boolean; fits: boolean }>(
  'api_response_chain',
  `WITH RECURSIVE back AS (
     SELECT id, previous_id, bytes::bigint, 1 AS depth FROM api_responses
     WHERE id = $1 AND key_id = $2
     UNION ALL
     SELECT r.id, r.previous_id, b.bytes + r.bytes, b.depth + 1 FROM back b
     JOIN api_responses r ON r.id = b.previous_id AND r.key_id = $2
     WHERE b.depth <= ${longestChain} AND b.bytes <= ${longestBytes}
   ), told AS (
     SELECT bool_or(previous_id IS NULL) AS whole, max(bytes) <= ${longestBytes} AS fits FROM back
   )
   SELECT CASE WHEN t.fits THEN r.items END AS items, t.whole, t.fits
   FROM back b JOIN api_responses r ON r.id = b.id, told t ORDER BY b.depth DESC`,
);

const one = statement<{ response: Json; items: unknown[] }>(
  'api_response_one',
  'SELECT response, items FROM api_responses WHERE id = $1 AND key_id = $2',
);

const gone = statement<{ id: string }>(
  'api_response_gone',
  'DELETE FROM api_responses WHERE id = $1 AND key_id = $2 RETURNING id',
);

const idOf = (item: unknown, at: number): string => {
  const { id } = item as { id?: unknown };
  return typeof id === 'string' ? id : `item_${at}`;
};

export const createStoredResponses = (db: Database) => ({
  /** What was said before a request, oldest first. @throws ApiRefusal where any of it is kept no more */
  async before({ previous_response_id: id }: Asked, caller: ApiCaller): Promise<ResponseItem[]> {
    if (!id) return [];
    const links = await chain(db, [id, caller.keyId]);
    if (links[0]?.fits === false)
      throw new ApiRefusal(
        'prompt_too_long',
        `previous_response_id：前面说过的一共太大，最多 ${longestBytes / 1024 / 1024} MB，请从新的对话开始`,
        { code: 'context_length_exceeded', param: 'previous_response_id' },
      );
    if (links[0]?.whole !== true) throw missing(id, 'previous_response_id');
    return links.flatMap(({ items }) => items ?? []);
  },

  /** Keeps a response unless its asker does not want it, or it is too large; says in it whether it is kept. */
  async keep(asked: Asked, response: Json, context: OpenContext): Promise<Json> {
    if (asked.store === false) return response;
    const { caller } = context;
    const input =
      typeof asked.input === 'string'
        ? [{ type: 'message', role: 'user', content: asked.input }]
        : asked.input;
    const kept = { ...response, store: true };
    const items = storableJson([...input, ...(response['output'] as unknown[])]);
    const whole = storableJson(kept);
    const bytes = Buffer.byteLength(items) + Buffer.byteLength(whole);
    if (bytes > mostBytes) {
      tellIgnored(context, ['store']);
      return response;
    }
    const { keyId, user } = caller;
    await keep(db, [
      response['id'],
      keyId,
      user.id,
      asked.previous_response_id ?? null,
      items,
      whole,
      bytes,
    ]);
    return kept;
  },

  /** @throws ApiRefusal not_found */
  async find(id: string, { keyId }: ApiCaller): Promise<Json> {
    const [row] = await one(db, [id, keyId]);
    if (!row) throw missing(id, 'response_id');
    return row.response;
  },

  /**
   * What a response was asked, its newest item first unless told otherwise; each with an id to page by.
   * @throws ApiRefusal not_found
   */
  async inputOf(
    id: string,
    { limit, order, after }: Omit<Parsed<'storedResponse'>, 'response_id'>,
    { keyId }: ApiCaller,
  ): Promise<Json> {
    const [row] = await one(db, [id, keyId]);
    if (!row) throw missing(id, 'response_id');
    const own = row.response['output'] as unknown[];
    const asked = row.items
      .slice(0, row.items.length - own.length)
      .map((item, at) => ({ ...(item as { id?: string }), id: idOf(item, at) }));
    const sorted = order === 'asc' ? asked : asked.reverse();
    const from = after === undefined ? 0 : sorted.findIndex((item) => item.id === after) + 1;
    return paged(sorted.slice(from), limit, (item) => item).json;
  },

  /** @throws ApiRefusal not_found */
  async remove(id: string, { keyId }: ApiCaller): Promise<void> {
    const [row] = await gone(db, [id, keyId]);
    if (!row) throw missing(id, 'response_id');
  },
});

/** Forgets responses after thirty days, and those of keys that are gone. */
export const dropOldResponses = async (tx: Transaction): Promise<void> => {
  await tx.execute(sql`DELETE FROM ${apiResponses} r WHERE r.id IN (
    SELECT a.id FROM api_responses a JOIN api_keys k ON k.id = a.key_id
    WHERE a.created_at < now() - interval '30 days' OR k.deleted_at IS NOT NULL LIMIT 1000)`);
};
