import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from './database.ts';

/** A file that may be cleared away, if no area shows it. */
export interface StoredUpload {
  id: string;
  kind: 'image' | 'text' | 'other';
  key: string;
  /** Its address; a text has none. */
  url: string;
  user_id: number;
}

/** Which of these files an area shows somewhere: their ids. */
export type Shows = (db: Executor, files: readonly StoredUpload[]) => Promise<readonly string[]>;

/** Those of which it holds; `f` stands for the file: f.id, f.kind, f.key, f.url, f.user_id. */
export const showsWhere =
  (holds: SQL): Shows =>
  async (db, files) => {
    const { rows } = await db.execute<{ id: string }>(sql`
      SELECT f.id FROM jsonb_to_recordset(${JSON.stringify(files)}::jsonb)
        AS f (id uuid, kind text, key text, url text, user_id bigint)
      WHERE ${holds}`);
    return rows.map(({ id }) => id);
  };

/** The file is named in a text: `text` of the rows that `from` gives. */
export const namedIn = (text: SQL, from: SQL): SQL => sql`f.key IN (
  SELECT found[1] FROM (SELECT ${text} AS said FROM ${from}) named,
    regexp_matches(said, '/files/([0-9a-f]{40})\\.(?:png|jpg|bin)', 'g') found
  WHERE said LIKE '%/files/%')`;
