import { Chip, ChipDot } from '#src/ui/chip.tsx';
import { AttachButton, AttachDrop, AttachTray, pasteInto } from '#src/widgets/attach/attach.tsx';
import { type AttachTarget, useAttachments } from '#src/platform/attach/attach-store.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import { endFirstView, hasSnapshot, takeFirstBox } from '#src/platform/first-view.ts';
import { compactNumber } from '#common/compact-number.ts';
import { inIdleTime } from '#src/platform/idle.ts';
import { onLineWell } from '#src/platform/line.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { priceText, useModelsOf } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { finePointer } from '#src/platform/use-media.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { ThinkingSwitch } from '#src/widgets/composer/thinking-part.tsx';
import { WebSwitch } from '#src/widgets/composer/web-switch.tsx';
import { WordsField } from '#src/ui/words-field.tsx';
import type { Model } from '#contract/model.ts';
import { getRouteApi, Link, useLocation } from '@tanstack/react-router';
import { lazyAsked, lazyPart, lazyWithin } from '#src/platform/lazy-chunk.ts';
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
} from 'react';
import { clearBegun } from './begun.ts';
import { StartOptions } from './start-options.tsx';
import type { StartSheet } from './start-sheets.tsx';
import { readChoice, useStart, type StartChoice, type StartKind } from './use-start.ts';
import css from './home.module.css';

/** Images’ prices come with the sizes that they go by, which a chat does without. */
const DrawPrice = lazyPart(() => import('./draw-price.tsx'));
/** What is behind the ＋ besides files. */
const StartActs = lazyWithin(async () => ({
  default: (await import('./start-sheets.tsx')).StartActs,
}));
const VoiceButton = lazyPart(() => import('#src/widgets/voice/voice-button.tsx'));
/** What images are drawn with, and images to try. */
const Studio = lazyPart(() => import('./studio.tsx'));
/** What is typed behind a slash or an @. */
const TypedList = lazyPart(() => import('./typed-at-home.tsx'));
const StartSheets = lazyAsked(() => import('./start-sheets.tsx'));

const route = getRouteApi('/');

const kinds: readonly (readonly [kind: StartKind, text: string])[] = [
  ['chat', '聊天'],
  ['imagine', '画图'],
  ['free', '免费'],
];

const isFree = (model: Model) => model.factor === 0;

const AccountLine = () => {
  const { user, signedIn } = useAuth();
  const { href } = useLocation();
  if (!signedIn || !user)
    return (
      <p className={css.composerAccount}>
        免登录即可使用免费模型，
        <Link to="/login" search={{ back: href === '/' ? undefined : href }}>
          登录
        </Link>
        后可用全部模型
      </p>
    );
  return (
    <p className={`${css.composerAccount} tabular`}>
      余额 {compactNumber(user.chatgpt_balance)}
      {user.vip > 0 && ` · 会员额度 ${compactNumber(user.vip_balance)}`}
      {user.sessions_left !== null && ` · 本月还可新建 ${user.sessions_left} 个会话`}
    </p>
  );
};

/** What a new session is for; it stands in the address, too: who signs in on the way comes back to it. */
const useKind = (tab: StartKind): [StartKind, (kind: StartKind) => void] => {
  const navigate = route.useNavigate();
  const [kind, setKind] = useState(tab);
  const [asked, setAsked] = useState(tab);
  if (asked !== tab) {
    setAsked(tab);
    setKind(tab);
  }
  const choose = (next: StartKind) => {
    setKind(next);
    void navigate({
      search: (now) => ({ ...now, tab: next === 'chat' ? undefined : next }),
      replace: true,
    });
  };
  return [kind, choose];
};

const Kinds = ({ kind, onChoose }: { kind: StartKind; onChoose: (kind: StartKind) => void }) => (
  <div className="segments" role="tablist" aria-label="新会话">
    {kinds.map(([each, name]) => (
      <button
        key={each}
        type="button"
        role="tab"
        aria-selected={each === kind}
        aria-controls="composer-panel"
        onClick={() => onChoose(each)}
      >
        {name}
      </button>
    ))}
  </div>
);

