import { linesAPiece } from '#common/markdown/document.ts';
import { memo, useEffect, useMemo, useReducer } from 'react';
import { flushSync } from 'react-dom';
import { Icon } from '#src/ui/icon.tsx';
import { coloursOf } from './colours.ts';
import { copyText } from '#src/platform/copy.ts';
import type { Stretch } from './highlight.ts';
import { inIdleTime } from '#src/platform/idle.ts';
import { whenLoaded } from '#src/platform/lazy-chunk.ts';
import css from './markdown.module.css';

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

const inPieces = <T,>(lines: readonly T[]): T[][] => {
  const pieces: T[][] = [];
  for (let at = 0; at < lines.length; at += linesAPiece)
    pieces.push(lines.slice(at, at + linesAPiece));
  return pieces;
};

/** Code in pieces of so many lines each, as the coloured lines are cut. */
const evenPieces = (pieces: readonly string[]): readonly string[] =>
  pieces.length === 1
    ? inPieces((pieces[0] ?? '').split('\n')).map((lines) => lines.join('\n'))
    : pieces;

interface Coloured {
  /** None where the code stays plain. */
  pieces: readonly (readonly Stretch[][])[];
  /** So many of them have been put on the page. */
  shown: number;
}

const coloured = new Map<string, Coloured>();
const keptColoured = 60;

const keep = (key: string, lines: readonly Stretch[][] | null): Coloured => {
  const fresh = { pieces: inPieces(lines ?? []), shown: 0 };
  coloured.set(key, fresh);
  const oldest = coloured.keys().next();
  if (coloured.size > keptColoured && !oldest.done) coloured.delete(oldest.value);
  return fresh;
};

/** The coloured pieces, as far as there are any; a box that comes back has those it had at once. */
const useColours = (
  code: string | null,
  label: string,
): { waits: boolean; pieces: Coloured['pieces'] } => {
  const key = code === null || label === '' ? null : `${label}\n${code}`;
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  useEffect(() => {
    if (key === null || code === null) return undefined;
    let cancelJob = () => {};
    // One after the other: each by itself is little work, so that idle time can end between them.
    const showFrom = (colours: Coloured) => {
      if (colours.shown >= colours.pieces.length) redraw();
      else
        cancelJob = inIdleTime(() => {
          colours.shown++;
          // At once: what follows in this idle time counts with what it costs.
          flushSync(redraw);
          showFrom(colours);
        });
    };
    const known = coloured.get(key);
    if (known) {
      if (known.shown < known.pieces.length) showFrom(known);
      return () => cancelJob();
    }
    // Until the highlighter is there (network lost) the code is readable all the same.
    const cancelLoad = whenLoaded(
      () => coloursOf(code, label),
      (lines) => showFrom(keep(key, lines)),
    );
    return () => {
      cancelLoad();
      cancelJob();
    };
  }, [key, code, label]);
  const colours = key === null ? undefined : coloured.get(key);
  return {
    waits: key !== null && (!colours || colours.shown < colours.pieces.length),
    pieces: colours?.pieces.slice(0, colours.shown) ?? [],
  };
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
  const plain = useMemo(() => evenPieces(pieces), [pieces]);
  const colours = useColours(open ? null : pieces.join('\n'), label);
  return (
    <div className={css.codeBox} data-code data-plain={colours.waits || undefined}>
      <div className={css.codeHead} data-code-head>
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
        {plain.map((text, at) => {
          const lines = colours.pieces[at];
          return lines ? (
            <ColouredPiece key={at} lines={lines} />
          ) : (
            <CodePiece key={at} text={text} />
          );
        })}
      </pre>
    </div>
  );
});
