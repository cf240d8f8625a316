import { fileURLToPath } from 'node:url';
import type { In } from '#contract/calls.ts';
import type { ExportEvent, ExportFormat } from '#contract/export.ts';
import { requestOf, type TestClient } from './client.ts';

/** Makes an export and gives its events, the last being the file or why there is none. */
export const exportEvents = async (
  client: TestClient,
  sessionId: string,
  format: ExportFormat,
  more: Partial<In<'exportDrawn'>> = {},
): Promise<ExportEvent[]> => {
  const input = { session_id: sessionId, format, ...more };
  const { url, method, body, hasBody } = requestOf(
    more.diagrams ? 'exportDrawn' : 'exportSession',
    input,
  );
  const response = await fetch(client.baseURL + url, {
    method,
    headers: { ...client.headers(), ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return [JSON.parse(text) as ExportEvent];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => JSON.parse(line.slice(5)) as ExportEvent);
};

/** An exported file as its reader gets it. @throws Error when there is none */
export const exported = async (
  client: TestClient,
  sessionId: string,
  format: ExportFormat,
  more: Partial<In<'exportDrawn'>> = {},
) => {
  const events = await exportEvents(client, sessionId, format, more);
  const last = events.at(-1);
  if (!last || !('key' in last)) throw new Error(`no file: ${JSON.stringify(last)}`);
  const response = await fetch(`${client.baseURL}/api/export_file?key=${last.key}`);
  const data = Buffer.from(await response.arrayBuffer());
  return { ...last, data, headers: response.headers, status: response.status, events };
};

const folder = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/pdfjs-dist/${name}/`, import.meta.url));

/** The text of a PDF's pages as a reader would copy it, without white space. */
export const pdfText = async (
  data: Uint8Array,
): Promise<{ text: string; pages: number; links: string[] }> => {
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const document = await pdfjs.getDocument({
    data: new Uint8Array(data),
    cMapUrl: folder('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: folder('standard_fonts'),
    verbosity: 0,
  }).promise;
  let text = '';
  const links: string[] = [];
  for (let at = 1; at <= document.numPages; at++) {
    const page = await document.getPage(at);
    const { items } = await page.getTextContent();
    for (const item of items) if ('str' in item) text += item.str;
    for (const each of (await page.getAnnotations()) as { url?: string }[])
      if (each.url !== undefined) links.push(each.url);
  }
  const pages = document.numPages;
  await document.destroy();
  return { text: text.replaceAll(/\s+/g, ''), pages, links };
};
