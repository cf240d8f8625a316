import { inIdleTime } from '#src/platform/idle.ts';
import type { Block } from '#common/markdown/document.ts';
import { memo, useEffect, useState, useSyncExternalStore } from 'react';
import { Reply } from './message-row.tsx';
import { replyRows, type LiveRow, type ReplyRow } from '#src/widgets/conversation/rows.ts';
import { useIdle } from '#src/widgets/conversation/use-idle.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

/** So many rows from the end are drawn at once; they fill the screen. */
const atOnce = 2;
/** So many rows from the end are on the screen or close to it. */
const near = 4;

/** About how high a block is, CSS px: a row that was never on the screen stands in with that. */
const heightOf = (block: Block): number => {
  if (block.kind === 'code')
    return block.pieces.reduce((sum, piece) => sum + piece.split('\n').length * 21, 76);
  const lineLength = Math.min(780, innerWidth - 56) / 14;
  const lines = block.text.trim().split('\n');
  return lines.reduce((sum, line) => sum + Math.ceil((line.length + 1) / lineLength) * 26, 10);
};

const LivePart = memo(function LivePart({
  row,
  now,
  far,
}: {
  row: ReplyRow;
  now: boolean;
  far: boolean;
}) {
  const drawn = useIdle(now);
  // On the screen a row begins to skip its layout only later: asked at once, it would be laid out
  // again to learn that it is still seen.
  const [skips, setSkips] = useState(far || !now);
  useEffect(() => (far && !skips ? inIdleTime(() => setSkips(true)) : undefined), [far, skips]);
  const { segment } = row;
  // What was once on the screen keeps the height that it had there.
  const [height] = useState(() =>
    Math.round((segment ?? []).reduce((sum, block) => sum + heightOf(block), 0)),
  );
  if (!drawn) return <div style={{ height }} />;
  return (
    <div
      className={rowCss.livePart}
      data-skips={skips || undefined}
      style={{ containIntrinsicBlockSize: `auto ${height}px` }}
    >
      <Reply row={row} />
    </div>
  );
});

/** A reply that is being written, or was since the page is open: a row for each of its segments. */
export const LiveRows = ({ row: { key, message, live } }: { row: LiveRow }) => {
  useSyncExternalStore(live.subscribe, live.rowsVersion);
  const rows = replyRows(key, message, live);
  return rows.map((row, at) => (
    <LivePart
      key={row.key}
      row={row}
      now={at >= rows.length - atOnce}
      far={at < rows.length - near}
    />
  ));
};
