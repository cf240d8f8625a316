import { sessionTypes } from '#contract/kinds.ts';
import { finePointer, useMedia } from '#src/platform/use-media.ts';
import { offlineText } from '#src/platform/api-error.ts';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import { toldApart, maskName } from '#src/platform/format.ts';
import { useDraft } from '#src/platform/draft.ts';
import { whenLoaded } from '#src/platform/lazy-chunk.ts';
import { useLine } from '#src/platform/line.ts';
import { useChatModels, useModel, useSettings } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { toast } from '#src/platform/toast.ts';
import { WordsField } from '#src/ui/words-field.tsx';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import type { SessionDetail } from '#contract/session.ts';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { useChoices } from './chat-choices.ts';
import { readCompose, setCompose } from './compose-store.ts';
import { useModelChange } from '#src/widgets/composer/model-change.ts';
import { deliver, type Kit, loadKit, type Send } from './deliver.ts';
import type { BoxState } from './box-state.ts';
import { BoxForm, LetterCount } from '#src/widgets/composer/box-form.tsx';
import { SendModel } from '#src/widgets/composer/send-model.tsx';
import { refusalOf, useGrowth } from '#src/widgets/composer/send-rules.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import boxCss from '#src/widgets/composer/send.module.css';

const useKit = (): Kit | null => {
  const [kit, setKit] = useState<Kit | null>(null);
  useEffect(() => whenLoaded(loadKit, setKit), []);
  return kit;
};

const noModels: readonly Model[] = [];

const boxWords = (session: SessionDetail, first: boolean): string => {
  if (session.friend) return `对 ${maskName(session.friend.name)} 说…`;
  if (session.type === sessionTypes.people)
    return first ? '写下您的问题…' : '写下您的回答，@ 请模型回答';
  return first ? '问点什么…' : '继续问…';
};

/** The name over the box where two models answer side by side, each by what tells it apart. */
const useNameBeside = ({ uuid, type, model }: SessionDetail): string | undefined => {
  const [{ beside }] = useChoices(uuid);
  const others = useChatModels().data?.filter(({ name }) => name !== model);
  const other = others?.find(({ name }) => type === sessionTypes.chat && name === beside);
  const label = useModel(model)?.label ?? model;
  return other && toldApart([label, other.label])[0];
};

/** With a mouse and a keyboard one writes at once; on a phone the keyboard would cover what is read. */
const useFocusAtOnce = (box: RefObject<HTMLTextAreaElement | null>, uuid: string): boolean => {
  const handy = useMedia(finePointer);
  useEffect(() => {
    if (handy && uuid !== '' && !document.querySelector('#root')?.hasAttribute('inert'))
      box.current?.focus({ preventScroll: true });
  }, [box, handy, uuid]);
  return handy;
};

/** A model that was typed answers as one that was chosen does: gives the words without its name. */
const takeTyped = (
  kit: Kit | null,
  { uuid, type }: SessionDetail,
  prompt: string,
  models: readonly Model[],
): string => {
  if (type !== sessionTypes.people || readCompose(uuid).ai !== '') return prompt;
  const typed = kit?.typedModel(prompt, models);
  if (typed) setCompose(uuid, { ai: typed.model.name });
  return typed?.rest || prompt;
};

/** Where what is added goes, and the model that must bear it. */
const useTarget = (
  { uuid, type }: SessionDetail,
  known: Model | undefined,
  choose: ((name: string) => void) | undefined,
): AttachTarget => {
  const [model, onModel] = type === sessionTypes.chat ? [known, choose] : [];
  return useMemo(() => ({ draftKey: uuid, model, onModel }), [uuid, model, onModel]);
};

/** What goes along with the next question: another object after every change. */
const useContextAhead = (thread: Thread, view: ThreadView): BoxState['context'] => {
  const revision = `${view.count}:${view.replying?.id ?? 0}`;
  return useMemo(
    () => ({ revision, recent: (exchanges) => thread.store.recentExchanges(exchanges) }),
    [thread, revision],
  );
};

const KeyHint = () => (
  <span className={boxCss.sendHint}>
    {useSettings().disable_enter === 1 ? 'Ctrl + Enter 发送' : 'Enter 发送，Shift + Enter 换行'}
  </span>
);

