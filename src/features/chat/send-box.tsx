import { sessionTypes } from '#contract/kinds.ts';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { offlineText } from '#src/platform/api-error.ts';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import { toldApart, maskName } from '#src/platform/format.ts';
import { holdBox, readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';
import { lazyChunk, whenLoaded } from '#src/platform/lazy-chunk.ts';
import { useLine } from '#src/platform/line.ts';
import { useChatModels, useModel, useSettings } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { toast } from '#src/platform/toast.ts';
import { WordsField } from '#src/ui/words-field.tsx';
import { limits } from '#contract/limits.ts';
import type { SessionDetail } from '#contract/session.ts';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useChoices } from './chat-choices.ts';
import { readCompose, setCompose } from './compose-store.ts';
import { useModelChange } from '#src/widgets/composer/model-change.ts';
import type { Outgoing } from './outgoing.ts';
import type { BoxState } from './box-state.ts';
import { SendModel } from '#src/widgets/composer/send-model.tsx';
import { refusalOf, useGrowth } from '#src/widgets/composer/send-rules.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import type { SendOptions } from '#src/widgets/conversation/thread-commands.ts';
import boxCss from '#src/widgets/composer/send.module.css';

/** Images, prices, mentions: all that a plain message does without. */
const loadKit = lazyChunk(() => import('./send-kit.tsx'));
type Kit = Awaited<ReturnType<typeof loadKit>>;

const useKit = (): Kit | null => {
  const [kit, setKit] = useState<Kit | null>(null);
  useEffect(() => whenLoaded(loadKit, setKit), []);
  return kit;
};

type Send = (text: string, options: SendOptions) => Promise<boolean>;

/** Whether more than its words may belong to the next message. */
const hasMore = ({ uuid, type, scenario, embedding_key }: SessionDetail): boolean =>
  type !== sessionTypes.chat ||
  scenario !== null ||
  embedding_key !== '' ||
  ['attach', 'choices'].some((kind) => readDraft(`${kind}:${uuid}`) !== '');

/**
 * Sends the draft with what was added to it; one whose images are on their way goes after them.
 * What was not taken comes back into the box.
 */
export const deliver = async (
  thread: Thread,
  session: SessionDetail,
  prompt: string,
  send: Send,
  options: SendOptions = {},
): Promise<void> => {
  const { uuid } = session;
  // What sends them is there before the words leave the draft.
  await thread.commands();
  const release = holdBox(uuid);
  try {
    let outgoing: Outgoing = { text: prompt, options: {}, restore: () => undefined };
    if (hasMore(session)) {
      const kit = await loadKit();
      if (kit.waitForUploads(uuid)) return;
      outgoing = await kit.takeMessage(session, prompt);
    }
    writeDraft(uuid, '');
    if (await send(outgoing.text, { ...options, ...outgoing.options })) return;
    // Something may have been written meanwhile.
    writeDraft(uuid, [prompt, readDraft(uuid)].filter((text) => text !== '').join('\n'));
    outgoing.restore();
  } finally {
    release();
  }
};

const boxWords = (session: SessionDetail, first: boolean): string => {
  if (session.friend) return `对 ${maskName(session.friend.name)} 说…`;
  if (session.type === sessionTypes.people)
    return first ? '写下您的问题…' : '写下您的回答，@ 请模型回答';
  return first ? '问点什么…' : '继续问…';
};

