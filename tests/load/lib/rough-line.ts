import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What the line does with the bytes of a connection, whatever they say. */
export type RoughState =
  | 'well'
  /** What was open breaks off, and nothing new is answered. */
  | 'down'
  /** It connects, and nothing comes through any more, not even of what was open. */
  | 'silent'
  /** So many bytes a second for all connections together, each way. */
  | 'slow';

export interface RoughLine {
  baseURL: string;
  get: () => RoughState;
  set: (state: RoughState) => void;
  close: () => Promise<void>;
}

const slowBytes = 20_000;

/** A line of bytes to a server, as a phone has it, that can be spoiled at any time. */
export const openRoughLine = async (target: string): Promise<RoughLine> => {
  const to = new URL(target);
  let state: RoughState = 'well';
  const pairs = new Set<{ near: Socket; far: Socket; dead: boolean }>();
  // When the bytes that were let through have passed, each way, ms.
  const passed = { up: 0, down: 0 };
  const waitFor = (way: 'up' | 'down', bytes: number): number => {
    if (state !== 'slow') return 0;
    const now = performance.now();
    passed[way] = Math.max(now, passed[way]) + (bytes / slowBytes) * 1_000;
    return passed[way] - now;
  };
  const server = createServer((near) => {
    if (state === 'down') {
      near.on('error', () => undefined);
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(to.port), to.hostname);
    const pair = { near, far, dead: state === 'silent' };
    pairs.add(pair);
    const pass = (from: Socket, into: Socket, way: 'up' | 'down') => {
      from.on('data', (chunk: Buffer) => {
        if (pair.dead) return;
        const wait = waitFor(way, chunk.length);
        if (wait === 0) {
          into.write(chunk);
          return;
        }
        from.pause();
        setTimeout(() => {
          if (!pair.dead) into.write(chunk);
          from.resume();
        }, wait);
      });
      from.on('error', () => into.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        if (!pair.dead) into.end();
      });
    };
    pass(near, far, 'up');
    pass(far, near, 'down');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const end = () => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
    pairs.clear();
  };
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get: () => state,
    set: (next) => {
      state = next;
      if (next === 'down') end();
      // What has hung once stays so: the connection is dead, although neither side knows.
      if (next === 'silent') for (const pair of pairs) pair.dead = true;
    },
    close: async () => {
      end();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
};
