import { ApiError, errorText, isCancelled, isRefusedFile } from '#src/platform/api-error.ts';
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

/**
 * Files on their way into a project: one after the other, each goes on where it broke.
 * @param begins work on each begins as it comes in; else its person begins it
 */
export const useFileUpload = (modelId: number | null, translation: boolean, begins = false) => {
  const [coming, setComing] = useState<readonly Coming[]>([]);
  const work = useRef(new Map<string, { file: File; key: string; abort: AbortController }>());
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
          const { file, key, abort } = known;
          await upload('uploadTrainFile', file, {
            fileName: file.name,
            idempotencyKey: key,
            signal: abort.signal,
            onProgress: (progress) => change(id, { progress, error: '' }),
            query: { model_id: into, size: file.size, start: begins ? 1 : 0 },
          });
          remove(id);
          toast(begins ? trainTexts.uploaded : trainTexts.kept, 'success');
          void refreshScreens();
        } catch (error) {
          if (isCancelled(error)) return;
          const told = error instanceof ApiError ? errorText(error) : (error as Error).message;
          change(id, { error: `上传失败：${told}`, refused: isRefusedFile(error) });
        }
      };
      line.current = line.current.then(one);
    },
    [change, remove, begins],
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
      work.current.set(id, { file, key: uuid(), abort: new AbortController() });
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
