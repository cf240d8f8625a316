import { AttachButton, AttachTray, DropVeil, pasteInto } from '@/shared/attach/attach.tsx';
import { useAttachments } from '@/shared/attach/attach-store.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { useDraft } from '@/shared/draft.ts';
import { endFirstView, hasFirstPicture, takeFirstBox } from '@/shared/first-view.ts';
import { compactNumber } from '@/shared/format.ts';
import { prefsStore } from '@/shared/prefs.ts';
import { priceText, useChatModels, useImageModels } from '@/shared/queries.ts';
import { Icon } from '@/shared/ui/icon.tsx';
import { ModelSheet } from '@/shared/ui/model-sheet.tsx';
import { WordsField } from '@/shared/ui/words-field.tsx';
import type { Model } from '@contract/model.ts';
import { Link } from '@tanstack/react-router';
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { StartOptions } from './start-options.tsx';
import { readChoice, useStart, type StartKind } from './use-start.ts';

/** Pictures’ prices come with the sizes that they go by, which a chat does without. */
const DrawPrice = lazy(() => import('./draw-price.tsx'));

/** Most models shown as chips; the rest are in the sheet. */
const chipModels = 3;

const kinds: readonly (readonly [kind: StartKind, text: string])[] = [
  ['chat', '聊天'],
  ['imagine', '画图'],
  ['free', '免费'],
];

const isFree = (model: Model) => model.factor === 0;

const AccountLine = () => {
  const { user, signedIn } = useAuth();
  if (!signedIn || !user)
    return (
      <p className="composer-account">
        免登录即可使用免费模型，
        <Link to="/login">登录</Link>
        后可用全部模型
      </p>
    );
  return (
    <p className="composer-account tabular">
      余额 {compactNumber(user.chatgpt_balance)}
      {user.vip > 0 && ` · 会员额度 ${compactNumber(user.vip_balance)}`}
      {user.sessions_left !== null && ` · 本月还可新建 ${user.sessions_left} 个会话`}
    </p>
  );
};

/** The new-session area: a question, a model, and ways to begin. */
export const Composer = ({
  focus,
  tab,
  ideas,
}: {
  focus: boolean;
  /** What the address asks for. */
  tab: StartKind;
  /** There is room for things to try, or the person is new here. */
  ideas: boolean;
}) => {
  const [text, setText] = useDraft('home');
  const [kind, setKind] = useState(tab);
  const [asked, setAsked] = useState(tab);
  if (asked !== tab) {
    setAsked(tab);
    setKind(tab);
  }
  const pictures = kind === 'imagine';
  const freeOnly = kind === 'free';
  const [chosenWith, keepChoice] = useDraft('start');
  const choice = useMemo(() => readChoice(chosenWith), [chosenWith]);
  const { start, busy, model } = useStart(choice, kind);
  const chats = useChatModels();
  const painters = useImageModels();
  const models = pictures ? painters : chats;
  const [choosing, setChoosing] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);

  useLayoutEffect(() => {
    takeFirstBox(() => box.current?.focus({ preventScroll: true }));
    if (!hasFirstPicture()) endFirstView();
  }, []);

  useEffect(() => {
    if (!focus) return;
    window.scrollTo({ top: 0 });
    box.current?.focus({ preventScroll: true });
  }, [focus]);

  const chips = useRef<HTMLDivElement>(null);
  const chosen = model?.name;
  useEffect(() => {
    // On a phone the chips go on beyond the edge: the chosen one is in sight.
    const row = chips.current;
    const chip = row?.querySelector<HTMLElement>(`[data-model="${CSS.escape(chosen ?? '')}"]`);
    if (row && chip && chip.offsetLeft + chip.offsetWidth > row.clientWidth)
      row.scrollLeft = chip.offsetLeft - 16;
  }, [chosen]);

  const choose = useCallback(
    (name: string) => prefsStore.set(pictures ? { painter: name } : { model: name }),
    [pictures],
  );
  const target = useMemo(() => ({ draftKey: 'home', model, onModel: choose }), [model, choose]);
  const added = useAttachments('home').items.length > 0 && !pictures;
  const send = () => void start(text);
  const all = (models.data ?? []).filter((each) => !freeOnly || each.factor === 0);
  // The chosen one is always among those in sight.
  const shown = all.slice(0, chipModels);
  if (model && !shown.includes(model)) shown.splice(-1, 1, model);

  return (
    <section className="composer" aria-labelledby="greeting">
      <div className="composer-head">
        <h2 id="greeting">今天想做点什么？</h2>
        <div className="composer-tabs" role="tablist" aria-label="新会话">
          {kinds.map(([each, name]) => (
            <button
              key={each}
              type="button"
              role="tab"
              aria-selected={each === kind}
              aria-controls="composer-panel"
              onClick={() => setKind(each)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      {!pictures && <AttachTray target={target} />}
      {!pictures && <DropVeil target={target} />}
      <form
        className="composer-box"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {!pictures && <AttachButton target={target} />}
        <WordsField
          ref={box}
          text={text}
          placeholder={pictures ? '描述一张画…' : '问点什么…'}
          label="输入问题"
          onText={setText}
          onSend={send}
          onPaste={pictures ? undefined : pasteInto(target)}
        />
        <button
          type="submit"
          className="composer-send"
          data-priced={pictures || undefined}
          aria-busy={busy || undefined}
          disabled={busy || (text.trim() === '' && !added)}
        >
          <Icon name="send" size={22} />
          <span className="sr-only">发送</span>
          {pictures && model && (
            <Suspense fallback={null}>
              <DrawPrice model={model} />
            </Suspense>
          )}
        </button>
      </form>
      <div id="composer-panel" role="tabpanel" className="composer-panel">
        <div ref={chips} className="composer-models" role="radiogroup" aria-label="模型">
          {models.isPending && <span className="chip chip-wait" aria-hidden="true" />}
          {models.isError && (
            <button type="button" className="chip" onClick={() => void models.refetch()}>
              <Icon name="retry" size={16} />
              模型没有取到，点此重试
            </button>
          )}
          {shown.map((each) => (
            <button
              key={each.name}
              type="button"
              role="radio"
              aria-checked={each.name === model?.name}
              data-model={each.name}
              className="chip"
              onClick={() => choose(each.name)}
            >
              <span className="chip-dot" style={{ background: each.color || undefined }} />
              <span className="chip-text">{each.label}</span>
              <small>{priceText(each)}</small>
            </button>
          ))}
          {all.length > shown.length && (
            <button type="button" className="chip" onClick={() => setChoosing(true)}>
              全部 {all.length} 个
              <Icon name="down" size={16} />
            </button>
          )}
        </div>
        {!pictures && (
          <StartOptions
            choice={choice}
            suggesting={ideas}
            busy={busy}
            onChoose={(change) => {
              keepChoice(JSON.stringify({ ...choice, ...change }));
              box.current?.focus({ preventScroll: true });
            }}
            onSuggestion={(idea) => void start(idea, true)}
          />
        )}
      </div>
      <AccountLine />
      <ModelSheet
        open={choosing}
        value={model?.name ?? ''}
        only={freeOnly ? isFree : undefined}
        pictures={pictures}
        onClose={() => setChoosing(false)}
        onChoose={choose}
      />
    </section>
  );
};
