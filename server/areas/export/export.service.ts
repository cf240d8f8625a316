import { setImmediate as breathe } from 'node:timers/promises';
import { drawings, type ExportFormat } from '#contract/export.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Parsed } from '#contract/calls.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { diagramFits, diagramIsHeavy } from '#common/markdown/bounds.ts';
import { diagramsIn } from './pdf-markdown.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { seesHidden } from '../chat/access.ts';
import { namesAmong } from '../chat/spoken-to.ts';
import { standing, type Standing } from '../compliance/foot.ts';
import { markdownLabel } from '#server/labels/text.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import { readableSession, type SessionRow } from '../session/session.service.ts';
import type { Sign } from '../file/stored-images.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { newKey } from '#server/storage/storage.ts';
import * as store from './export.store.ts';
import { jsonMessage, jsonSession } from './json-format.ts';
import { createTextFile } from './text-file.ts';
import { markdownFoot, markdownHead, markdownMessage } from './markdown-format.ts';
import { house, type Waiter } from '#server/fair-queue.ts';
import { makePdfApart } from './pdf.ts';
import type { PdfMessage } from './pdf-document.ts';
import { diagramAddress } from './pdf-image.ts';
import { aboutText, dayText, pairsOf, timeText, zoneOf, type Talk, type Telling } from './talk.ts';

export interface ExportDeps {
  storage: Storage;
  sign: Sign;
  /** An own image as a JPEG; null where it cannot be had. Nothing is fetched from elsewhere. */
  image: (address: string, signal: AbortSignal) => Promise<Buffer | null>;
  /** What people call the models. */
  labels: (db: Executor) => Promise<ReadonlyMap<string, string>>;
}

export interface ExportWork {
  who: Waiter;
  db: Database | Executor;
  user: Identity | null;
  /** Address of this server, for links; empty: not known. */
  base: string;
  timeZone: string;
  /** Drawings of diagrams as data URLs, by what they are drawn from. */
  diagrams: ReadonlyMap<string, string>;
  onProgress: (done: number) => void;
  /** Whether there is room for a file of so many bytes. @throws Refusal too_many */
  admit: (bytes: number) => Promise<void>;
  signal: AbortSignal;
}

export interface ExportedFile {
  key: string;
  name: string;
  size: number;
  failed: string[];
}

/** How long a file can be fetched, s. */
const lives = 3600;
/** Rows that are read at once, and letters of them: a single message may have two million. */
const rowsAtOnce = { first: 4, most: 200, letters: 1_000_000 };
/** Messages in one piece for the thread that makes a PDF: its progress moves with each. */
const messagesAPiece = 20;

const kinds: Readonly<Record<ExportFormat, { ending: string; mime: string }>> = {
  pdf: { ending: 'pdf', mime: 'application/pdf' },
  markdown: { ending: 'md', mime: 'text/markdown; charset=utf-8' },
  json: { ending: 'json', mime: 'application/json; charset=utf-8' },
};

/** A title as a file's name: no folders, no marks that turn the writing, at most 60 characters. */
export const fileName = (title: string, day: string, ending: string): string => {
  const plain = title
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\/:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  const short = Array.from(plain).slice(0, 60).join('').trim() || '鹊桥对话';
  return `${short} ${day}.${ending}`;
};

/** Of work that is not about a file for somebody. */
const quiet = {
  who: house,
  base: '',
  timeZone: '',
  diagrams: new Map<string, string>(),
  onProgress: () => {},
  admit: async () => {},
};

/** The label of what leaves of a session; null: people alone wrote in it. */
const labelOf = async ({ db, user }: ExportWork, session: SessionRow) =>
  session.type === sessionTypes.people
    ? null
    : makeLabel(db, { kind: 'export', userId: user?.id ?? null, model: session.model });

