import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

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
  | 'late'
  /** It is connected, and nothing at all comes through, not even of what was being answered. */
  | 'hangs';

export interface FaultyLine {
  baseURL: string;
  state: LineState;
  /** The path after whose answer it hangs. */
  hangsAfter: string;
  /** Bytes a second that leave the browser; Infinity: as they come. */
  upSpeed: number;
  /** Nobody answers any more, and what was being answered breaks off. */
  cut: () => void;
  close: () => Promise<void>;
}

const lateBy = 3_000;

/** A line to a server that can be spoiled at any time. Only what is written is spoiled, unless it is down or hangs. */
export const openLine = async (target: string, port = 0): Promise<FaultyLine> => {
  const line: Pick<FaultyLine, 'state' | 'hangsAfter' | 'upSpeed'> = {
    state: 'well',
    hangsAfter: '',
    upSpeed: Infinity,
  };
  /** What hung once stays so: its connection is dead, although neither side knows. */
  const held = (dead: { is: boolean }) =>
    new Transform({
      transform: (chunk, _, done) => {
        dead.is ||= line.state === 'hangs';
        if (!dead.is) done(null, chunk);
      },
    });
  const slowed = () =>
    new Transform({
      highWaterMark: 1_024,
      transform: (chunk: Buffer, _, done) => {
        const wait = line.upSpeed === Infinity ? 0 : (chunk.length / line.upSpeed) * 1_000;
        if (wait === 0) done(null, chunk);
        else setTimeout(done, wait, null, chunk);
      },
    });
  const pass = (from: IncomingMessage, to: ServerResponse, state: LineState) => {
    const dead = { is: false };
    const forward = request(
      new URL(from.url ?? '/', target),
      { method: from.method ?? 'GET', headers: { ...from.headers, host: new URL(target).host } },
      (answer) => {
        const give = () => {
          to.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(held(dead)).pipe(to);
          if (line.hangsAfter !== '' && from.url?.startsWith(line.hangsAfter))
            to.on('finish', () => (line.state = 'hangs'));
        };
        if (state === 'deaf') {
          answer.resume();
          answer.on('end', () => to.destroy());
        } else if (line.state === 'hangs') dead.is = true;
        else if (state === 'late') setTimeout(give, lateBy);
        else give();
      },
    );
    forward.on('error', () => to.destroy());
    to.on('close', () => forward.destroy());
    from.pipe(slowed()).pipe(forward);
  };
  const server = createServer((from, to) => {
    const writes = from.method !== 'GET' && (from.url ?? '').startsWith('/api/');
    if (line.state === 'hangs') from.resume();
    else if (line.state === 'down') from.socket.destroy();
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
    cut: () => {
      line.state = 'down';
      server.closeAllConnections();
    },
    baseURL: `http://127.0.0.1:${own}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
};
