import { saveFrom } from '#src/platform/save-file.ts';
import type { ExportEvent, ExportFormat } from '#contract/export.ts';
import { ApiError, errorText, offlineText, openEnvelope } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { callTable } from '#common/call-table.ts';
import { createStore, useStore } from '#src/platform/store.ts';
import { toast } from '#src/platform/toast.ts';

import type { DrawnDiagram } from './diagram-images.ts';

export interface ExportJob {
  format: ExportFormat;
  /** 0 to 1. */
  progress: number;
  /** The file, once it is there; fetched from `href` within an hour. */
  file: { name: string; size: number; href: string } | null;
  /** Addresses of images that could not be had. */
  failed: readonly string[];
  /** Why there is no file; empty: it is being made, or there. */
  error: string;
}

/** The exports of this page by session and format; they go on while no sheet shows them. */
const jobs = createStore<Readonly<Record<string, ExportJob>>>({});
const running = new Map<string, AbortController>();
/** The sheets that are open: what they show needs no toast. */
const watched = new Map<string, number>();

const keyOf = (sessionUuid: string, format: ExportFormat): string => `${sessionUuid}/${format}`;

const put = (key: string, change: Partial<ExportJob>) => {
  const job = jobs.get()[key];
  if (job) jobs.set({ ...jobs.get(), [key]: { ...job, ...change } });
};

const drop = (key: string) => {
  const { [key]: _, ...rest } = jobs.get();
  jobs.set(rest);
};

/** The events of a stream of `data:` lines, as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<ExportEvent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('data:')) yield JSON.parse(line.slice(5)) as ExportEvent;
  }
}

/** The session's diagrams, drawn here: only a browser can. */
const diagramsOf = async (sessionUuid: string, signal: AbortSignal): Promise<DrawnDiagram[]> => {
  const { list } = await api.exportDiagrams({ session_id: sessionUuid }, { signal, quiet: true });
  if (list.length === 0) return [];
  const { drawDiagrams } = await import('./diagram-images.ts');
  // Without them the sources stand in the file.
  return drawDiagrams(list).catch(() => []);
};

const open = async (
  sessionUuid: string,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<Response> => {
  const diagrams = format === 'pdf' ? await diagramsOf(sessionUuid, signal) : [];
  const { token } = authStore.get();
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const input = { session_id: sessionUuid, format, time_zone };
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const path = callTable.exportSession.path;
  const response = await (
    diagrams.length === 0
      ? fetch(`${path}?${new URLSearchParams(input).toString()}`, { headers, signal })
      : fetch(path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ ...input, diagrams }),
          signal,
        })
  ).catch(() => {
    throw new ApiError(0, offlineText, 0);
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  openEnvelope(response.status, await response.json().catch(() => undefined));
  throw new ApiError(500, '导出没有完成，请重试', response.status);
};

const run = async (key: string, sessionUuid: string, format: ExportFormat, signal: AbortSignal) => {
  const response = await open(sessionUuid, format, signal);
  for await (const event of eventsOf(response)) {
    if ('progress' in event) put(key, { progress: event.progress });
    else if ('code' in event) throw new ApiError(500, event.message, 200);
    else {
      const href = `${callTable.exportFile.path}?key=${event.key}`;
      const { name, size, failed } = event;
      put(key, { progress: 1, file: { name, size, href }, failed });
      if ((watched.get(sessionUuid) ?? 0) > 0) saveFrom(href, name);
      else toast('导出完成', 'success', { label: '下载', run: () => saveFrom(href, name) });
      return;
    }
  }
  throw new ApiError(0, '连接中断，请重试', 0);
};

/** Begins an export, unless it is at it already. */
export const startExport = (sessionUuid: string, format: ExportFormat): void => {
  const key = keyOf(sessionUuid, format);
  if (running.has(key)) return;
  const abort = new AbortController();
  running.set(key, abort);
  const job: ExportJob = { format, progress: 0, file: null, failed: [], error: '' };
  jobs.set({ ...jobs.get(), [key]: job });
  void run(key, sessionUuid, format, abort.signal)
    .catch((error: unknown) => {
      if (abort.signal.aborted) return;
      const text = errorText(error);
      put(key, { error: text });
      if ((watched.get(sessionUuid) ?? 0) === 0) toast(`导出没有完成：${text}`, 'error');
    })
    .finally(() => {
      if (running.get(key) === abort) running.delete(key);
    });
};

/** Stops an export, or puts away what it gave. */
export const dropExport = (sessionUuid: string, format: ExportFormat): void => {
  const key = keyOf(sessionUuid, format);
  running.get(key)?.abort();
  running.delete(key);
  drop(key);
};

/** Says that a session's exports are being looked at; gives the end of that. */
export const watchExports = (sessionUuid: string): (() => void) => {
  const change = (by: number) => watched.set(sessionUuid, (watched.get(sessionUuid) ?? 0) + by);
  change(1);
  return () => change(-1);
};

export const useExportJob = (sessionUuid: string, format: ExportFormat): ExportJob | undefined =>
  useStore(jobs)[keyOf(sessionUuid, format)];