async function* rowsOf({ db, signal }: ExportWork, what: store.Wanted) {
  let after = 0;
  for (let count = rowsAtOnce.first; ;) {
    signal.throwIfAborted();
    const rows = await store.listRows(db, what, after, count);
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1)?.id ?? after;
    const letters = rows.reduce(
      (sum, { human, ai, reasoning }) => sum + human.length + ai.length + reasoning.length,
      0,
    );
    count = letters > rowsAtOnce.letters ? 1 : Math.min(rowsAtOnce.most, count * 2);
  }
}

/** The shown messages, each with its answers; partners never stand in different pieces. */
async function* talks(
  work: ExportWork,
  session: SessionRow,
  { label }: Telling,
): AsyncGenerator<Talk[]> {
  const viewer = work.user?.id ?? null;
  let open: store.ExportRow[] = [];
  for await (const rows of rowsOf(work, { sessionId: session.id, all: false })) {
    open.push(...rows);
    const last = open.at(-1);
    // The last message's partner may still come.
    const keep =
      last && last.besideGroup !== 0
        ? open.filter((row) => row.besideGroup === last.besideGroup)
        : [];
    yield pairsOf(
      open.filter((row) => !keep.includes(row)),
      label,
      viewer,
    );
    open = keep;
  }
  if (open.length > 0) yield pairsOf(open, label, viewer);
}

const toJson = async (
  work: ExportWork,
  session: SessionRow,
  total: number,
  { all, viewer } = {
    all: seesHidden(session, work.user),
    viewer: work.user?.id ?? null,
  },
): Promise<Buffer> => {
  const file = createTextFile();
  let done = 0;
  for await (const rows of rowsOf(work, { sessionId: session.id, all })) {
    const names = await namesAmong(work.db, rows, viewer);
    for (const row of rows) {
      await file.add(
        `${done === 0 ? '' : ',\n'}${JSON.stringify(jsonMessage(row, viewer, names))}`,
      );
      done += 1;
    }
    work.onProgress(Math.min(1, done / Math.max(1, total)));
  }
  const { before, after } = jsonSession(session, await labelOf(work, session));
  return file.end(before, after);
};

const toMarkdown = async (
  work: ExportWork,
  session: SessionRow,
  total: number,
  telling: Telling,
  stands: Standing,
): Promise<Buffer> => {
  const file = createTextFile();
  let done = 0;
  for await (const pieces of talks(work, session, telling)) {
    for (const talk of pieces) await file.add(`\n${markdownMessage(talk, work.base, telling)}`);
    done += pieces.length;
    work.onProgress(Math.min(1, done / Math.max(1, total)));
  }
  const label = await labelOf(work, session);
  const after = [
    ...(stands.foot === '' ? [] : [markdownFoot(stands.foot)]),
    ...(label ? [markdownLabel(label)] : []),
  ];
  return file.end(
    markdownHead(session, total, telling, stands.mark),
    after.map((part) => `\n${part}`).join(''),
  );
};

const pdfMessage = (talk: Talk, { timeZone }: Telling): PdfMessage => ({
  speaker: talk.speaker,
  time: timeText(talk.time, timeZone),
  title: talk.title,
  text: talk.text,
  images: talk.images,
  files: talk.files,
  answers: talk.answers,
});

const toPdf = async (
  image: ExportDeps['image'],
  work: ExportWork,
  session: SessionRow,
  total: number,
  telling: Telling,
  stands: Standing,
) => {
  const label = await labelOf(work, session);
  async function* pieces() {
    for await (const each of talks(work, session, telling))
      for (let at = 0; at < each.length; at += messagesAPiece)
        yield each.slice(at, at + messagesAPiece).map((talk) => pdfMessage(talk, telling));
  }
  return makePdfApart({
    who: work.who,
    head: {
      title: session.prompt || '鹊桥对话',
      about: aboutText(session, total, telling),
      base: work.base,
      count: total,
      diagrams: [...work.diagrams.keys()],
      label,
      mark: stands.mark,
      foot: stands.foot,
    },
    messages: pieces(),
    image: (address, signal) =>
      image(
        address.startsWith(diagramAddress)
          ? (work.diagrams.get(address.slice(diagramAddress.length)) ?? '')
          : address,
        signal,
      ),
    onProgress: work.onProgress,
    signal: work.signal,
  });
};