const StopButton = ({ free }: { free: boolean }) => {
  const { thread } = useChatActs();
  return (
    <button
      type="button"
      className={`round ${boxCss.sendButton}`}
      data-sender
      aria-label="停止"
      title={free ? '停止' : '停止：问题和已经写出的照常计费'}
      onClick={thread.stop}
    >
      <Icon name="stop" size={24} />
    </button>
  );
};

/** Where something is written its button keeps its place, so that no press meant for it stops. */
const Buttons = ({
  voice,
  stop,
  empty,
  mustWait,
}: {
  voice: ReactNode;
  stop: ReactNode;
  empty: boolean;
  mustWait: boolean;
}) => (
  <>
    {(!empty && stop) || voice || <span className={boxCss.attachSpace} />}
    {(empty && stop) || (
      <button
        type="submit"
        className={`round ${boxCss.sendButton}`}
        data-sender
        aria-label="发送"
        aria-busy={mustWait || undefined}
        disabled={empty || mustWait}
      >
        <Icon name="send" size={22} />
      </button>
    )}
  </>
);

export const SendBox = ({
  session,
  view,
  onSend,
}: {
  session: SessionDetail;
  view: ThreadView;
  onSend: Send;
}) => {
  const { uuid, type } = session;
  const [text, setText] = useDraft(uuid);
  // Images say something without words.
  const imaged = useDraft(`attach:${uuid}`)[0].includes('"image"');
  const box = useGrowth(text);
  const models = useChatModels().data ?? noModels;
  const { thread, startAnew } = useChatActs();
  const kit = useKit();
  const keys = useRef<((event: KeyboardEvent) => boolean) | null>(null);
  const onKeys: TakeKeys = useCallback((take) => {
    keys.current = take;
  }, []);
  const delivering = useRef<object | null>(null);
  const change = useModelChange(uuid);
  const chats = type === sessionTypes.chat;
  const first = view.count === 0;
  const reached = useLine() === 'well' && !view.reconnecting;
  // The next message is written down and sent after the reply before it; what the server keeps
  // nothing of can not wait.
  const mustWait = session.temporary && (view.sending || (reached && view.replying !== null));
  const canStop = reached && view.replying !== null && view.replyStarted;
  const known = models.find((each) => each.name === session.model);
  const shown = useNameBeside(session);
  const most = (chats ? known?.max_prompt : null) ?? limits.defaultMaxPrompt;
  const empty = text.trim() === '' && !imaged;
  const { choose } = change;
  const target = useTarget(session, known, first ? choose : undefined);
  const handy = useFocusAtOnce(box, uuid);
  const context = useContextAhead(thread, view);

  const send = () => {
    const prompt = text.trim();
    if (empty || mustWait || delivering.current) return;
    const needsLength = first && chats && kit?.hasImages(uuid) !== true;
    const refusal =
      refusalOf(prompt, most, needsLength) ||
      (kit?.imagesRefused(uuid, target.model, models) ?? '');
    if (refusal !== '') {
      toast(refusal, 'error');
      return;
    }
    const taking = {};
    delivering.current = taking;
    if (handy) box.current?.focus({ preventScroll: true });
    const free = () => {
      if (delivering.current === taking) delivering.current = null;
    };
    deliver(thread, session, takeTyped(kit, session, prompt, models), onSend, {}, free)
      .catch(() => toast(offlineText, 'error'))
      .finally(free);
  };
  const goFree = () => {
    const free = models.find((model) => model.factor === 0)?.name;
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
    <BoxForm onSend={send}>
      <div className={boxCss.sendRow}>
        {chats && <SendModel name={session.model} shown={shown} first={first} onChoose={choose} />}
        {kit && <kit.BoxRow state={state} onKeys={onKeys} />}
        <LetterCount text={text} most={most} />
        <KeyHint />
      </div>
      <div>
        {kit && <kit.BoxTop state={state} />}
        <div className={boxCss.sendLine} data-writer="chat">
          {kit ? (
            <kit.Plus session={session} target={target} />
          ) : (
            <span className={boxCss.attachSpace} />
          )}
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
          <Buttons
            voice={kit && <kit.VoiceButton state={state} />}
            stop={canStop && <StopButton free={known?.factor === 0} />}
            empty={empty}
            mustWait={mustWait}
          />
        </div>
      </div>
      {kit && <kit.ModelFailure reason={change.reason} onClose={change.forget} onFree={goFree} />}
    </BoxForm>
  );
};
