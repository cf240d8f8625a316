import type pg from 'pg';
import type { Storage } from '#server/storage/storage-interface.ts';
import { modelKey, thumbnailKey, thumbnailSides } from '#server/areas/file/image-address.ts';
import { posterSides } from '#server/areas/video/film-files.ts';
import { unlocked } from './times.ts';

interface Reference {
  table: string;
  column: string;
  to: string;
  toColumn: string;
}

/** Columns that name a file in the storage; of what is `key` elsewhere only these are files. */
const fileColumns: Record<string, readonly string[]> = {
  files: ['key'],
  images: ['key'],
  videos: ['key'],
  speeches: ['key'],
  account_files: ['key'],
  downloads: ['storage_key'],
  notices: ['bucket_key'],
  training_projects: ['artifact_key'],
  training_files: ['storage_key'],
  app_versions: ['file_key'],
};

/** All names that the storage may have what belongs to a key under. */
const namesOf = (key: string): string[] => [
  key,
  ...['.png', '.jpg', '.webm', '.mp4', '.poster'].map((ending) => key + ending),
  ...posterSides.map((side) => `${key}.w${side}`),
  ...thumbnailSides.map((side) => thumbnailKey(key, side)),
  modelKey(key),
];

/** Rows that name a person without the database knowing of it. */
const unreferenced = [
  { table: 'idempotency', column: 'user_id' },
  { table: 'model_uses', column: 'user_id' },
] as const;

/** Columns that name something in passing: the row is somebody else's, and stays without the name. */
const inPassing = new Set([
  'sessions.scenario_id',
  'reports.resolved_by',
  'invoices.manager_id',
  'order_events.manager_id',
  'refunds.manager_id',
  'payment_differences.resolved_by',
  'app_comments.version_id',
]);
const isInPassing = ({ table, column }: Reference): boolean => inPassing.has(`${table}.${column}`);

const references = async (client: pg.PoolClient): Promise<Reference[]> => {
  const { rows } = await client.query<Reference>(
    `SELECT c.conrelid::regclass::text AS table, a.attname AS column,
       c.confrelid::regclass::text AS to, b.attname AS "toColumn"
     FROM pg_constraint c
     JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]
     WHERE c.contype = 'f' AND cardinality(c.conkey) = 1`,
  );
  return rows;
};

/**
 * What tells a row of each table from its others: its primary key as text. Where a row lies would
 * not do, for triggers write to rows that are still to be deleted.
 */
const keysOf = async (client: pg.PoolClient): Promise<(table: string, alias: string) => string> => {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `SELECT i.indrelid::regclass::text AS table,
       array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
     WHERE i.indisprimary GROUP BY 1`,
  );
  const columns = new Map(rows.map((row) => [row.table, row.columns]));
  return (table, alias) => {
    const own = columns.get(table);
    return own
      ? `ROW(${own.map((name) => `${alias}.${name}`).join(', ')})::text`
      : `${alias}.ctid::text`;
  };
};

/**
 * Takes away all that the demo put here, with all that anybody hung on it, and gives the names of
 * its files. The database's own references say what hangs on what.
 */
