import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from '#server/db/database.ts';
import { type Page, pageOf } from './batch.store.ts';
import { apiFileParts, apiFiles } from './batch.tables.ts';

/** Files of keys, each in pieces. Another key's are as if they were not there. */

export interface FileRow extends Record<string, unknown> {
  id: string;
  name: string;
  purpose: string;
  bytes: number;
  at: number;
}

const fileFields = sql.raw(
  'id, name, purpose, bytes, floor(extract(epoch FROM created_at))::float8 AS at',
);

/** Characters of a piece. */
const pieceLength = 256 * 1024;
/** Pieces that are written together. */
const piecesAtOnce = 4;

export interface FileWriter {
  write: (text: string) => Promise<void>;
  end: () => Promise<FileRow>;
}

/** Takes down a file as it comes. */
export const beginFile = async (
  tx: Transaction,
  file: { id: string; keyId: number; userId: number; name: string; purpose: string },
): Promise<FileWriter> => {
  await tx.insert(apiFiles).values({ ...file, bytes: 0 });
  const { id } = file;
  let rest = '';
  let part = 0;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const pieces: string[] = [];
    for (let at = 0; at < rest.length;) {
      let end = Math.min(rest.length, at + pieceLength);
      // Not between the halves of a character.
      if ((rest.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
      pieces.push(rest.slice(at, end));
      at = end;
    }
    rest = '';
    if (pieces.length === 0) return;
    const first = part;
    part += pieces.length;
    await tx
      .insert(apiFileParts)
      .values(pieces.map((content, at) => ({ fileId: id, part: first + at, content })));
  };
  return {
    async write(text: string): Promise<void> {
      bytes += Buffer.byteLength(text);
      rest += text;
      if (rest.length >= pieceLength * piecesAtOnce) await flush();
    },
    async end(): Promise<FileRow> {
      await flush();
      const { rows } = await tx.execute<FileRow>(sql`
        UPDATE api_files SET bytes = ${bytes} WHERE id = ${id} RETURNING ${fileFields}`);
      return rows[0]!;
    },
  };
};

/** Bytes and number of the files of a person. */
export const filesHeld = async (db: Executor, userId: number) => {
  const { rows } = await db.execute<{ bytes: number; count: number }>(sql`
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes, count(*)::int AS count FROM api_files
    WHERE user_id = ${userId}`);
  return rows[0] ?? { bytes: 0, count: 0 };
};

export const filesOf = async (
  db: Executor,
  keyId: number,
  page: Page,
  purpose: string | undefined,
): Promise<FileRow[]> => {
  const only = purpose === undefined ? sql`` : sql`AND purpose = ${purpose}`;
  const rows = sql`SELECT ${fileFields} ${pageOf('api_files', keyId, page, only)}`;
  return (await db.execute<FileRow>(rows)).rows;
};

export const findFile = async (db: Executor, keyId: number, id: string): Promise<FileRow | null> =>
  (
    await db.execute<FileRow>(
      sql`SELECT ${fileFields} FROM api_files WHERE id = ${id} AND key_id = ${keyId}`,
    )
  ).rows[0] ?? null;

/** What a file holds, a piece after the other; nothing more where it is gone meanwhile. */
export async function* piecesOf(db: Executor, id: string): AsyncGenerator<string> {
  for (let part = 0; ; part += 1) {
    const { rows } = await db.execute<{ content: string }>(
      sql`SELECT content FROM api_file_parts WHERE file_id = ${id} AND part = ${part}`,
    );
    const [row] = rows;
    if (!row) return;
    yield row.content;
  }
}

export const removeFile = async (db: Executor, keyId: number, id: string): Promise<boolean> =>
  ((await db.execute(sql`DELETE FROM api_files WHERE id = ${id} AND key_id = ${keyId}`)).rowCount ??
    0) > 0;
