import * as z from 'zod/mini';
import { call, slowCall, download, sessionRef, stream, text, most } from './call.ts';

export const exportFormat = z.enum(['pdf', 'markdown', 'json']);
export type ExportFormat = z.output<typeof exportFormat>;

/** How an export goes on: its progress, then the file, or why there is none. */
export const exportEvent = z.union([
  /** 0 to 1. */
  z.object({ progress: z.number() }),
  z.object({
    key: z.string(),
    name: z.string(),
    /** Bytes. */
    size: z.int(),
    /** Images that could not be had. */
    failed: z.array(z.string()),
  }),
  z.object({ code: z.string(), message: z.string() }),
]);
export type ExportEvent = z.output<typeof exportEvent>;

const ticket = z.optional(text(100));
/** Of whoever reads it, such as Asia/Shanghai; empty: China's. */
const timeZone = z._default(text(64), '');

/** Diagrams of a session that are drawn along, and bytes of a drawing's data URL. */
export const drawings = { most: 30, source: 12_000, image: 1_500_000 } as const;

export const exportCalls = {
  exportSession: stream({
    method: 'GET',
    path: '/api/export_session',
    access: 'public',
    summary: '导出会话：事件是进度，最后给出文件的 key',
    input: z.object({
      session_id: sessionRef,
      format: exportFormat,
      time_zone: timeZone,
      ticket,
    }),
    output: exportEvent,
    codes: ['private_session', 'session_deleted'],
  }),
  exportDiagrams: call({
    method: 'GET',
    path: '/api/export_diagrams',
    access: 'public',
    summary: '会话里的图表（Mermaid）原文，画好后随 export_session 的 POST 带来，就画进 PDF',
    input: z.object({ session_id: sessionRef }),
    output: z.object({ list: z.array(z.string()) }),
    codes: ['private_session', 'session_deleted'],
  }),
  exportDrawn: stream({
    method: 'POST',
    path: '/api/export_session',
    access: 'public',
    summary: '同 GET，另带画好的图表',
    maxBytes: 16 * 1024 * 1024,
    input: z.object({
      session_id: sessionRef,
      format: exportFormat,
      time_zone: timeZone,
      diagrams: z._default(
        z
          .array(z.object({ source: text(drawings.source), image: text(drawings.image) }))
          .check(z.maxLength(drawings.most)),
        [],
      ),
      ticket,
    }),
    output: exportEvent,
    codes: ['private_session', 'session_deleted'],
    effect: 'none',
  }),
  exportFile: download({
    path: '/api/export_file',
    access: 'public',
    summary: '下载导出的文件；一小时内有效',
    input: z.object({ key: text(64).check(z.regex(/^[\w-]{16,64}$/)), ticket }),
    output: z.unknown(),
  }),
  importSessions: slowCall({
    method: 'POST',
    path: '/api/import_sessions',
    access: 'user',
    writes: most,
    idempotent: true,
    summary: '导入鹊桥或 ChatGPT 导出的 JSON',
    maxBytes: 64 * 1024 * 1024,
    textBody: 'data',
    /** Read in a thread: to the handler `data` is the text of the whole body. */
    input: z.object({ data: z.unknown() }),
    output: z.object({
      sessions: z.int(),
      messages: z.int(),
      /** What could not be read, in Chinese. */
      skipped: z.array(z.string()),
      /** Of the first session; null when there is none. */
      uuid: z.nullable(z.string()),
    }),
    codes: ['import_unreadable', 'sessions_forbidden'],
  }),
};
