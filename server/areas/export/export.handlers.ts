import type { ExportEvent } from '#contract/export.ts';
import { codes } from '#contract/errors.ts';
import type { Parsed } from '#contract/calls.ts';
import { disposition } from '#server/http/disposition.ts';
import { refusalOf } from '#server/http/failure.ts';
import { createFairQueue, type Waiter } from '#server/fair-queue.ts';
import { openEventStream } from '#server/http/event-stream.ts';
import type { Handlers, Identity } from '#server/http/handlers.ts';
import { originOf } from '#server/http/origin.ts';
import { createKeyLimit, networkKey } from '#server/http/rate-limit.ts';
import type { DiskRoom } from '#server/storage/disk-room.ts';
import type { ExportService } from './export.service.ts';
import type { ImportService } from './import.service.ts';

export interface ExportHandlersDeps {
  /** @throws Refusal storage_full */
  requireDisk: DiskRoom['require'];
  exports: ExportService;
  imports: ImportService;
  /** Where people reach this server; empty: as each request says. */
  publicUrl: string;
  /** Bytes of files that are made for one person, or for visitors of one address, in an hour. */
  room: number;
}

/** Files that are made at once: each stands in memory as a whole. */
const madeAtOnce = 4;
const kilobyte = 1024;
/** A byte of visitors counts so often: all of a network have a quarter of what a person has in an hour. */
const visitorShare = 4;

/** So often a waiting reader hears something, ms: proxies drop silent lines. */
const heartbeat = 15_000;
/** Progress is told in steps of at least this. */
const step = 0.01;
/** So long a session is looked through for diagrams, ms. */
const diagramsMs = 10_000;

/** As whom somebody waits: accounts without registering are as many as somebody likes. */
const exporterOf = (user: Identity | null, ip: string): Waiter =>
  user === null || user.guest
    ? { person: networkKey(ip), guest: true }
    : { person: `person ${user.id}`, guest: false };

export const createExportHandlers = ({
  exports,
  imports,
  publicUrl,
  requireDisk,
  room,
}: ExportHandlersDeps): Pick<
  Handlers,
  'exportSession' | 'exportDrawn' | 'exportDiagrams' | 'exportFile' | 'importSessions'
> => {
  const queue = createFairQueue(madeAtOnce);
  const limitBytes = createKeyLimit(Math.floor(room / kilobyte), 3_600, 'exports');

  const make = async (
    input: Omit<Parsed<'exportDrawn'>, 'ticket'>,
    { db, user, log, request, reply }: Parameters<Handlers['exportSession']>[1],
  ): Promise<void> => {
    const session = await exports.readable(db, input, user);
    const base = originOf(request, publicUrl);
    const who = exporterOf(user, request.ip);
    await requireDisk(who);
    const response = openEventStream(reply);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const tell = (event: ExportEvent) => {
      if (!gone.signal.aborted) response.write(`data: ${JSON.stringify(event)}\n\n`);
    };
    const beat = setInterval(() => response.write(': \n\n'), heartbeat);
    let told = 0;
    tell({ progress: 0 });
    try {
      const file = await queue(who, async () => {
        gone.signal.throwIfAborted();
        return exports.make(session, input.format, {
          who,
          db,
          user,
          base,
          timeZone: input.time_zone,
          diagrams: new Map(input.diagrams.map(({ source, image }) => [source, image])),
          signal: gone.signal,
          admit: (bytes) =>
            limitBytes(who.person, Math.ceil((bytes / kilobyte) * (who.guest ? visitorShare : 1))),
          onProgress: (done) => {
            if (done - told < step) return;
            told = done;
            tell({ progress: done });
          },
        });
      });
      tell(file);
    } catch (error) {
      if (!gone.signal.aborted) {
        const refusal = refusalOf(error);
        if (refusal.codeName === 'internal') log.error({ err: error }, 'an export failed');
        tell({ code: String(codes[refusal.codeName].code), message: refusal.message });
      }
    } finally {
      clearInterval(beat);
      response.end();
    }
  };
  return {
    exportSession: (input, context) => make({ ...input, diagrams: [] }, context),

    exportDrawn: make,

    exportDiagrams: async (input, { db, user, ip }) => {
      const session = await exports.readable(db, input, user);
      // All of a talk is read for it, which may be long.
      const list = await queue(exporterOf(user, ip), () =>
        exports.diagrams(db, session, AbortSignal.timeout(diagramsMs)),
      );
      return { list };
    },

    exportFile: async ({ key }, { db, reply }) => {
      const file = await exports.open(db, key);
      await reply
        .headers({
          'content-type': file.mime,
          'content-disposition': disposition(file.name),
          'content-length': file.size,
          'x-content-type-options': 'nosniff',
          'content-security-policy': "sandbox; default-src 'none'",
          'cache-control': 'private, no-store',
        })
        .send(file.stream);
    },

    importSessions: async ({ data }, { user }) => {
      await requireDisk(user);
      const read = await imports.read(data, user);
      return (db) => imports.keep(db, read, user);
    },
  };
};