const removeRows = async (client: pg.PoolClient): Promise<string[]> => {
  const links = await references(client);
  const keyOf = await keysOf(client);
  const condemned = new Map<string, Set<string>>();
  const add = (table: string, places: readonly string[]): string[] => {
    const known = condemned.get(table) ?? new Set<string>();
    condemned.set(table, known);
    const fresh = places.filter((place) => !known.has(place));
    for (const place of fresh) known.add(place);
    return fresh;
  };
  const open: { table: string; places: string[] }[] = [];
  for (const kind of ['users', 'apps', 'notices']) {
    const { rows } = await client.query<{ place: string }>(
      `SELECT ${keyOf(kind, 't')} AS place FROM ${kind} t JOIN demo_things d ON d.kind = $1 AND d.id = t.id
       FOR UPDATE OF t`,
      [kind],
    );
    const places = add(
      kind,
      rows.map(({ place }) => place),
    );
    if (places.length > 0) open.push({ table: kind, places });
  }
  for (const { table, column } of unreferenced) {
    const { rows } = await client.query<{ place: string }>(
      `SELECT ${keyOf(table, 't')} AS place FROM ${table} t
       WHERE t.${column} IN (SELECT id FROM demo_things WHERE kind = 'users')`,
    );
    add(
      table,
      rows.map(({ place }) => place),
    );
  }
  for (let next = open.pop(); next; next = open.pop()) {
    const { table, places } = next;
    for (const link of links.filter((each) => each.to === table && !isInPassing(each))) {
      const { rows } = await client.query<{ place: string }>(
        `SELECT ${keyOf(link.table, 'r')} AS place FROM ${link.table} r WHERE r.${link.column} IN
           (SELECT t.${link.toColumn} FROM ${table} t WHERE ${keyOf(table, 't')} = ANY($1))`,
        [places],
      );
      const fresh = add(
        link.table,
        rows.map(({ place }) => place),
      );
      if (fresh.length > 0) open.push({ table: link.table, places: fresh });
    }
  }
  const { rows: trades } = await client.query<{ place: string }>(
    `SELECT ${keyOf('sandbox_trades', 't')} AS place FROM sandbox_trades t
     WHERE t.number IN (SELECT o.number FROM orders o WHERE ${keyOf('orders', 'o')} = ANY($1))`,
    [[...(condemned.get('orders') ?? [])]],
  );
  add(
    'sandbox_trades',
    trades.map(({ place }) => place),
  );
  const keys: string[] = [];
  for (const [table, columns] of Object.entries(fileColumns))
    for (const column of columns) {
      const { rows } = await client.query<{ key: string }>(
        `SELECT t.${column} AS key FROM ${table} t
         WHERE ${keyOf(table, 't')} = ANY($1) AND t.${column} <> ''`,
        [[...(condemned.get(table) ?? [])]],
      );
      keys.push(...rows.map(({ key }) => key));
    }
  for (const { table, column, to, toColumn } of links.filter(isInPassing))
    await client.query(
      `UPDATE ${table} SET ${column} = NULL WHERE ${column} IN
         (SELECT t.${toColumn} FROM ${to} t WHERE ${keyOf(to, 't')} = ANY($1))`,
      [[...(condemned.get(to) ?? [])]],
    );
  // What stays was used so much less.
  await client.query(
    `UPDATE scenarios c SET session_count = greatest(0, c.session_count - s.uses)
     FROM (SELECT t.scenario_id, count(*)::int AS uses FROM sessions t
       WHERE ${keyOf('sessions', 't')} = ANY($1) GROUP BY 1) s WHERE c.id = s.scenario_id`,
    [[...(condemned.get('sessions') ?? [])]],
  );
  await removeInOrder(client, links, condemned, keyOf);
  await client.query('DELETE FROM demo_things');
  return keys;
};

/** Deletes what nothing condemned refers to any more, again and again until nothing is left. */
const removeInOrder = async (
  client: pg.PoolClient,
  links: readonly Reference[],
  condemned: Map<string, Set<string>>,
  keyOf: (table: string, alias: string) => string,
): Promise<void> => {
  const left = new Map([...condemned].filter(([, places]) => places.size > 0));
  while (left.size > 0) {
    const free = [...left.keys()].find(
      (table) =>
        !links.some((link) => link.to === table && link.table !== table && left.has(link.table)),
    );
    const table = free ?? [...left.keys()][0]!;
    await client.query(`DELETE FROM ${table} t WHERE ${keyOf(table, 't')} = ANY($1)`, [
      [...left.get(table)!],
    ]);
    left.delete(table);
  }
};

export const removeDemo = async (pool: pg.Pool, storage: Storage): Promise<boolean> => {
  const client = await pool.connect();
  let keys: string[] = [];
  try {
    const { rows } = await client.query('SELECT FROM demo_things LIMIT 1');
    if (rows.length === 0) return false;
    await unlocked(client, async () => {
      keys = await removeRows(client);
    });
  } finally {
    client.release();
  }
  for (const key of keys) for (const name of namesOf(key)) await storage.delete(name);
  return true;
};