/** What was begun on this device alone goes once the line is well, and when there is time. */
const useClearBegun = () => {
  useEffect(() => onLineWell(clearBegun), []);
  useEffect(() => inIdleTime(clearBegun), []);
};

/** When the box has the caret. */
const useBoxFocus = (focus: boolean, handy: boolean) => {
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    takeFirstBox('home', () => box.current?.focus({ preventScroll: true }));
    if (!hasSnapshot()) endFirstView();
  }, []);
  useEffect(() => {
    if (!focus) return;
    window.scrollTo({ top: 0 });
    box.current?.focus({ preventScroll: true });
  }, [focus]);
  useEffect(() => {
    const at = document.activeElement;
    if (handy && matchMedia(finePointer).matches && !(at instanceof HTMLInputElement))
      box.current?.focus({ preventScroll: true });
  }, [handy]);
  return box;
};

/** The model that is asked, and the others. */
const ModelChoice = ({
  model,
  kind,
  onChoose,
}: {
  model: Model | undefined;
  kind: StartKind;
  onChoose: (name: string) => void;
}) => {
  const images = kind === 'imagine';
  const models = useModelsOf(images ? 'image' : 'chat');
  const [open, setOpen] = useState(false);
  const price = model ? priceText(model) : '';
  if (models.isError && !model)
    return (
      <Chip onClick={() => void models.refetch()}>
        <Icon name="retry" size={16} />
        模型没有取到，点此重试
      </Chip>
    );
  return (
    <>
      <button
        type="button"
        className={css.composerModel}
        aria-label={`选择模型，现在是 ${model?.label ?? '…'}，${price}`}
        aria-haspopup="dialog"
        disabled={!model}
        onClick={() => setOpen(true)}
      >
        <ChipDot color={model?.color} />
        <span className="chip-text">{model?.label ?? '…'}</span>
        <small>{price}</small>
        <Icon name="down" size={14} />
      </button>
      <ModelSheet
        open={open}
        value={model?.name ?? ''}
        only={kind === 'free' ? isFree : undefined}
        kind={images ? 'image' : 'chat'}
        onClose={() => setOpen(false)}
        onChoose={onChoose}
      />
    </>
  );
};

/** Files, and what is behind the ＋ besides them. */
const Plus = ({
  target,
  choice,
  onChoose,
  onOpen,
}: {
  target: AttachTarget;
  choice: StartChoice;
  onChoose: (change: Partial<StartChoice>) => void;
  onOpen: (sheet: StartSheet) => void;
}) => (
  <AttachButton target={target} label="添加图片或文件，选择场景等">
    {(close) => (
      <StartActs
        temporary={choice.temporary}
        onOpen={(which) => {
          close();
          onOpen(which);
        }}
        onTemporary={() => {
          close();
          onChoose({ temporary: !choice.temporary });
        }}
      />
    )}
  </AttachButton>
);

const SendButton = ({
  images,
  model,
  busy,
  disabled,
}: {
  images: boolean;
  model: Model | undefined;
  busy: boolean;
  disabled: boolean;
}) => (
  <button
    type="submit"
    className={`round ${css.composerSend}`}
    data-sender
    data-priced={images || undefined}
    aria-busy={busy || undefined}
    disabled={busy || disabled}
  >
    <Icon name="send" size={22} />
    <span className="sr-only">发送</span>
    {images && model && <DrawPrice model={model} />}
  </button>
);

/** Begins a session, and says so at once: its question stands in the place of home from the press on. */
const leading =
  (
    start: ReturnType<typeof useStart>['start'],
    {
      busy,
      added,
      temporary,
      onLead,
    }: {
      busy: boolean;
      /** Words that wait for a file stand in the box of their session. */
      added: boolean;
      /** Nothing of it is kept: it waits for the line where it was written. */
      temporary: boolean;
      onLead: (words: string | null) => void;
    },
  ) =>
  async (words: string, suggestion = false) => {
    if (busy) return;
    if (!temporary) onLead(added && !suggestion ? '' : words.trim());
    if (!(await start(words, suggestion))) onLead(null);
  };

