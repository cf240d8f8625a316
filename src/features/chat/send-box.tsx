import { useDraft } from '@/shared/draft.ts';
import { priceText, useChatModels, useSettings } from '@/shared/queries.ts';
import { isSendKey } from '@/shared/send-key.ts';
import { Icon } from '@/shared/ui/icon.tsx';
import { ModelSheet } from '@/shared/ui/model-sheet.tsx';
import { toast } from '@/shared/ui/toast.ts';
import { limits, tooLongText, tooShortText } from '@contract/limits.ts';
import { useLayoutEffect, useRef, useState } from 'react';
import type { SendOptions } from './thread.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** Why a text can not be sent as it is; empty when it can. */
export const refusalOf = (text: string, most: number, first: boolean): string => {
  if (text.length > most) return tooLongText(most);
  if (first && bytesOf(text) < limits.minPromptBytes) return tooShortText(limits.minPromptBytes);
  return '';
};

const tallest = 168;

/** The box grows with its text up to a part of the screen. */
const useGrowth = (text: string) => {
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = 'auto';
    if (text !== '') area.style.height = `${Math.min(tallest, area.scrollHeight)}px`;
  }, [text]);
  return box;
};

export const SendBox = ({
  uuid,
  model,
  first,
  busy,
  canStop,
  onSend,
  onStop,
  onModel,
}: {
  /** The session's, under which the draft is kept. */
  uuid: string;
  model: string;
  /** The session has no message yet: a model can be chosen, and a minimum length applies. */
  first: boolean;
  /** A message is being sent, or its reply written. */
  busy: boolean;
  /** The reply has begun to arrive. */
  canStop: boolean;
  /** Resolves to false when the message was not taken: the text comes back. */
  onSend: (text: string, options?: SendOptions) => Promise<boolean>;
  onStop: () => void;
  onModel: (name: string) => void;
}) => {
  const [text, setText] = useDraft(uuid);
  const box = useGrowth(text);
  const settings = useSettings();
  const models = useChatModels();
  const [choosing, setChoosing] = useState(false);
  const known = models.data?.find((each) => each.name === model);
  const most = known?.max_prompt ?? limits.defaultMaxPrompt;
  const ready = text.trim() !== '' && !busy;

  const deliver = async (prompt: string) => {
    if (!(await onSend(prompt))) setText(prompt);
  };
  const send = () => {
    const prompt = text.trim();
    if (prompt === '' || busy) return;
    const refusal = refusalOf(prompt, most, first);
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    setText('');
    void deliver(prompt);
  };

  return (
    <form
      className="send"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="send-inner">
        <div className="send-row">
          <button
            type="button"
            className="send-model"
            disabled={!first}
            title={first ? '选择模型' : '有了消息以后，模型不能再换'}
            onClick={() => setChoosing(true)}
          >
            <span className="chip-dot" style={{ background: known?.color || undefined }} />
            <span className="send-model-name">{known?.label ?? model}</span>
            {known && <small>{priceText(known)}</small>}
            {first && <Icon name="down" size={14} />}
          </button>
          {text.length > most * 0.9 && (
            <span className="send-count" data-over={text.trim().length > most || undefined}>
              {text.trim().length} / {most}
            </span>
          )}
          <span className="send-hint">
            {settings.disable_enter === 1 ? 'Ctrl + Enter 发送' : 'Enter 发送，Shift + Enter 换行'}
          </span>
        </div>
        <div className="send-line">
          <textarea
            ref={box}
            rows={1}
            value={text}
            placeholder={first ? '问点什么…' : '继续问…'}
            aria-label="输入消息"
            enterKeyHint={settings.disable_enter === 1 ? 'enter' : 'send'}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (!isSendKey(event, settings.disable_enter === 1)) return;
              event.preventDefault();
              send();
            }}
          />
          {canStop ? (
            <button type="button" className="send-button" aria-label="停止" onClick={onStop}>
              <Icon name="stop" size={24} />
            </button>
          ) : (
            <button
              type="submit"
              className="send-button"
              aria-label="发送"
              aria-busy={busy || undefined}
              disabled={!ready}
            >
              <Icon name="send" size={22} />
            </button>
          )}
        </div>
      </div>
      <ModelSheet
        open={choosing}
        value={model}
        onClose={() => setChoosing(false)}
        onChoose={onModel}
      />
    </form>
  );
};
