import { randomBytes } from 'node:crypto';
import type pg from 'pg';

interface Column {
  name: string;
  type: string;
  nullable: boolean;
  generated: boolean;
  filled: boolean;
}
interface Table {
  columns: Column[];
  /** What a column refers to. */
  references: Map<string, string>;
  /** The first value that a check lets through, by column. */
  allowed: Map<string, string>;
}

/** All tables of the database, as it describes them itself. */
export const describeTables = async (client: pg.Client): Promise<Map<string, Table>> => {
  const tables = new Map<string, Table>();
  const { rows: columns } = await client.query<{
    t: string;
    name: string;
    type: string;
    nullable: boolean;
    generated: boolean;
    filled: boolean;
  }>(
    `SELECT table_name AS t, column_name AS name, udt_name AS type, is_nullable = 'YES' AS nullable,
       is_identity = 'YES' OR is_generated <> 'NEVER' OR column_default LIKE 'nextval%' AS generated,
       column_default IS NOT NULL AS filled
     FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position`,
  );
  for (const { t, ...column } of columns) {
    const table: Table = tables.get(t) ?? {
      columns: [],
      references: new Map(),
      allowed: new Map(),
    };
    table.columns.push(column);
    tables.set(t, table);
  }
  const { rows: constraints } = await client.query<{
    t: string;
    column: string;
    kind: string;
    refers: string | null;
    definition: string;
  }>(
    `SELECT c.conrelid::regclass::text AS t, a.attname AS column, c.contype AS kind,
       nullif(c.confrelid, 0)::regclass::text AS refers, pg_get_constraintdef(c.oid) AS definition
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
     WHERE c.contype IN ('f', 'c') AND c.connamespace = 'public'::regnamespace`,
  );
  for (const { t, column, kind, refers, definition } of constraints) {
    if (kind === 'f' && refers !== null) tables.get(t)?.references.set(column, refers);
    const [, first] =
      /ARRAY\['([^']+)'/.exec(definition) ?? /ARRAY\[\(?(-?\d+)\)?/.exec(definition) ?? [];
    if (kind === 'c' && first !== undefined) tables.get(t)?.allowed.set(column, first);
  }
  return tables;
};

/** Texts that a program chose, not a person. */
const technical = new Set(
  'model engine kind subject_kind type state reason error_code color provider mime call channel'.split(
    ' ',
  ),
);

/** A value of a type, with the mark in it wherever it can hold words. */
const valueOf = (type: string, mark: string): unknown => {
  if (type === 'text' || type === 'varchar') return mark;
  if (type === 'jsonb') return JSON.stringify({ said: mark });
  if (type === '_text') return [mark];
  if (type === '_int4' || type === '_int8') return [1];
  if (type === 'bytea') return Buffer.concat([Buffer.from(mark), randomBytes(8)]);
  if (type === 'uuid') return crypto.randomUUID();
  if (type === 'date') return '2026-01-01';
  if (type === 'timestamptz') return '2036-01-01T00:00:00Z';
  if (type === 'bool') return false;
  return 1;
};

/**
 * Writes a row of a person into every table that can hold one, with the mark in all its words.
 * @param people columns that hold a person's number without a reference
 */
export const fillTables = async (
  client: pg.Client,
  {
    userId,
    mark,
    people,
    leaveOut,
    known,
  }: {
    userId: number;
    mark: string;
    people: readonly string[];
    leaveOut: readonly string[];
    /** Rows that are there already: a table's number of one. */
    known: ReadonlyMap<string, unknown>;
  },
): Promise<string[]> => {
  const tables = await describeTables(client);
  const made = new Map<string, unknown>(known);
  const faults: string[] = [];
  const left = [...tables.keys()].filter((name) => !leaveOut.includes(name) && !known.has(name));
  /** What a column means, also where no reference says so. */
  const meant = (name: string, column: string): string | undefined => {
    const thing = /^(.+)_id$/.exec(column)?.[1] ?? '';
    const other = tables.get(name)?.references.get(column);
    return other ?? [`${thing}s`, thing].find((each) => each !== name && tables.has(each));
  };
  const ready = (name: string) =>
    tables.get(name)!.columns.every((column) => {
      const other = meant(name, column.name);
      return other === undefined || other === name || !left.includes(other);
    });
  while (left.length > 0) {
    const name = left.find(ready) ?? left[0]!;
    left.splice(left.indexOf(name), 1);
    const { columns, allowed } = tables.get(name)!;
    const values: Record<string, unknown> = {};
    for (const column of columns) {
      if (column.generated) continue;
      const refers = meant(name, column.name);
      if (refers === 'users' || people.includes(column.name)) values[column.name] = userId;
      else if (refers !== undefined && refers !== name) values[column.name] = made.get(refers);
      else if (refers !== undefined) continue;
      else if (allowed.has(column.name)) values[column.name] = allowed.get(column.name);
      else if (technical.has(column.name) && column.type === 'text') values[column.name] = 'plain';
      // Names of stored files.
      else if (column.name.endsWith('key') && column.type === 'text')
        values[column.name] = randomBytes(20).toString('hex');
      else if (!column.filled || /text|jsonb|bytea|varchar/.test(column.type)) {
        if (column.nullable && /at$|until$/.test(column.name)) continue;
        values[column.name] = valueOf(column.type, `${mark}${randomBytes(4).toString('hex')}`);
      }
    }
    const names = Object.keys(values);
    try {
      const { rows } = await client.query<Record<string, unknown>>(
        `INSERT INTO ${name} (${names.join(', ')})
         VALUES (${names.map((_, nth) => `$${nth + 1}`).join(', ')}) RETURNING *`,
        Object.values(values),
      );
      const row = rows[0] ?? {};
      const first = columns[0]?.name ?? '';
      made.set(name, row['id'] ?? row[first]);
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`);
    }
  }
  return faults;
};

/** Tables in which a text stands somewhere, also within bytes. */
export const tablesWith = async (client: pg.Client, mark: string): Promise<string[]> => {
  const tables = await describeTables(client);
  const hex = Buffer.from(mark).toString('hex');
  const found: string[] = [];
  for (const name of tables.keys()) {
    const { rows } = await client.query<{ said: string }>(
      `SELECT t::text AS said FROM ${name} t
       WHERE t::text LIKE '%' || $1 || '%' OR t::text LIKE '%' || $2 || '%' LIMIT 1`,
      [mark, hex],
    );
    if (rows[0]) found.push(`${name}: ${rows[0].said.slice(0, 200)}`);
  }
  return found;
};
