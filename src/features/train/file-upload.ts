import { api } from '@/platform/api.ts';
import { ApiError, errorText, isCancelled, isRefusedFile } from '@/platform/api-error.ts';
import { refreshScreens } from '@/platform/query-client.ts';
import { toast } from '@/platform/toast.ts';
import { upload } from '@/platform/upload.ts';
import { uuid } from '@/platform/uuid.ts';
import {
  knowledgeEndings,
  trainLimits,
  trainTexts,
  translationEndings,
} from '@contract/train-limits.ts';
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

export const endingsFor = (translation: boolean): readonly string[] =>
  translation ? translationEndings : knowledgeEndings;

/** What is wrong with a file before it is sent; empty: nothing. */
export const faultOfFile = (file: Pick<File, 'name' | 'size'>, translation: boolean): string => {
  const ending = /\.([^.]+)$/.exec(file.name.toLowerCase())?.[1] ?? '';
  const endings = endingsFor(translation);
  if (!endings.includes(ending)) return `${trainTexts.type}可以是 ${endings.join('、')}`;
  if (file.size === 0) return '文件是空的';
  return file.size >= trainLimits.fileBytes ? trainTexts.size : '';
};

/** Under which number a file was begun, so that choosing it again goes on where it broke. */
const memory = 'train-uploads';
const begun = (): Record<string, string> => {
  try {
    return JSON.parse(localStorage.getItem(memory) ?? '{}') as Record<string, string>;
  } catch {
    return {};
  }
};
const remember = (key: string, id: string | null) => {
  const all = Object.entries(begun()).filter(([each]) => each !== key);
  if (id !== null) all.push([key, id]);
  try {
    localStorage.setItem(memory, JSON.stringify(Object.fromEntries(all.slice(-20))));
  } catch {
    // Without room it begins anew.
  }
};

const sendPieces = async (
  file: File,
  modelId: number,
  signal: AbortSignal,
  onProgress: (part: number) => void,
): Promise<void> => {
  const key = `${modelId} ${file.name} ${file.size} ${file.lastModified}`;
  const known = begun()[key];
  const id = known ?? uuid();
  remember(key, id);
  let at = known
    ? (await api.trainUploadState({ upload_id: id }, { signal, quiet: true })).received
    : 0;
  for (;;) {
    const piece = file.slice(at, at + trainLimits.piece);
    const sent = at;
    const answer = await upload('uploadTrainFile', piece, {
      fileName: file.name,
      idempotencyKey: uuid(),
      signal,
      onProgress: (part) => onProgress((sent + piece.size * part) / file.size),
      query: { model_id: modelId, upload_id: id, offset: at, size: file.size, start: 0 },
    });
    if (answer.file !== null) {
      remember(key, null);
      return;
    }
    // A piece that had arrived although its answer was lost is not sent again.
    if (answer.received <= at && answer.received < sent)
      throw new ApiError(0, '上传没有进展，请重试', 0);
    at = answer.received;
  }
};

/** Files on their way into a project: one after the other, each goes on where it broke. */
export const useFileUpload = (modelId: number | null, translation: boolean) => {
  const [coming, setComing] = useState<readonly Coming[]>([]);
  const work = useRef(new Map<string, { file: File; abort: AbortController }>());
  const line = useRef<Promise<void>>(Promise.resolve());

  const change = useCallback((id: string, next: Partial<Coming>) => {
    setComing((all) => all.map((each) => (each.id === id ? { ...each, ...next } : each)));
  }, []);
  const remove = useCallback((id: string) => {
    work.current.get(id)?.abort.abort();
    work.current.delete(id);
    setComing((all) => all.filter((each) => each.id !== id));
  }, []);

  const run = useCallback(
    (id: string, into: number) => {
      const one = async () => {
        const known = work.current.get(id);
        if (!known) return;
        try {
          await sendPieces(known.file, into, known.abort.signal, (progress) =>
            change(id, { progress, error: '' }),
          );
          remove(id);
          toast(trainTexts.kept, 'success');
          void refreshScreens();
        } catch (error) {
          if (isCancelled(error)) return;
          const told = error instanceof ApiError ? errorText(error) : (error as Error).message;
          change(id, { error: `上传失败：${told}`, refused: isRefusedFile(error) });
        }
      };
      line.current = line.current.then(one);
    },
    [change, remove],
  );

  /** @param into where the project was made just now */
  const take = (files: readonly File[], into = modelId) => {
    if (into === null) return;
    for (const file of files) {
      const fault = faultOfFile(file, translation);
      if (fault !== '') {
        toast(`${file.name}：${fault}`, 'error');
        continue;
      }
      const id = uuid();
      work.current.set(id, { file, abort: new AbortController() });
      setComing((all) => [
        ...all,
        { id, name: file.name, size: file.size, progress: 0, error: '', refused: false },
      ]);
      run(id, into);
    }
  };
  const retry = (id: string) => {
    if (modelId === null) return;
    change(id, { error: '' });
    run(id, modelId);
  };
  useEffect(() => {
    const works = work.current;
    return () => {
      for (const { abort } of works.values()) abort.abort();
    };
  }, []);
  return { coming, take, retry, remove };
};
