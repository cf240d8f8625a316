import { compactNumber } from '#common/compact-number.ts';
import { api } from '#src/platform/api.ts';
import { useStore } from '#src/platform/store.ts';
import { useAct } from '#src/platform/use-act.ts';
import { contextStore, gaugeStore } from './context-store.ts';
import css from './context.module.css';

/** In the thread: from here on the model reads, and what became of what is before. */
const ContextLine = ({ uuid }: { uuid: string }) => {
  const known = useStore(contextStore);
  const { busy, run } = useAct();
  if (known?.uuid !== uuid) return null;
  const { unread, earlier, summary } = known.context;
  return (
    <div className={css.line} role="separator" aria-label="模型从这里读起" data-context-line>
      <p>
        模型从这里读起
        {summary && `；前面 ${summary.exchanges} 轮已浓缩成摘要`}
        {unread > 0 && `；${summary ? '另有' : '更早的'} ${unread} 轮没有读`}
      </p>
      <p>
        {earlier.exchanges > 0 && (
          <button
            type="button"
            disabled={busy}
            onClick={() => void run(() => api.readEarlier({ session_id: uuid, on: 1 }))}
          >
            接着读更早的（约 {compactNumber(earlier.tokens)} tokens）
          </button>
        )}
        {(summary !== null || earlier.exchanges === 0) && (
          <button type="button" aria-haspopup="dialog" onClick={() => gaugeStore.set(uuid)}>
            {summary ? '看摘要' : '怎样读更早的'}
          </button>
        )}
      </p>
    </div>
  );
};

export default ContextLine;
