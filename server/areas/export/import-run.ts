import { readImport } from './import-read.ts';
import type { ImportedMessage } from './import-shape.ts';

/** Messages in the order of their numbers to be: places count through all sessions. */
export interface MessageBatch {
  /** JSON of rows. */
  rows: string;
  sessions: number[];
  /** Places; -1: none. */
  before: number[];
  groups: number[];
}

export type FromImport =
  | { kind: 'messages'; batch: MessageBatch }
  /** JSON of sessions: `rows` of them. */
  | { kind: 'sessions'; rows: string; count: number }
  | { kind: 'done'; skipped: string[] }
  | { kind: 'unreadable'; json: boolean };

const batchOf = { rows: 500, characters: 1_000_000 };

const dataIn = (text: string): { data: unknown } | null => {
  try {
    const body: unknown = JSON.parse(text);
    const given = typeof body === 'object' && body !== null && Object.hasOwn(body, 'data');
    return { data: given ? (body as { data: unknown }).data : null };
  } catch {
    return null;
  }
};

/** Reads the text of a request's body, and tells what is in it piece by piece. */
export const runImport = (text: string, now: number, send: (message: FromImport) => void): void => {
  const body = dataIn(text);
  const read = body && readImport(body.data, now);
  if (!read) {
    send({ kind: 'unreadable', json: body !== null });
    return;
  }
  const { sessions } = read;
  for (let at = 0; at < sessions.length; at += batchOf.rows) {
    const part = sessions.slice(at, at + batchOf.rows);
    const rows = JSON.stringify(part.map((session) => ({ ...session, messages: undefined })));
    send({ kind: 'sessions', rows, count: part.length });
  }
  let batch: { message: ImportedMessage; session: number; offset: number }[] = [];
  let characters = 0;
  const flush = () => {
    if (batch.length === 0) return;
    const placed = (place: number, offset: number) => (place < 0 ? -1 : place + offset);
    send({
      kind: 'messages',
      batch: {
        rows: JSON.stringify(batch.map(({ message }) => message.row)),
        sessions: batch.map(({ session }) => session),
        before: batch.map(({ message, offset }) => placed(message.before, offset)),
        groups: batch.map(({ message, offset }) => placed(message.group, offset)),
      },
    });
    batch = [];
    characters = 0;
  };
  let offset = 0;
  for (const [session, { messages }] of sessions.entries()) {
    for (const message of messages) {
      const { human, ai, reasoning } = message.row;
      batch.push({ message, session, offset });
      characters += human.length + ai.length + reasoning.length;
      if (batch.length >= batchOf.rows || characters >= batchOf.characters) flush();
    }
    offset += messages.length;
  }
  flush();
  send({ kind: 'done', skipped: read.skipped });
};
