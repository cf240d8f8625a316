import { sleep } from '#src/platform/sleep.ts';
import {
  ApiError,
  errorText,
  isCancelled,
  isOffline,
  isRefusedFile,
} from '#src/platform/api-error.ts';
import {
  bytesOf,
  dropFiles,
  keepFile,
  keptFiles,
  type KeptFile,
} from '#src/platform/kept-files.ts';
import { onLineWell } from '#src/platform/line.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import {
  knowledgeEndings,
  trainLimits,
  trainTexts,
  translationEndings,
} from '#contract/train-limits.ts';
import { useCallback, useEffect, useRef, useState } from 'react';

/** A file on its way in. */
export interface Coming {
  id: string;
  name: string;
  size: number;
  /** 0 to 1. */
  progress: number;
  /** Why it stopped; empty: it has not. */
  error: string;
  /** The same file fails again. */
  refused: boolean;
}

interface Sending {
  translation: boolean;
  begins?: boolean;
  packs?: boolean;
}

interface Work {
  file: Blob;
  name: string;
  /** 1: work on it begins as it comes in. */
  start: 0 | 1;
  /** The line failed: it goes on with that. */
  halted: boolean;
  abort: AbortController;
}

/** From so many files on they go in few uploads, where what they cost need not be said before. */
const manyFiles = 40;

/** The files as they are sent. */
const parcels = async function* (files: readonly File[], packs: boolean) {
  if (!packs || files.length < manyFiles) yield* files;
  else yield* (await import('./many-files.ts')).parcelsOf(files);
};

/** Sends, and again when the server says where that was too often. */
export const sendInTime = async (
  send: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> => {
  for (;;)
    try {
      await send();
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      const { retry_after: seconds = 5 } = (error.data ?? {}) as { retry_after?: number };
      await sleep(seconds * 1000);
      signal.throwIfAborted();
    }
};

/** Where files on their way into a project are kept on this device. */
const filesPlace = (modelId: number): string => `files:${modelId}`;

export const endingsFor = (translation: boolean): readonly string[] =>
  translation ? translationEndings : knowledgeEndings;

/** What can be chosen, in words. */
export const kindsFor = (translation: boolean): string =>
  translation
    ? '文档（txt、md、docx、doc、pdf）、网页、字幕（srt）或压缩包'
    : '文档（txt、md、docx、doc、pdf、epub、网页）、表格（xlsx、csv）、幻灯片（pptx）、图片，或压缩包';

/** What is wrong with a file before it is sent; empty: nothing. */
export const faultOfFile = (file: Pick<File, 'name' | 'size'>, translation: boolean): string => {
  const ending = /\.([^.]+)$/.exec(file.name.toLowerCase())?.[1] ?? '';
  const endings = endingsFor(translation);
  if (!endings.includes(ending)) return `${trainTexts.type}可以是${kindsFor(translation)}`;
  if (file.size === 0) return '文件是空的';
  return file.size >= trainLimits.fileBytes ? trainTexts.size : '';
};

export const notHere = '没能留在这台设备上，请重新选一次';
let toldFull = false;
/** What was chosen found no room on this device. */
export const tellFull = (): void => {
  if (!toldFull) toast('手机存储已满，文件只在这个页面开着时留着', 'error');
  toldFull = true;
};

/**
 * Files on their way into a project: one after the other, each goes on where it broke. Until they
 * are there they are kept on this device: a project that is opened again goes on with them.
 * @param begins work on each begins as it comes in; else its person begins it
 * @param packs many go as few archives
 */
export const useFileUpload = (
  modelId: number,
  { translation, begins = false, packs = begins }: Sending,
) => {
  const [coming, setComing] = useState<readonly Coming[]>([]);
  const work = useRef(new Map<string, Work>());
  const line = useRef<Promise<void>>(Promise.resolve());
  const place = filesPlace(modelId);

  const change = useCallback((id: string, next: Partial<Coming>) => {
    setComing((all) => all.map((each) => (each.id === id ? { ...each, ...next } : each)));
  }, []);
  const remove = useCallback(
    (id: string) => {
      work.current.get(id)?.abort.abort();
      work.current.delete(id);
      setComing((all) => all.filter((each) => each.id !== id));
      void dropFiles(place, [id]);
    },
    [place],
  );

  const run = useCallback(
    (id: string) => {
      const one = async () => {
        const known = work.current.get(id);
        if (!known || known.abort.signal.aborted) return;
        known.halted = false;
        try {
          const { file, name, start, abort } = known;
          await sendInTime(
            () =>
              upload('uploadTrainFile', file, {
                fileName: name,
                idempotencyKey: id,
                signal: abort.signal,
                onProgress: (progress) => change(id, { progress, error: '' }),
                query: { model_id: modelId, size: file.size, start },
              }),
            abort.signal,
          );
          remove(id);
          toast(start === 1 ? trainTexts.uploaded : trainTexts.kept, 'success');
          void refreshScreens();
        } catch (error) {
          if (isCancelled(error)) return;
          const told = error instanceof ApiError ? errorText(error) : (error as Error).message;
          const refused = isRefusedFile(error);
          change(id, { error: `上传失败：${told}`, refused });
          known.halted = isOffline(error);
          // It is never taken: another life of the page does not try it again.
          if (refused) {
            work.current.delete(id);
            void dropFiles(place, [id]);
          }
        }
      };
      line.current = line.current.then(one);
    },
    [change, remove, modelId, place],
  );
  const add = useCallback(
    ({ id, name, size, note }: KeptFile, file: Blob | undefined) => {
      const error = file ? '' : notHere;
      setComing((all) => [...all, { id, name, size, progress: 0, error, refused: !file }]);
      if (!file) return;
      const start = note === 'start' ? 1 : 0;
      work.current.set(id, { file, name, start, halted: false, abort: new AbortController() });
      run(id);
    },
    [run],
  );

  const take = async (files: readonly File[]) => {
    const good: File[] = [];
    const bad: Coming[] = [];
    for (const file of files) {
      const fault = faultOfFile(file, translation);
      const { name, size } = file;
      if (fault === '') good.push(file);
      // Each stays in sight: of several toasts only the last would.
      else bad.push({ id: uuid(), name, size, progress: 0, error: fault, refused: true });
    }
    setComing((all) => [...all, ...bad]);
    for await (const file of parcels(good, packs)) {
      const kept = {
        id: uuid(),
        name: file.name,
        size: file.size,
        ...(begins && { note: 'start' }),
      };
      add(kept, file);
      keepFile(place, kept, file).catch(tellFull);
    }
  };
  const retry = (id: string) => {
    change(id, { error: '' });
    run(id);
  };

  useEffect(() => {
    const works = work.current;
    let left = false;
    const resume = async () => {
      for (const each of keptFiles(place)) {
        const file = works.has(each.id) ? undefined : await bytesOf(each.id);
        if (left) return;
        if (!works.has(each.id)) add(each, file);
      }
    };
    void resume();
    const endListening = onLineWell(() => {
      for (const [id, { halted }] of works) if (halted) run(id);
    });
    return () => {
      left = true;
      endListening();
      for (const { abort } of works.values()) abort.abort();
      if (works.size > 0) toast(`还有 ${works.size} 个文件没有传完，回到这个项目会接着传`);
      works.clear();
    };
  }, [place, add, run]);
  return { coming, take, retry, remove };
};
