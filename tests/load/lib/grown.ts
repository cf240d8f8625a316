import pg from 'pg';
import { conversation } from '#scripts/demo-text.ts';
import { addGrams, listMark, publicMark, sessionMark } from '#server/areas/session/search-grams.ts';

/** Powers of two, so that each segment of the search looks the same: of 16,384 messages. */
const aSegment = 2 ** 14;
const aSession = 8;
const aPerson = 128;
const kinds = 64;
/** Of so many sessions one is public. */
const publicEach = 4;

/** What is filled side by side. */
const connections = 4;

const tables = ['sessions', 'history', 'consumptions', 'ledger', 'wallets', 'users'];

/**
 * Fills an empty, migrated database with so many short messages, all within PostgreSQL: what npm run
 * demo writes in a day would take a week at this size. People, sessions, charges and the search grow
 * along; an eighth of a kilobyte of words a message. Rounded up to whole segments of the search.
 */
export const grow = async (connectionString: string, messages: number): Promise<void> => {
  const segments = Math.ceil(messages / aSegment);
  const all = segments * aSegment;
  const pool = new pg.Pool({
    connectionString,
    max: connections,
    // Neither triggers nor references are looked at, row by row.
    options: '-c session_replication_role=replica -c maintenance_work_mem=512MB',
  });
  const client = await pool.connect();
  const say = async (what: string, query: string, values: unknown[] = []): Promise<void> => {
    const begun = Date.now();
    await pool.query(query, values);
    console.log(`${what}: ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  };
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE schemaname = 'public' AND tablename = ANY($1) AND NOT EXISTS (
       SELECT FROM pg_constraint WHERE conname = indexname)`,
    [tables],
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);

  const texts = Array.from({ length: kinds }, (_, at) => {
    const talk = conversation();
    return { human: talk.ask(at).slice(0, 24), ai: talk.answer().slice(0, 40) };
  });
  await client.query('CREATE TABLE grown_said (kind int PRIMARY KEY, human text, ai text)');
  await client.query(
    `INSERT INTO grown_said SELECT ordinality - 1, human, ai
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (human, ai, ordinality)`,
    [texts.map(({ human }) => human), texts.map(({ ai }) => ai)],
  );
  await say(
    'people',
    `INSERT INTO users (id, account, user_name, password_hash, created_at)
     OVERRIDING SYSTEM VALUE
     SELECT n, 'grown_' || n, '第' || n || '人', '', now() - interval '1 year' * (1 - n / $1::float8)
     FROM generate_series(1, $1::bigint) n`,
    [all / aPerson],
  );
  await say('wallets', 'INSERT INTO wallets (user_id, balance) SELECT id, 1000000 FROM users');
  // Everybody has come for a year: sessions of one person lie far from each other, by their number.
  const person = (session: string) => `(1 + (${session} - 1) % ${all / aPerson})`;
  const when = (n: string) => `now() - interval '1 year' * (1 - ${n} / ${all}::float8)`;
  await say(
    'sessions',
    `INSERT INTO sessions (id, user_id, model, prompt, summary, private, reply_count, created_at, updated_at)
     OVERRIDING SYSTEM VALUE
     SELECT n, ${person('n')}, 'load', human, ai, n % ${publicEach} <> 0, ${aSession},
       ${when(`(n * ${aSession})`)}, ${when(`(n * ${aSession})`)}
     FROM generate_series(1, $1::bigint) n JOIN grown_said ON kind = n % ${kinds}`,
    [all / aSession],
  );
  const step = 2 ** 20;
  const parts: Promise<void>[] = [];
  for (let from = 0; from < all; from += step) {
    const range = [from, Math.min(all, from + step) - 1];
    // Numbers begin with the second segment.
    const messagesFrom = say(
      `messages from ${from}`,
      `INSERT INTO history (id, session_id, user_id, human, ai, parts, model, state, prev_id,
         prompt_tokens, completion_tokens, deduct_tokens, created_at, answered_at)
       OVERRIDING SYSTEM VALUE
       SELECT ${aSegment} + n, 1 + n / ${aSession}, ${person(`(1 + n / ${aSession})`)}, human, ai,
         jsonb_build_array(0, length(ai)), 'load', 'done',
         CASE WHEN n % ${aSession} = 0 THEN 0 ELSE ${aSegment} + n - 1 END, 30, 40, 70,
         ${when('n')}, ${when('n')}
       FROM generate_series($1::bigint, $2::bigint) n JOIN grown_said ON kind = n % ${kinds}`,
      range,
    );
    const charges = say(
      'their charges',
      `INSERT INTO consumptions (user_id, type, model, human, prompt_tokens, completion_tokens,
         deduct_tokens, current_balance, created_at)
       SELECT ${person(`(1 + n / ${aSession})`)}, 0, 'load', human, 30, 40, 70, 1000000, ${when('n')}
       FROM generate_series($1::bigint, $2::bigint) n JOIN grown_said ON kind = n % ${kinds}`,
      range,
    );
    const entries = say(
      'their ledger',
      `INSERT INTO ledger (user_id, pot, kind, amount, reference, created_at)
       SELECT ${person(`(1 + n / ${aSession})`)}, 'balance', 'spend', -70, 'grown ' || n, ${when('n')}
       FROM generate_series($1::bigint, $2::bigint) n`,
      range,
    );
    parts.push(messagesFrom, charges, entries);
  }
  await Promise.all(parts);

  // What the messages of a segment are found by, for each segment the same.
  const places = new Map<number, number[]>();
  for (let at = 0; at < aSegment; at += 1) {
    const { human, ai } = texts[at % kinds]!;
    const grams = new Set<number>();
    addGrams(grams, human);
    addGrams(grams, ai);
    if (Math.floor(at / aSession + 1) % publicEach === 0) grams.add(publicMark);
    for (const gram of grams) {
      const known = places.get(gram);
      if (known) known.push(at);
      else places.set(gram, [at]);
    }
  }
  const asBits = (ids: number[]): Buffer => {
    if (ids.length < aSegment / 16) return Buffer.from(ids.flatMap((id) => [id >> 8, id & 255]));
    const bits = Buffer.alloc(aSegment / 8);
    for (const id of ids) bits[id >> 3]! |= 1 << (id & 7);
    return bits;
  };
  await client.query('CREATE TABLE grown_found (gram int, ids bytea)');
  await client.query('INSERT INTO grown_found SELECT * FROM unnest($1::int[], $2::bytea[])', [
    [...places.keys()],
    [...places.values()].map(asBits),
  ]);
  await say(
    'search: words',
    `INSERT INTO search_postings SELECT gram, segment, ids
     FROM grown_found, generate_series(1, $1::int) segment`,
    [segments],
  );
  const places8 = `string_agg(int2send((h & ${aSegment - 1})::smallint), '' ORDER BY h)`;
  await Promise.all(
    (
      [
        ['sessions', sessionMark(0), 's'],
        ['people', listMark(0), person('s')],
      ] as const
    ).map(([what, base, of]) =>
      say(
        `search: ${what}`,
        `INSERT INTO search_postings
       SELECT ${base} + ${of}, (h >> 14)::int, ${places8}
       FROM generate_series(1, $1::bigint) s,
         generate_series(${aSegment} + (s - 1) * ${aSession}, ${aSegment} + s * ${aSession} - 1) h
       GROUP BY 1, 2`,
        [all / aSession],
      ),
    ),
  );
  await Promise.all(indexes.map(({ name, definition }) => say(`index ${name}`, definition)));
  for (const table of ['users', 'sessions', 'history'])
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, 'id'), (SELECT max(id) FROM ${table}))`,
      [table],
    );
  await client.query('DROP TABLE grown_said, grown_found');
  client.release();
  await say('statistics', 'VACUUM (ANALYZE)');
  await pool.end();
};
