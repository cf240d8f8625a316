import { sql } from 'drizzle-orm';
import type { Parsed } from '#contract/calls.ts';
import type { ResponseItem } from '#contract/open-messages.ts';
import type { Database, Transaction } from '#server/db/database.ts';
import { statement } from '#server/db/statement.ts';
import { createFairQueue } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createPersonLimit } from '#server/http/rate-limit.ts';
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

/** KB that a person may go back to in a minute: it is read before anything of it is paid. */
const minuteOf = { kilobytes: 200 * 1024, name: 'stored responses' };

/** The numbers alone are followed first: what they hold may be far too much. */
const chain = statement<{ ids: string[]; whole: boolean; bytes: number }>(
  'api_response_chain',
  `WITH RECURSIVE back AS (
     SELECT id, previous_id, bytes::bigint, 1 AS depth FROM api_responses
     WHERE id = $1 AND key_id = $2
     UNION ALL
     SELECT r.id, r.previous_id, b.bytes + r.bytes, b.depth + 1 FROM back b
     JOIN api_responses r ON r.id = b.previous_id AND r.key_id = $2
     WHERE b.depth <= ${longestChain} AND b.bytes <= ${longestBytes}
   )
   SELECT array_agg(id ORDER BY depth DESC) AS ids, bool_or(previous_id IS NULL) AS whole,
     max(bytes)::float8 AS bytes
   FROM back HAVING count(*) > 0`,
);

const said = statement<{ items: ResponseItem[] }>(
  'api_response_said',
  `SELECT r.items FROM unnest($1::text[]) WITH ORDINALITY AS told (id, at)
   JOIN api_responses r ON r.id = told.id ORDER BY told.at`,
);

const one = statement<{ response: Json }>(
  'api_response_one',
  'SELECT response FROM api_responses WHERE id = $1 AND key_id = $2',
);

const size = statement<{ bytes: number }>(
  'api_response_size',
  'SELECT bytes FROM api_responses WHERE id = $1 AND key_id = $2',
);

/** A page of what was asked: $3 is 1 or -1, the way it is read in. What was answered comes last. */
const inputs = statement<{ item: { id: string } }>(
  'api_response_inputs',
  `WITH given AS MATERIALIZED (
     SELECT item, at * $3::int AS place,
       CASE jsonb_typeof(item -> 'id') WHEN 'string' THEN item ->> 'id' ELSE 'item_' || (at - 1) END AS id
     FROM api_responses r, jsonb_array_elements(r.items) WITH ORDINALITY AS all_of (item, at)
     WHERE r.id = $1 AND r.key_id = $2
       AND at <= jsonb_array_length(r.items) - jsonb_array_length(r.response -> 'output')
   )
   SELECT item || jsonb_build_object('id', id) AS item FROM given
   WHERE place > coalesce((SELECT min(place) FROM given WHERE id = $4::text), place - 1)
   ORDER BY place LIMIT $5::int`,
);

const gone = statement<{ id: string }>(
  'api_response_gone',
  'DELETE FROM api_responses WHERE id = $1 AND key_id = $2 RETURNING id',
);

/** An item of the input as it is kept: without what is neither read nor counted, which may be of any size. */
const keptItem = (item: ResponseItem): Json => {
  if (item.type === 'reasoning') {
    const { id } = item;
    const known = typeof id === 'string' && id.length <= 500;
    return { ...(known ? { id } : {}), type: item.type, summary: [] };
  }
  if (item.type !== 'message' || typeof item.content === 'string') return item;
  const content = item.content.map((part) =>
    part.type === 'output_text' ? { type: part.type, text: part.text, annotations: [] } : part,
  );
  return { ...item, content };
};

/** What is kept is read a person's after the other: it is parsed where everybody is served. */
const inTurn = createFairQueue(4);
const limitMinute = createPersonLimit(minuteOf.kilobytes, minuteOf.name);

const readOf = async <T>(
  { caller, hold }: Pick<OpenContext, 'caller' | 'hold'>,
  bytes: number,
  act: () => Promise<T>,
): Promise<T> => {
  await limitMinute(caller.user.id, Math.ceil(bytes / 1024)).catch((error: unknown) => {
    const data = error instanceof Refusal ? error.data : null;
    throw new Refusal('too_many', '一分钟里读取的以前说过的话太多，请稍后再试', data);
  });
  hold(bytes);
  return inTurn(caller.user, act);
};

export const createStoredResponses = (db: Database) => ({
  /** What was said before a request, oldest first. @throws ApiRefusal where any of it is kept no more */
  async before({ previous_response_id: id }: Asked, context: OpenContext): Promise<ResponseItem[]> {
    if (!id) return [];
    const [back] = await chain(db, [id, context.caller.keyId]);
    if (back && back.bytes > longestBytes)
      throw new ApiRefusal(
        'prompt_too_long',
        `previous_response_id：前面说过的一共太大，最多 ${longestBytes / 1024 / 1024} MB，请从新的对话开始`,
        { code: 'context_length_exceeded', param: 'previous_response_id' },
      );
    if (back?.whole !== true) throw missing(id, 'previous_response_id');
    const links = await readOf(context, back.bytes, () => said(db, [back.ids]));
    // Some of it was deleted meanwhile.
    if (links.length < back.ids.length) throw missing(id, 'previous_response_id');
    return links.flatMap(({ items }) => items);
  },

  /** Keeps a response unless its asker does not want it, or it is too large; says in it whether it is kept. */
  async keep(asked: Asked, response: Json, context: OpenContext): Promise<Json> {
    if (asked.store === false) return response;
    const { caller } = context;
    const input =
      typeof asked.input === 'string'
        ? [{ type: 'message', role: 'user', content: asked.input }]
        : asked.input.map(keptItem);
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
    context: OpenContext,
  ): Promise<Json> {
    const { keyId } = context.caller;
    const [row] = await size(db, [id, keyId]);
    if (!row) throw missing(id, 'response_id');
    const way = order === 'asc' ? 1 : -1;
    const rows = await readOf(context, row.bytes, () =>
      inputs(db, [id, keyId, way, after ?? null, limit + 1]),
    );
    return paged(
      rows.map(({ item }) => item),
      limit,
      (item) => item,
    ).json;
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