export const createExportService = ({ storage, sign, image, labels }: ExportDeps) => {
  return {
    /** The session, for somebody who may read it. @throws Refusal as get_session; not_found for a temporary one */
    async readable(
      db: Executor,
      { session_id: ref }: Parsed<'exportDiagrams'>,
      user: Identity | null,
    ): Promise<SessionRow> {
      const session = await readableSession(db, ref, user);
      if (session.temporary) throw new Refusal('not_found', '临时对话没有保存，不能导出');
      return session;
    },

    /** The diagrams of its shown messages, each once, as far as they are drawn along. */
    async diagrams(db: Executor, session: SessionRow, signal: AbortSignal): Promise<string[]> {
      const found = new Set<string>();
      const work = { ...quiet, db, user: null, signal };
      for await (const pieces of talks(work, session, { timeZone: '', label: String }))
        for (const { answers } of pieces)
          for (const { text } of answers) {
            for (const source of diagramsIn(text)) {
              if (found.size >= drawings.most) return [...found];
              if (
                source.length <= drawings.source &&
                diagramFits(source) &&
                !diagramIsHeavy(source)
              )
                found.add(source);
            }
            await breathe();
            signal.throwIfAborted();
          }
      return [...found];
    },

    /** All of a session as its owner may have it. */
    json: (db: Executor, session: SessionRow, signal: AbortSignal): Promise<Buffer> =>
      toJson({ ...quiet, db, user: null, signal }, session, 1, {
        // Among people nothing branches: what is not shown has not arrived.
        all: session.type !== sessionTypes.people,
        viewer: session.userId,
      }),

    /** Makes the file and keeps it for an hour. @throws Refusal; the signal's reason */
    async make(session: SessionRow, format: ExportFormat, work: ExportWork): Promise<ExportedFile> {
      const { count: total, bytes } = await store.sizeOf(work.db, {
        sessionId: session.id,
        all: format === 'json',
      });
      // Before the work, which costs as much where its file is refused.
      await work.admit(bytes);
      const names = await labels(work.db);
      const telling: Telling = {
        timeZone: zoneOf(work.timeZone),
        label: (model) => names.get(model) ?? model,
      };
      const stands = await standing(work.db, session.type !== sessionTypes.people);
      let data: Buffer;
      let failed: string[] = [];
      if (format === 'json') data = await toJson(work, session, total);
      else if (format === 'markdown')
        data = await toMarkdown(work, session, total, telling, stands);
      else ({ data, failed } = await toPdf(image, work, session, total, telling, stands));
      const { ending, mime } = kinds[format];
      data = await sign(data, mime);
      work.signal.throwIfAborted();
      await work.admit(Math.max(0, data.length - bytes));
      const key = newKey();
      const storageKey = `${newKey()}.${ending}`;
      const name = fileName(session.prompt, dayText(new Date(), telling.timeZone), ending);
      await storage.put(storageKey, data, mime);
      const size = data.length;
      const userId = work.user?.id ?? null;
      await store.insertDownload(work.db, {
        key,
        userId,
        sessionId: session.id,
        storageKey,
        name,
        mime,
        size,
        lives,
      });
      return { key, name, size, failed };
    },

    /** @throws Refusal not_found for a key that nobody has or that is too old */
    async open(db: Executor, key: string) {
      const row = await store.findDownload(db, key);
      const file = row && (await storage.get(row.storageKey));
      if (!row || !file) throw new Refusal('not_found', '文件已过期，请重新导出');
      return { ...file, name: row.name, mime: row.mime };
    },

    /** Housekeeping: takes away the files that can no longer be fetched. */
    async removeExpired(db: Executor): Promise<void> {
      for (const storageKey of await store.removeExpired(db)) await storage.delete(storageKey);
    },
  };
};

export type ExportService = ReturnType<typeof createExportService>;
