import { useCallback, useEffect, useRef, useState } from 'react';
import { errorText, isCancelled, isRefusedFile } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { prepareImage } from '#src/platform/attach/shrink-image.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import type { PickedImage } from './picked-image.ts';

/** An image on its way to the server. */
export interface Coming {
  id: string;
  name: string;
  /** Object URL; empty: none. */
  preview: string;
  /** 0 to 1. */
  progress: number;
  /** Why it did not get there; empty: it may yet. */
  error: string;
  /** The same image fails again. */
  refused: boolean;
}

type Send = (
  key: string,
  signal: AbortSignal,
  tell: (change: Partial<Coming>) => void,
) => Promise<PickedImage>;

/** Uploads what is given, makes large photos smaller before, and hands on what has arrived. */
export const useIntake = (onArrived: (image: PickedImage) => void) => {
  const [coming, setComing] = useState<readonly Coming[]>([]);
  const work = useRef(new Map<string, { send: Send; abort: AbortController }>());
  const arrived = useRef(onArrived);
  useEffect(() => {
    arrived.current = onArrived;
  });
  useEffect(() => {
    const running = work.current;
    return () => {
      for (const { abort } of running.values()) abort.abort();
    };
  }, []);

  const change = useCallback((id: string, next: Partial<Coming>) => {
    setComing((all) => all.map((each) => (each.id === id ? { ...each, ...next } : each)));
  }, []);
  const remove = useCallback((id: string) => {
    work.current.get(id)?.abort.abort();
    work.current.delete(id);
    setComing((all) => {
      const gone = all.find((each) => each.id === id);
      if (gone && gone.preview !== '') URL.revokeObjectURL(gone.preview);
      return all.filter((each) => each.id !== id);
    });
  }, []);
  const run = useCallback(
    async (id: string, send: Send) => {
      const abort = new AbortController();
      work.current.set(id, { send, abort });
      change(id, { error: '', progress: 0 });
      try {
        const image = await send(uuid(), abort.signal, (next) => change(id, next));
        remove(id);
        // Among one's own from now on.
        void refreshScreens();
        arrived.current(image);
      } catch (error) {
        if (isCancelled(error)) return;
        change(id, {
          error: error instanceof Error ? error.message : errorText(error),
          refused: isRefusedFile(error),
        });
      }
    },
    [change, remove],
  );
  const begin = useCallback(
    (name: string, send: Send) => {
      const id = uuid();
      setComing((all) => [
        ...all,
        { id, name, preview: '', progress: 0, error: '', refused: false },
      ]);
      return run(id, send);
    },
    [run],
  );

  const takeFiles = useCallback(
    (files: readonly File[]) => {
      const one = (file: File) =>
        begin(file.name || '图片', async (idempotencyKey, signal, tell) => {
          const { blob, name } = await prepareImage(file);
          tell({ preview: URL.createObjectURL(blob) });
          const { image } = await upload('uploadImage', blob, {
            fileName: name,
            idempotencyKey,
            signal,
            onProgress: (progress) => tell({ progress }),
            outlasts: true,
          });
          return image;
        });
      const all = async () => {
        // One after the other: a large photo takes much memory while it is made smaller.
        for (const file of files) await one(file);
      };
      void all();
    },
    [begin],
  );
  const takeAddress = useCallback(
    (url: string) => {
      void begin(new URL(url).hostname, async (idempotencyKey, signal) => {
        const { image } = await api.imageByUrl({ url }, { idempotencyKey, signal, quiet: true });
        return image;
      });
    },
    [begin],
  );
  const retry = (id: string) => {
    const known = work.current.get(id);
    if (known) void run(id, known.send);
  };
  return { coming, takeFiles, takeAddress, retry, remove };
};
