/** A sound that can be heard before all of it is there. */
export interface Sound {
  /** To be given back (`URL.revokeObjectURL`). */
  url: string;
  /**
   * Waits until all of it has come; rejects where it broke off. Gives the sound in one where it is
   * too long to be kept in parts.
   */
  whole: Promise<Blob | null>;
}

export const playsInParts = (type: string): boolean =>
  typeof MediaSource !== 'undefined' && MediaSource.isTypeSupported(type);

const once = (target: EventTarget, name: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    target.addEventListener(name, () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** Plays what comes while it comes. */
export const soundInParts = (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  type: string,
  signal: AbortSignal,
): Sound => {
  const source = new MediaSource();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const fill = async (): Promise<Blob | null> => {
    // A player that takes it opens it.
    await once(source, 'sourceopen', signal);
    const buffer = source.addSourceBuffer(type);
    const reader = body.getReader();
    let full = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        if (done) break;
        parts.push(value);
        if (full) continue;
        try {
          buffer.appendBuffer(value);
        } catch (error) {
          if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error;
          full = true;
          continue;
        }
        await once(buffer, 'updateend', signal);
      }
    } finally {
      // What came is heard to its end.
      if (!full && parts.length > 0 && source.readyState === 'open') source.endOfStream();
    }
    return full ? new Blob(parts, { type }) : null;
  };
  return { url: URL.createObjectURL(source), whole: fill() };
};
