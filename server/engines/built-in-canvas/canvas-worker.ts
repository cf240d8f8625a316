import { setTimeout as sleep } from 'node:timers/promises';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { type CanvasIo, CanvasRefusal } from '#packages/canvas/task.ts';
import { workOn } from '#packages/canvas/work.ts';
import type { FromCanvas, ToCanvas } from './canvas-messages.ts';

/** Draws, so that nothing else in the server stands still meanwhile. */

/** Images so far are shown at most so often, ms. */
const previewPause = 250;

const running = new Map<number, AbortController>();
const send = (message: FromCanvas) => parentPort?.postMessage(message, []);

const ioOf = (id: number, seconds: number, signal: AbortSignal): CanvasIo => {
  const start = performance.now();
  let shown = -Infinity;
  return {
    progress: async (fraction, preview) => {
      // Messages are heard between two layers.
      await yieldTurn();
      signal.throwIfAborted();
      if (preview && performance.now() - shown >= previewPause) {
        shown = performance.now();
        send({ kind: 'progress', id, fraction, preview: await preview() });
      } else send({ kind: 'progress', id, fraction });
      const wait = start + seconds * 1000 * fraction - performance.now();
      if (wait > 1) await sleep(wait, undefined, { signal });
      signal.throwIfAborted();
    },
  };
};

parentPort?.on('message', (message: ToCanvas) => {
  if (message.kind === 'stop') {
    running.get(message.id)?.abort();
    return;
  }
  const { id, task, seconds } = message;
  const stop = new AbortController();
  running.set(id, stop);
  workOn(task, ioOf(id, seconds, stop.signal))
    .then(
      (answer) => send({ kind: 'done', id, answer }),
      (error: unknown) =>
        send({
          kind: 'failed',
          id,
          refused: error instanceof CanvasRefusal ? error.codeName : null,
          message: error instanceof Error ? error.message : 'unknown',
        }),
    )
    .finally(() => running.delete(id));
});
