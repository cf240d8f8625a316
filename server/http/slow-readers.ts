import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on a connection behind the one that is answered: browsers send none. */
const mostWaiting = 32;

/**
 * Lets the requests of a connection be served one after the other, as their answers go: otherwise
 * all answers to requests that were sent at once are made, and kept until somebody takes the first.
 */
export const createTurns = () => {
  const turns = new WeakMap<Socket, { last: ServerResponse; waiting: number }>();
  return ({ socket }: IncomingMessage, response: ServerResponse, serve: () => void): void => {
    const turn = turns.get(socket);
    const before = turn?.last;
    if (!turn || !before || before.writableFinished || before.destroyed) {
      turns.set(socket, { last: response, waiting: 0 });
      serve();
      return;
    }
    turn.last = response;
    turn.waiting += 1;
    if (turn.waiting > mostWaiting) {
      socket.destroy();
      return;
    }
    before.once('close', () => {
      turn.waiting -= 1;
      if (!socket.destroyed) serve();
    });
  };
};

/** What the system took of what was written, and what waits for the other side to take it. */
const flowOf = (socket: Socket): { taken: number; waiting: number } => {
  // Of a large write the socket itself tells no progress; its handle does, as Node's own timeouts ask.
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null;
  };
  if (!handle) return { taken: socket.bytesWritten, waiting: 0 };
  return { taken: handle.bytesWritten - handle.writeQueueSize, waiting: handle.writeQueueSize };
};

/**
 * Ends connections whose other side takes nothing of what waits for it. One that is slow goes on,
 * and so does a silent stream of events, where nothing waits.
 */
export const endUnread = (
  server: Server,
  { after, every }: { after: number; every: number },
): void => {
  const open = new Map<Socket, { taken: number; since: number }>();
  server.on('connection', (socket: Socket) => {
    open.set(socket, { taken: 0, since: performance.now() });
    socket.once('close', () => open.delete(socket));
  });
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [socket, seen] of open) {
      const { taken, waiting } = flowOf(socket);
      if (waiting === 0 || taken !== seen.taken) {
        seen.taken = taken;
        seen.since = now;
      } else if (now - seen.since >= after) socket.destroy();
    }
  }, every);
  sweep.unref();
  server.once('close', () => clearInterval(sweep));
};
