import { connect } from 'node:net';
import { timeLimit } from './time-limit.ts';

/** Bytes that are sent at once; clamd takes up to its StreamMaxLength in all. */
const pieceSize = 64 * 1024;

/**
 * Has a clamd look at a file, by INSTREAM over TCP (`tcp://host:port`). Gives the name of what it
 * found; empty: nothing. `patience`: until its answer, ms.
 * @throws Error where it cannot be reached or cannot say
 */
export const scanFile = async (url: string, data: Buffer, patience = 120_000): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), signal: timeLimit(patience) });
  const answer = (async () => {
    let said = '';
    for await (const piece of socket) said += String(piece);
    return said.replaceAll('\0', '').trim();
  })();
  // What it says before all was sent, such as that it is too much, counts more than a broken pipe.
  answer.catch(() => undefined);
  const send = (piece: Buffer | string): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  try {
    await send('zINSTREAM\0');
    for (let at = 0; at < data.length; at += pieceSize) {
      const piece = data.subarray(at, at + pieceSize);
      const size = Buffer.alloc(4);
      size.writeUInt32BE(piece.length);
      await send(size);
      await send(piece);
    }
    await send(Buffer.alloc(4));
  } catch {
    // Its answer, or that there is none, is told below.
  }
  try {
    const said = await answer;
    if (said === 'stream: OK') return '';
    const [, found] = /^stream: (.+) FOUND$/.exec(said) ?? [];
    if (found === undefined) throw new Error(`clamd could not say: ${said.slice(0, 200)}`);
    return found;
  } finally {
    socket.destroy();
  }
};
