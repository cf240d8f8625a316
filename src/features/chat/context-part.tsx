import { compactNumber } from '#common/compact-number.ts';
import { limits } from '#contract/limits.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useStore } from '#src/platform/store.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useEffect } from 'react';
import type { BoxState } from './box-state.ts';
import ContextSheet, { condense } from './context-sheet.tsx';
import { contextStore, gaugeStore } from './context-store.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';

/** Said before the oldest words no longer fit: nothing is left out in silence. */
const FullNote = ({ state }: { state: BoxState }) => {
  const known = useStore(contextStore);
  const { busy, run } = useAct();
  const { uuid } = state.session;
  const context = known?.uuid === uuid ? known.context : null;
  if (!context || context.condensable.exchanges === 0) return null;
  const part = context.used / context.window;
  if (part <= limits.context.full) return null;
  const cost =
    context.condensable.cost === 0
      ? '免费'
      : `约 ${compactNumber(context.condensable.cost)} tokens`;
  return (
    <div className={kitCss.sendNote} role="status">
      <p>前面的对话占了模型窗口的 {Math.round(part * 100)}%，再写下去，最早的就读不到了。</p>
      <button
        type="button"
        className={kitCss.sendNoteAct}
        disabled={busy}
        onClick={() => void run(() => condense(uuid))}
      >
        {busy ? '正在浓缩…' : `浓缩较早的 ${context.condensable.exchanges} 轮（${cost}）`}
      </button>
    </div>
  );
};

/** Asks what the model reads, for all that show it; the note and the gauge are here. */
const ContextPart = ({ state, long }: { state: BoxState; long: boolean }) => {
  const { session, context } = state;
  const { uuid } = session;
  const { data } = useCall(
    'sessionContext',
    { session_id: uuid },
    { apart: context.revision, enabled: long, ...keepLast },
  );
  const known = (long && data) || null;
  useEffect(() => {
    contextStore.set(known && { uuid, context: known });
    return () => contextStore.set(null);
  }, [uuid, known]);
  const asked = useStore(gaugeStore) === uuid;
  return (
    <>
      <FullNote state={state} />
      <ContextSheet
        uuid={uuid}
        model={session.model}
        context={known}
        open={asked}
        onClose={() => gaugeStore.set(null)}
      />
    </>
  );
};

export default ContextPart;
