import type { SessionContext } from '#contract/context.ts';
import { compactNumber } from '#common/compact-number.ts';
import { api } from '#src/platform/api.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useModel } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { limits } from '#contract/limits.ts';
import { useState } from 'react';
import { useEditedSettings } from './edited-settings.ts';
import css from './context.module.css';

const percent = (part: number): string => `${Math.round(part * 100)}%`;

/** What it costs to condense, as it stands on a button. */
export const costText = ({ condensable }: SessionContext): string =>
  condensable.cost === 0 ? '免费' : `约 ${compactNumber(condensable.cost)} tokens`;

/** Condenses what does not fit, and says what that took. */
export const condense = async (uuid: string): Promise<void> => {
  const { deduct_tokens: spent } = await api.condenseSession({ session_id: uuid });
  toast(spent === 0 ? '已浓缩成摘要' : `已浓缩成摘要，用了 ${spent} tokens`, 'success');
};

/** The summary, in its person's hands. */
const Summary = ({
  uuid,
  summary,
  writing,
}: {
  uuid: string;
  summary: NonNullable<SessionContext['summary']>;
  /** It is being written on: what was typed meanwhile would be lost. */
  writing: boolean;
}) => {
  const [text, setText] = useState(summary.text);
  const { busy, run } = useAct();
  const changed = text.trim() !== summary.text;
  const remove = async () => {
    const sure = await confirmDialog({
      title: '不要这个摘要',
      text: '前面的对话还在，只是模型不再读到它们的摘要。',
      ok: '不要了',
      danger: true,
    });
    if (sure)
      await run(() => api.saveSummary({ session_id: uuid, text: '' }), '模型不再读这个摘要');
  };
  return (
    <section className={css.summary}>
      <h3>前面 {summary.exchanges} 轮的摘要</h3>
      <textarea
        aria-label="摘要"
        rows={8}
        readOnly={writing}
        maxLength={limits.context.summary}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="field-hint">
        模型读的就是这段文字，可以改。
        {summary.edited ? '您改过它。' : `由会话的模型${summary.auto ? '自动' : ''}写成。`}
        {summary.tokens > 0 && `用了 ${compactNumber(summary.tokens)} tokens。`}
        删除前面的消息时，摘要也一起删除。
      </p>
      <div className={css.acts}>
        <Button
          size="small"
          kind="primary"
          busy={busy}
          disabled={!changed || text.trim() === ''}
          onClick={() =>
            void run(() => api.saveSummary({ session_id: uuid, text: text.trim() }), '摘要已保存')
          }
        >
          保存
        </Button>
        <Button size="small" disabled={busy} onClick={() => void remove()}>
          不要摘要
        </Button>
      </div>
    </section>
  );
};

/** How much of the model's window the conversation takes, and what can be done about it. */
const ContextSheet = ({
  uuid,
  model: name,
  context,
  open,
  onClose,
}: {
  uuid: string;
  model: string;
  context: SessionContext | null;
  open: boolean;
  onClose: () => void;
}) => {
  const { busy, run } = useAct();
  const [condensing, setCondensing] = useState(false);
  const { settings, change } = useEditedSettings();
  const model = useModel(name);
  const usual = settings.max_history ?? limits.defaults.max_history;
  const press = async () => {
    setCondensing(true);
    await run(() => condense(uuid));
    setCondensing(false);
  };
  return (
    <Sheet open={open} onClose={onClose} title="模型读到哪里">
      {context === null ? (
        <p className={css.text}>这个会话还短：下一次提问，前面的对话模型都会读到。</p>
      ) : (
        <div className={css.sheet} data-context-sheet>
          <div className={css.gauge}>
            <p>
              <strong>{percent(context.used / context.window)}</strong>
              <span>
                前面的对话 {compactNumber(context.used)}字，{model?.label ?? name} 最多读{' '}
                {compactNumber(context.window)}字
              </span>
            </p>
            <ProgressBar
              label="占模型窗口"
              part={Math.min(1, context.used / context.window)}
              className={css.bar ?? ''}
            />
          </div>
          <p className={css.text}>
            下一次提问会带上
            {context.summary && `前面 ${context.summary.exchanges} 轮的摘要和`}
            {context.recent === null ? '' : '最近'} {context.reads} 轮原话，约{' '}
            {compactNumber(context.tokens)} tokens。
            {context.unread > 0 && `更早的 ${context.unread} 轮没有读。`}
          </p>
          <div className={css.acts}>
            {context.earlier.exchanges > 0 && (
              <Button
                size="small"
                disabled={busy}
                onClick={() => void run(() => api.readEarlier({ session_id: uuid, on: 1 }))}
              >
                接着读更早的 {context.earlier.exchanges} 轮（约{' '}
                {compactNumber(context.earlier.tokens)} tokens）
              </Button>
            )}
            {context.condensable.exchanges > 0 && (
              <Button size="small" busy={busy || context.condensing} onClick={() => void press()}>
                {condensing || context.condensing
                  ? '正在浓缩…'
                  : `把较早的 ${context.condensable.exchanges} 轮浓缩成摘要（${costText(context)}）`}
              </Button>
            )}
            {context.recent === null && (
              <Button
                size="small"
                disabled={busy}
                onClick={() => void run(() => api.readEarlier({ session_id: uuid, on: 0 }))}
              >
                {usual === 0 ? '不再带前面的对话' : `只读最近 ${usual} 轮`}
              </Button>
            )}
          </div>
          <SwitchField
            label="快满时自动浓缩"
            hint={`对话占到模型窗口的 ${percent(limits.context.full)} 时，把较早的浓缩成摘要，由会话的模型来写，照常计费`}
            checked={settings.condense !== 0}
            onChange={(on) => change({ condense: on ? 1 : 0 })}
          />
          {context.summary && (
            <Summary
              key={`${context.summary.made_at}${context.summary.text}`}
              uuid={uuid}
              summary={context.summary}
              writing={context.condensing}
            />
          )}
          {context.cached_tokens > 0 && (
            <p className="field-hint">
              这个会话里，提问的 {compactNumber(context.prompt_tokens)} tokens 有{' '}
              {percent(context.cached_tokens / Math.max(1, context.prompt_tokens))}{' '}
              是服务从缓存读到的，更便宜也更快。
            </p>
          )}
        </div>
      )}
    </Sheet>
  );
};

export default ContextSheet;
