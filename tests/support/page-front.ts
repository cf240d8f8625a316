import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface PageFront {
  /** Its address; goes where localhost goes, so that service workers run. */
  baseURL: string;
  /** From now on nobody answers, as if the server were gone. */
  goAway: () => void;
  comeBack: () => void;
  /**
   * Another build is deployed: the chunk of 我的 has another name, the old name is gone, and with it
   * changes all that refers to it: the page, the worker and its list.
   */
  deploy: () => void;
  /** From now on a page's body comes so long after its head, ms. */
  holdBodies: (ms: number) => void;
  /** The names that the chunk of 我的 was asked for by, since the last call of this. */
  takeAsked: () => string[];
  close: () => Promise<void>;
}

/** Names of the build that are changed by the next. */
const chunk = /account-screen-[\w-]{8}\.js/g;
const nextName = (name: string) => name.replace(/-[\w-]{8}\.js$/, '-NextOne0.js');
const mark = '<meta name="build" content="2" />';

/** Of the page itself: what the next build changes. */
const isPageText = (path: string): boolean =>
  !/^\/(api|v1|files)\//.test(path) && (/\.(js|html)$/.test(path) || !/\.\w+$/.test(path));

/** The text of a file in the next build. The revision of index.html follows its content. */
const rewrite = (text: string): string =>
  text
    .replace('<title>', `${mark}<title>`)
    .replace(/("revision":")\w+("\s*,\s*"url":"\/index\.html")/, '$1build2$2')
    .replaceAll(chunk, nextName);

/** Stands before a running server; everything goes through, until it is told otherwise. */
export const startPageFront = async (upstream: string): Promise<PageFront> => {
  const target = new URL(upstream);
  let build = 1;
  let away = false;
  let held = 0;
  let asked: string[] = [];
  let renamed = '';
  const sockets = new Set<Socket>();

  const server = http.createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const wanted = /account-screen-[\w-]{8}\.js$/.exec(path)?.[0];
    let url = request.url ?? '/';
    if (wanted) {
      asked.push(wanted);
      if (build === 1) renamed = wanted;
      else if (wanted === renamed) {
        response.writeHead(404).end();
        return;
      } else url = url.replace(wanted, renamed);
    }
    const isPage = request.headers.accept?.startsWith('text/html') === true;
    const change =
      request.method === 'GET' && ((build > 1 && isPageText(path)) || (held > 0 && isPage));
    const headers = { ...request.headers, host: target.host };
    // What is changed must be read, and is not to be answered "as you have it".
    if (change)
      for (const name of ['accept-encoding', 'if-none-match', 'if-modified-since'])
        delete headers[name as keyof typeof headers];
    const onward = http.request(
      { host: target.hostname, port: target.port, method: request.method, path: url, headers },
      (answer) => {
        if (!change) {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
          return;
        }
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const { 'content-length': _, etag: __, 'last-modified': ___, ...rest } = answer.headers;
          response.writeHead(answer.statusCode ?? 502, rest);
          const text = Buffer.concat(parts).toString('utf8');
          const whole = build > 1 ? rewrite(text) : text;
          const body = held > 0 && isPage ? whole.indexOf('<body') : 0;
          response.write(whole.slice(0, body));
          setTimeout(() => response.end(whole.slice(body)), body > 0 ? held : 0);
        });
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.on('connection', (socket) => {
    if (away) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}`,
    goAway: () => {
      away = true;
      for (const socket of sockets) socket.destroy();
    },
    comeBack: () => {
      away = false;
    },
    deploy: () => {
      build = 2;
    },
    holdBodies: (ms) => {
      held = ms;
    },
    takeAsked: () => asked.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
