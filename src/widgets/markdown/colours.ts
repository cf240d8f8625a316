import type { Stretch } from './highlight.ts';

export interface ColourRequest {
  id: number;
  code: string;
  label: string;
}
export type ColourAnswer =
  | { id: number; lines: Stretch[][] | null }
  /** The highlighter or the language could not be loaded. */
  | { id: number; failed: true };

type Lines = Stretch[][] | null;

/** Code that the highlighter has not done with after so long stays plain, ms. */
const patience = 10_000;
/** A worker without work ends after so long, ms. */
const rest = 60_000;

let worker: Worker | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;
const waiting = new Map<number, { resolve: (lines: Lines) => void; reject: () => void }>();

const end = () => {
  clearTimeout(timer);
  worker?.terminate();
  worker = null;
  const left = [...waiting.values()];
  waiting.clear();
  return left;
};

const watch = () => {
  clearTimeout(timer);
  timer = setTimeout(
    () => {
      for (const { resolve } of end()) resolve(null);
    },
    waiting.size > 0 ? patience : rest,
  );
};

const start = (): Worker => {
  const made = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' });
  made.addEventListener('message', ({ data }: MessageEvent<ColourAnswer>) => {
    const asker = waiting.get(data.id);
    waiting.delete(data.id);
    watch();
    if ('failed' in data) asker?.reject();
    else asker?.resolve(data.lines);
  });
  made.addEventListener('error', () => {
    for (const { reject } of end()) reject();
  });
  return made;
};

/**
 * The coloured lines of a code, worked out beside the page; null where it stays plain. Rejects when
 * the highlighter can not be loaded.
 * @param label what stands behind the opening fence
 */
export const coloursOf = (code: string, label: string): Promise<Lines> =>
  new Promise((resolve, reject) => {
    const request: ColourRequest = { id: ++asked, code, label };
    waiting.set(request.id, { resolve, reject: () => reject(new Error('no highlighter')) });
    worker ??= start();
    worker.postMessage(request, []);
    watch();
  });
