import { PassThrough, type Readable } from 'node:stream';
import type { OnPart, Spoken } from '#server/engines/speech/speech-engine.ts';
import { Refusal } from '#server/http/handlers.ts';

/** A sound, maybe still being made. */
export interface Sound {
  mime: Spoken['mime'];
  stream: Readable;
  /** Bytes; null: not known before it is made. */
  size: number | null;
}

/**
 * A sound that can be heard from its first part on. It ends once `make` has, and breaks when that
 * fails; what fails before the first part is thrown.
 */
export const soundOf = (
  make: (onPart: OnPart) => Promise<void>,
  onBroken: (error: unknown) => void,
): Promise<Sound> =>
  new Promise((resolve, reject) => {
    const stream = new PassThrough();
    // Who hears it may leave; it is made all the same.
    stream.on('error', () => {});
    let begun = false;
    const hear: OnPart = (part, mime) => {
      if (!stream.destroyed) stream.write(part);
      begun = true;
      resolve({ mime, stream, size: null });
    };
    const run = async () => {
      try {
        await make(hear);
        stream.end();
        if (!begun) reject(new Refusal('engine_failed'));
      } catch (error) {
        if (begun) onBroken(error);
        reject(error);
        stream.destroy(error as Error);
      }
    };
    void run();
  });