export const SendBox = ({
  session,
  view,
  onSend,
}: {
  session: SessionDetail;
  view: ThreadView;
  /** Resolves to false when the message was not taken. */
  onSend: Send;
}) => {
  const { uuid, type } = session;
  const [text, setText] = useDraft(uuid);
  // Images say something without words.
  const imaged = useDraft(`attach:${uuid}`)[0].includes('"image"');
  const box = useGrowth(text);
  const settings = useSettings();
  const models = useChatModels();
  const { thread, startAnew } = useChatActs();
  const kit = useKit();
  const keys = useRef<((event: KeyboardEvent) => boolean) | null>(null);
  const onKeys: TakeKeys = useCallback((take) => {
    keys.current = take;
  }, []);
  const delivering = useRef(false);
  const [choosing, setChoosing] = useState(false);
  const change = useModelChange(uuid);
  const chats = type === sessionTypes.chat;
  const first = view.count === 0;
  // Without a network the next message is written down, whatever the reply before it does.
  const reached = useLine() === 'well' && !view.reconnecting;
  const busy = view.sending || (reached && view.replying !== null);
  const canStop = reached && view.replying !== null && view.replyStarted;
  const known = models.data?.find((each) => each.name === session.model);
  const label = useModel(session.model)?.label ?? session.model;
  const [{ beside }] = useChoices(session.uuid);
  const besideModel = models.data?.find(
    ({ name }) => chats && name === beside && name !== session.model,
  );
  const most = (chats ? known?.max_prompt : null) ?? limits.defaultMaxPrompt;
  const length = text.trim().length;
  const choose = change.choose;
  const target: AttachTarget = useMemo(
    () => ({
      draftKey: uuid,
      model: chats ? known : undefined,
      onModel: chats && first ? choose : undefined,
    }),
    [uuid, chats, known, first, choose],
  );
  const revision = `${view.count}:${view.replying?.id ?? 0}`;
  // With a mouse and a keyboard one writes at once; on a phone the keyboard would cover what is read.
  const handy = useMedia(finePointer);
  useEffect(() => {
    if (handy && uuid !== '' && !document.querySelector('#root')?.hasAttribute('inert'))
      box.current?.focus({ preventScroll: true });
  }, [box, handy, uuid]);
  const context = useMemo(
    () => ({ revision, recent: (exchanges: number) => thread.store.recentExchanges(exchanges) }),
    [thread, revision],
  );

  const send = () => {
    const prompt = text.trim();
    if ((prompt === '' && !imaged) || busy || delivering.current) return;
    const needsLength = first && chats && kit?.hasImages(uuid) !== true;
    const refusal =
      refusalOf(prompt, most, needsLength) ||
      (kit?.imagesRefused(uuid, target.model, models.data ?? []) ?? '');
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    delivering.current = true;
    if (handy) box.current?.focus({ preventScroll: true });
    // A model that was typed answers as one that was chosen does.
    const typed =
      type === sessionTypes.people && readCompose(uuid).ai === ''
        ? kit?.typedModel(prompt, models.data ?? [])
        : null;
    if (typed) setCompose(uuid, { ai: typed.model.name });
    deliver(thread, session, typed?.rest || prompt, onSend)
      .catch(() => toast(offlineText, 'error'))
      .finally(() => {
        delivering.current = false;
      });
  };
  const goFree = () => {
    const free = models.data?.find((model) => model.factor === 0)?.name;
    if (!chats || !first) startAnew(text, 'free');
    else if (free !== undefined) choose(free);
  };
  const state: BoxState = {
    session,
    text,
    first,
    target,
    context,
    setText,
    focus: () => box.current?.focus(),
    stoppable: canStop,
    send,
    goFree,
  };

  return (
    <form
      className={boxCss.send}
      data-send-box
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className={boxCss.sendInner}>
        <div className={boxCss.sendRow}>
          {chats && (
            <SendModel
              name={label}
              model={known}
              shown={besideModel && toldApart([label, besideModel.label])[0]}
              first={first}
              onChoose={() => setChoosing(true)}
            />
          )}
          {kit && <kit.BoxRow state={state} onKeys={onKeys} />}
          {text.length > most * 0.9 && (
            <span className={boxCss.sendCount} data-count data-over={length > most || undefined}>
              {length} / {most}
            </span>
          )}
          <span className={boxCss.sendHint}>
            {settings.disable_enter === 1 ? 'Ctrl + Enter 发送' : 'Enter 发送，Shift + Enter 换行'}
          </span>
        </div>
        <div>
          {kit && <kit.BoxTop state={state} />}
          <div className={boxCss.sendLine} data-writer="chat">
            {kit ? <kit.AttachButton target={target} /> : <span className={boxCss.attachSpace} />}
            <WordsField
              ref={box}
              text={text}
              placeholder={boxWords(session, first)}
              label="输入消息"
              onText={setText}
              onSend={send}
              onPaste={kit?.pasteInto(target)}
              onKey={(event) => keys.current?.(event) === true}
            />
            {kit ? <kit.VoiceButton state={state} /> : <span className={boxCss.attachSpace} />}
            {canStop ? (
              <button
                type="button"
                className={`round ${boxCss.sendButton}`}
                data-sender
                aria-label="停止"
                title={known?.factor === 0 ? '停止' : '停止：问题和已经写出的照常计费'}
                onClick={() => {
                  thread
                    .commands()
                    .then((commands) => commands.stop())
                    .catch(() => {});
                }}
              >
                <Icon name="stop" size={24} />
              </button>
            ) : (
              <button
                type="submit"
                className={`round ${boxCss.sendButton}`}
                data-sender
                aria-label="发送"
                aria-busy={busy || undefined}
                disabled={(length === 0 && !imaged) || busy}
              >
                <Icon name="send" size={22} />
              </button>
            )}
          </div>
        </div>
      </div>
      <ModelSheet
        open={choosing}
        value={session.model}
        onClose={() => setChoosing(false)}
        onChoose={choose}
      />
      {kit && <kit.ModelFailure reason={change.reason} onClose={change.forget} onFree={goFree} />}
    </form>
  );
};
