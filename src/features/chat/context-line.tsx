import { compactNumber } from '#common/compact-number.ts';
import { api } from '#src/platform/api.ts';
import { useStore } from '#src/platform/store.ts';
import { useAct } from '#src/platform/use-act.ts';
import { contextStore, gaugeStore, isKept } from './context-store.ts';
import css from './context.module.css';

/** In the thread: from here on the model reads, and what became of what is before. */
const ContextLine = ({ uuid }: { uuid: string }) => {
  const known = useStore(contextStore);
  const { busy, run } = useAct();
  if (known?.uuid !== uuid) return null;
  if (!isKept(known.context))
    return (
      <div className={css.line} role="separator" aria-label="模型从这里读起" data-context-line>
        <p>
          模型从这里读起；更早的 {known.context.unread}{' '}
          轮没有读。临时对话不浓缩，带上几轮在会话设置里改
        </p>
      </div>
    );
  const { unread, earlier, summary } = known.context;
  return (
    <div className={css.line} role="separator" aria-label="模型从这里读起" data-context-line>
      <p>
        模型从这里读起
        {summary && `；前面 ${summary.exchanges} 轮已${summary.auto ? '自动' : ''}浓缩成摘要`}
        {summary && summary.tokens > 0 && `，用了 ${compactNumber(summary.tokens)} tokens`}
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
