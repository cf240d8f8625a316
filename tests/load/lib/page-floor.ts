import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/**
 * The least that a page can do with a reply: no framework, no Markdown; each line is an element,
 * text is added once a frame, the list stays at its end. What a real page costs is told in its terms.
 */
const html = `<!doctype html><html lang="zh-CN"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>floor</title>
<link rel="icon" href="data:,">
<style>body{margin:0;font:15.5px/1.6 system-ui}main{height:calc(100dvh - 60px);overflow-y:auto}
main p{margin:0;min-height:1em;padding:0 14px;overflow-wrap:anywhere}textarea{width:90%;height:40px}</style>
<main></main><textarea></textarea><script src="/floor.js"></script></html>`;

const script = `
const list = document.querySelector('main'), box = document.querySelector('textarea');
box.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); void send(box.value); box.value = ''; } });
let buffer = '', frame = 0, line = null;
const paint = () => {
  frame = 0;
  const parts = buffer.split('\\n'); buffer = '';
  parts.forEach((part, at) => {
    if (at > 0 || !line) { line = document.createElement('p'); line.dataset.reply = ''; line.append(''); list.append(line); }
    line.firstChild.data += part;
  });
  list.scrollTop = list.scrollHeight;
};
const send = async (prompt) => {
  const response = await fetch('/relay', { method: 'POST', body: prompt });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\\n'); rest = lines.pop();
    for (const each of lines) {
      if (!each.startsWith('data: {')) continue;
      buffer += JSON.parse(each.slice(6)).choices?.[0]?.delta?.content ?? '';
      frame ||= requestAnimationFrame(paint);
    }
  }
};`;

export interface Floor {
  baseURL: string;
  close: () => Promise<void>;
}

/** @param upstream Base address of the model service, `/v1` included. */
export const startFloor = async (upstream: string): Promise<Floor> => {
  const server = createServer((request, response) => {
    const relay = async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const answer = await fetch(`${upstream}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'mock',
          stream: true,
          messages: [{ role: 'user', content: Buffer.concat(parts).toString('utf8') }],
        }),
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (answer.body) Readable.fromWeb(answer.body as ReadableStream).pipe(response);
    };
    if (request.method === 'POST') {
      relay().catch(() => response.destroy());
      return;
    }
    const isScript = request.url === '/floor.js';
    response.writeHead(200, {
      'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8',
      'cache-control': isScript ? 'max-age=3600' : 'no-cache',
    });
    response.end(isScript ? script : html);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
