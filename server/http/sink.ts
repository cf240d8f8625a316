import type { ServerResponse } from 'node:http';

/** The part of an HTTP response that a reader needs. */
export interface Sink {
  /** False: the other side is slow, wait for `drain`. */
  write: (frame: string) => boolean;
  end: () => void;
  destroy: () => void;
  once: (event: 'drain', listener: () => void) => unknown;
}

/**
 * Where a stream is written. Node writes a chunk of a response in four pieces; here each frame goes
 * to the socket as one, which takes half the time. The response's head must have been sent.
 */
export const sinkOf = (response: ServerResponse): Sink => {
  const { socket } = response;
  // A pipelined request has no socket yet, and HTTP/1.0 knows no chunks.
  if (!socket || !response.chunkedEncoding) return response;
  return {
    write: (frame) =>
      socket.write(`${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`, 'utf8'),
    end: () => response.end(),
    destroy: () => response.destroy(),
    once: (event, listener) => socket.once(event, listener),
  };
};
