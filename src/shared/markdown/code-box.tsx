import { memo, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { Icon } from '../ui/icon.tsx';
import { copyText } from './copy.ts';
import type { Stretch } from './highlight.ts';
import { inIdleTime } from './idle.ts';
import { lazyChunk, whenLoaded } from './lazy-chunk.ts';

const loadHighlight = lazyChunk(() => import('./highlight.ts'));

const CodePiece = memo(function CodePiece({ text }: { text: string }) {
  return <code>{text === '' ? '\n' : text}</code>;
});

const ColouredPiece = memo(function ColouredPiece({ lines }: { lines: readonly Stretch[][] }) {
  return (
    <code>
      {lines.map((line, row) => (
        <span key={row}>
          {line.map((stretch, at) =>
            stretch.scope === '' ? (
              stretch.text
            ) : (
              <span key={at} className={stretch.scope}>
                {stretch.text}
              </span>
            ),
          )}
          {'\n'}
        </span>
      ))}
    </code>
  );
});

const linesAPiece = 40;

const coloured = new Map<string, Stretch[][]>();
const keptColoured = 60;

const keep = (key: string, lines: Stretch[][]) => {
  coloured.delete(key);
  coloured.set(key, lines);
  const oldest = coloured.keys().next();
  if (coloured.size > keptColoured && !oldest.done) coloured.delete(oldest.value);
};

/** The coloured lines once there are any; a box that comes back into the list has them at once. */
const useColours = (code: string | null, label: string): Stretch[][] | null => {
  const key = code === null || label === '' ? null : `${label}\n${code}`;
  const [done, setDone] = useState<{ key: string; lines: Stretch[][] } | null>(null);
  useEffect(() => {
    if (key === null || code === null || coloured.has(key)) return undefined;
    let cancelJob = () => {};
    // Until the highlighter is there (network lost) the code is readable all the same.
    const cancelLoad = whenLoaded(
      async () => (await loadHighlight()).loadColour(label),
      (colour) => {
        cancelJob = inIdleTime(() => {
          const lines = colour(code);
          if (!lines) return;
          keep(key, lines);
          // At once: what follows in this idle time counts with what it costs.
          flushSync(() => setDone({ key, lines }));
        });
      },
    );
    return () => {
      cancelLoad();
      cancelJob();
    };
  }, [key, code, label]);
  if (key === null) return null;
  return coloured.get(key) ?? (done?.key === key ? done.lines : null);
};

const piecesOf = (lines: Stretch[][]): Stretch[][][] => {
  const pieces: Stretch[][][] = [];
  for (let at = 0; at < lines.length; at += linesAPiece)
    pieces.push(lines.slice(at, at + linesAPiece));
  return pieces;
};

/**
 * A box of code. Pieces that did not change are not rendered again while it is written; colours
 * come once it is closed.
 */
export const CodeBox = memo(function CodeBox({
  pieces,
  language,
  open,
}: {
  pieces: readonly string[];
  language: string;
  open: boolean;
}) {
  const label = /^[^\s{]+/.exec(language)?.[0] ?? '';
  const colours = useColours(open ? null : pieces.join('\n'), label);
  return (
    <div className="code-box">
      <div className="code-head">
        <span>{label}</span>
        <button
          type="button"
          onClick={() => void copyText(pieces.join('\n'))}
          aria-label="复制代码"
        >
          <Icon name="copy" size={14} />
          复制
        </button>
      </div>
      <pre tabIndex={0} aria-label={label === '' ? '代码' : `${label} 代码`}>
        {colours
          ? piecesOf(colours).map((lines, at) => <ColouredPiece key={at} lines={lines} />)
          : pieces.map((text, at) => <CodePiece key={at} text={text} />)}
      </pre>
    </div>
  );
});
