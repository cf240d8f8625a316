import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a line between browser and server does with a request. */
export type LineState =
  | 'well'
  /** Nothing answers. */
  | 'down'
  /** The server says that it is not there. */
  | 'busy'
  /** The server gets it and does it; the answer never arrives. */
  | 'deaf'
  /** The answer comes, seconds late. */
  | 'late';

export interface FaultyLine {
  baseURL: string;
  state: LineState;
  close: () => Promise<void>;
}

const lateBy = 3_000;

/** A line to a server that can be spoiled at any time. Only what is written is spoiled, unless it is down. */
export const openLine = async (target: string, port = 0): Promise<FaultyLine> => {
  const pass = (from: IncomingMessage, to: ServerResponse, state: LineState) => {
    const forward = request(
      new URL(from.url ?? '/', target),
      { method: from.method ?? 'GET', headers: { ...from.headers, host: new URL(target).host } },
      (answer) => {
        const give = () => {
          to.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(to);
        };
        if (state === 'deaf') {
          answer.resume();
          answer.on('end', () => to.destroy());
        } else if (state === 'late') setTimeout(give, lateBy);
        else give();
      },
    );
    forward.on('error', () => to.destroy());
    to.on('close', () => forward.destroy());
    from.pipe(forward);
  };
  const line: { state: LineState } = { state: 'well' };
  const server = createServer((from, to) => {
    const writes = from.method !== 'GET' && (from.url ?? '').startsWith('/api/');
    if (line.state === 'down') from.socket.destroy();
    else if (line.state === 'busy' && writes) {
      from.resume();
      to.writeHead(503, { 'content-type': 'application/json' });
      to.end(JSON.stringify({ code: 503, message: '服务暂时不可用，请稍后重试', data: null }));
    } else pass(from, to, writes ? line.state : 'well');
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  return Object.assign(line, {
    baseURL: `http://127.0.0.1:${own}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
};
