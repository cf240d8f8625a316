import { compactNumber } from '#common/compact-number.ts';
import { limits } from '#contract/limits.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useStore } from '#src/platform/store.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useModel, useSettings } from '#src/platform/queries.ts';
import { fittingExchanges } from '#src/widgets/conversation/price-ahead.ts';
import { useEffect, useMemo } from 'react';
import type { BoxState } from './box-state.ts';
import ContextSheet, { condense } from './context-sheet.tsx';
import { contextStore, gaugeStore, isKept } from './context-store.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';

/** Said before the oldest words no longer fit: nothing is left out in silence. */
const FullNote = ({ state }: { state: BoxState }) => {
  const known = useStore(contextStore);
  const { busy, run } = useAct();
  const { uuid } = state.session;
  const context = known?.uuid === uuid ? known.context : null;
  if (!context || !isKept(context) || context.condensable.exchanges === 0) return null;
  const part = context.used / context.window;
  if (part <= limits.context.full) return null;
  if (context.condensing)
    return (
      <div className={kitCss.sendNote} role="status">
        <p>前面的对话占了模型窗口的 {Math.round(part * 100)}%，正在把较早的浓缩成摘要…</p>
        <button type="button" className={kitCss.sendNoteAct} onClick={() => gaugeStore.set(uuid)}>
          怎样浓缩
        </button>
      </div>
    );
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

/** Of a temporary conversation: what goes along with the next question. */
const useReadHere = ({ session, context }: BoxState) => {
  const { max_history: usual = limits.defaults.max_history } = useSettings();
  const model = useModel(session.model);
  const most = model?.max_prompt ?? limits.defaultMaxPrompt;
  return useMemo(() => {
    const all = context.recent(Infinity);
    const reads = fittingExchanges(all.slice(0, usual), most);
    return { from_id: reads.at(-1)?.id ?? null, unread: all.length - reads.length };
  }, [context, usual, most]);
};

/** Asks what the model reads, for all that show it; the note and the gauge are here. */
const ContextPart = ({ state, long }: { state: BoxState; long: boolean }) => {
  const { session, context } = state;
  const { uuid } = session;
  const { data } = useCall(
    'sessionContext',
    { session_id: uuid },
    {
      apart: context.revision,
      enabled: long && !session.temporary,
      // What is done without a press tells no page of its end.
      refetchInterval: ({ state: { data: now } }) => (now?.condensing ? 2000 : false),
      ...keepLast,
    },
  );
  const known = (long && data) || null;
  const here = useReadHere(state);
  const read = session.temporary ? here : known;
  useEffect(() => {
    contextStore.set(read && { uuid, context: read });
    return () => contextStore.set(null);
  }, [uuid, read]);
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
