import { ApiError, errorText, isCancelled, isOffline } from '#src/platform/api-error.ts';
import { prepareImage } from '#src/platform/attach/shrink-image.ts';
import {
  bytesOf,
  dropFiles,
  keptFiles,
  keepFile,
  type KeptFile,
} from '#src/platform/kept-files.ts';
import { onLineWell } from '#src/platform/line.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import { useCallback, useEffect, useRef, useState } from 'react';
import { notHere, tellFull } from './file-upload.ts';

/** Where the storage of the device has no room, the page alone has them. */
const inPage = new Map<string, File>();

const send = async ({ id, name }: KeptFile, signal: AbortSignal): Promise<string> => {
  const bytes = inPage.get(id) ?? (await bytesOf(id));
  if (!bytes) throw new Error(notHere);
  const { blob, name: fileName } = await prepareImage(new File([bytes], name));
  const { image } = await upload('uploadImage', blob, { fileName, idempotencyKey: id, signal });
  return image.url;
};

/**
 * Pictures on their way to a style, one after the other; kept on this device until they are there: a
 * project that is opened again goes on with them.
 * @param onPicture resolves once the address is kept: only then the file is forgotten
 */
export const usePictureUpload = (projectId: number, onPicture: (url: string) => Promise<void>) => {
  const place = `pictures:${projectId}`;
  /** What is said meanwhile; empty: nothing is on its way. */
  const [told, setTold] = useState('');
  const [halted, setHalted] = useState(false);
  const running = useRef<AbortController | null>(null);
  const arrived = useRef(onPicture);
  useEffect(() => {
    arrived.current = onPicture;
  });

  const goOn = useCallback(async (): Promise<void> => {
    if (running.current) return;
    const turn = new AbortController();
    running.current = turn;
    setHalted(false);
    for (let nth = 1; keptFiles(place).length > 0; nth += 1) {
      const [next, ...others] = keptFiles(place);
      if (!next) break;
      setTold(`正在上传第 ${nth} / ${nth + others.length} 张`);
      try {
        const url = await send(next, turn.signal);
        // Nobody is left who would keep the address: it comes again, under its key.
        if (turn.signal.aborted) return;
        await arrived.current(url);
      } catch (error) {
        if (isCancelled(error)) return;
        if (isOffline(error)) {
          setHalted(true);
          break;
        }
        const why = error instanceof ApiError ? errorText(error) : (error as Error).message;
        toast(`${next.name}：${why}`, 'error');
      }
      inPage.delete(next.id);
      await dropFiles(place, [next.id]);
      if (turn.signal.aborted) return;
    }
    running.current = null;
    setTold(keptFiles(place).length > 0 ? `还有 ${keptFiles(place).length} 张没有传完` : '');
  }, [place]);

  useEffect(() => {
    void goOn();
    const endListening = onLineWell(() => void goOn());
    return () => {
      endListening();
      running.current?.abort();
      running.current = null;
    };
  }, [goOn]);

  const take = (files: readonly File[]): void => {
    for (const file of files) {
      const kept = { id: uuid(), name: file.name, size: file.size };
      inPage.set(kept.id, file);
      keepFile(place, kept, file).catch(tellFull);
    }
    void goOn();
  };
  return { told, halted, take, goOn };
};