/** The new-session area: a question, a model, and ways to begin. */
export const Composer = ({
  focus,
  handy,
  tab,
  ideas,
  folded = false,
  onLead,
}: {
  focus: boolean;
  /** Nothing else was asked for: with a keyboard at hand one writes at once. */
  handy: boolean;
  /** What the address asks for. */
  tab: StartKind;
  /** There is room for things to try, or the person is new here. */
  ideas: boolean;
  /** Something else is being done: it takes no room, and keeps what was written. */
  folded?: boolean;
  /** A session is begun with these words, and opens; null: it came to nothing. */
  onLead: (words: string | null) => void;
}) => {
  const [text, setText] = useDraft('home');
  const [kind, setKind] = useKind(tab);
  const images = kind === 'imagine';
  const [chosenWith, keepChoice] = useDraft('start');
  const choice = useMemo(() => readChoice(chosenWith), [chosenWith]);
  const { start, busy, model } = useStart(choice, kind);
  const [sheet, setSheet] = useState<StartSheet>();
  const sheetUsed = useEver(sheet !== undefined);
  const box = useBoxFocus(focus, handy);
  const typed = useEver(/[/／@＠]/.test(text));
  const keys = useRef<((event: KeyboardEvent) => boolean) | null>(null);
  useClearBegun();
  const choose = useCallback(
    (name: string) => prefsStore.set(images ? { painter: name } : { model: name }),
    [images],
  );
  const target = useMemo(() => ({ draftKey: 'home', model, onModel: choose }), [model, choose]);
  const added = useAttachments('home').items.length > 0 && !images;
  const begin = leading(start, { busy, added, temporary: choice.temporary, onLead });
  const send = () => void begin(text);
  const take = (prompt: string) => {
    setText(prompt);
    box.current?.focus();
  };
  const option = (change: Partial<StartChoice>) => {
    keepChoice(JSON.stringify({ ...choice, ...change }));
    box.current?.focus({ preventScroll: true });
  };

  return (
    <section className={css.composer} aria-labelledby="greeting" hidden={folded}>
      <div className={css.composerHead}>
        <h2 id="greeting">今天想做点什么？</h2>
        <Kinds kind={kind} onChoose={setKind} />
      </div>
      {!images && <AttachTray target={target} />}
      {!images && <AttachDrop target={target} />}
      <form
        className={css.composerBox}
        data-writer="home"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <WordsField
          ref={box}
          text={text}
          placeholder={images ? '描述一张画…' : '问点什么…'}
          label="输入问题"
          onText={setText}
          onSend={send}
          onPaste={images ? undefined : pasteInto(target)}
          onKey={(event) => keys.current?.(event) === true}
        />
        {typed && (
          <TypedList
            text={text}
            images={images}
            model={model?.name ?? ''}
            onKeys={(take) => (keys.current = take)}
            onText={setText}
            onModel={choose}
            onScenario={({ id, name }) => option({ scenario: { id, name } })}
          />
        )}
        <div className={css.composerRow}>
          {!images && <Plus target={target} choice={choice} onChoose={option} onOpen={setSheet} />}
          <ModelChoice model={model} kind={kind} onChoose={choose} />
          {!images && !choice.temporary && <WebSwitch place="home" model={model} />}
          {!images && <ThinkingSwitch model={model} />}
          <span className={css.composerEnd}>
            {!images && <VoiceButton state={{ text, setText, send }} />}
            <SendButton
              images={images}
              model={model}
              busy={busy}
              disabled={text.trim() === '' && !added}
            />
          </span>
        </div>
      </form>
      <div id="composer-panel" role="tabpanel" className={css.composerPanel}>
        {!images && (
          <StartOptions
            choice={choice}
            suggesting={ideas}
            busy={busy}
            onChoose={option}
            onSuggestion={(idea) => void begin(idea, true)}
          />
        )}
        {images && model && <Studio model={model} onIdea={take} />}
      </div>
      <AccountLine />
      {sheetUsed && (
        <StartSheets
          sheet={sheet}
          chosenBases={choice.knowledge}
          onChoose={option}
          onClose={() => setSheet(undefined)}
        />
      )}
    </section>
  );
};
