import { sessionTypes } from '#contract/kinds.ts';
import { keepLast, steady, useCall } from '#src/platform/call-query.ts';
import {
  allKept,
  allReady,
  setAttachments,
  useAttachments,
} from '#src/platform/attach/attach-store.ts';
import { AttachDrop, AttachTray } from '#src/widgets/attach/attach.tsx';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { toldApart } from '#src/platform/format.ts';
import { useLine } from '#src/platform/line.ts';
import { useChatModels, useModel, useSettings } from '#src/platform/queries.ts';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { ThinkingSwitch } from '#src/widgets/composer/thinking-part.tsx';
import { WebSwitch } from '#src/widgets/composer/web-switch.tsx';
import { PromptSheet } from '#src/widgets/template/prompt-sheet.tsx';
import { toast } from '#src/platform/toast.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { useThinking } from '#src/platform/thinking-choice.ts';
import { useWebChoice } from '#src/platform/web-choice.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { deepTokens } from '#common/thinking-models.ts';
import { callsTools, toolsTold } from '#common/tool-models.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';
import { isFree } from '#contract/price.ts';
import type { SessionDetail } from '#contract/session.ts';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { AtList, type TakeKeys } from './at-list.tsx';
import { useChoices } from './chat-choices.ts';
import { setCompose, useCompose } from './compose-store.ts';
import { typedModel } from './typed-model.ts';
import {
  contextTokens,
  draftTokens,
  priceAhead,
  priceOf,
  roughly,
  type Exchange,
} from '#src/widgets/conversation/price-ahead.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';

export { ModelFailure } from '#src/widgets/composer/model-failure.tsx';
export { VoiceButton } from './voice-button.tsx';
export { AttachButton, pasteInto } from '#src/widgets/attach/attach.tsx';
export {
  hasImages,
  imagesRefused,
  takeMessage,
  waitForUploads,
  type Outgoing,
} from './outgoing.ts';
export { typedModel };

/** What the parts of the send box that load later need to know of it. */
export interface BoxState {
  session: SessionDetail;
  text: string;
  /** The session has no message yet. */
  first: boolean;
  target: AttachTarget;
  /** What goes along with the next question, newest first; another object after every change. */
  context: { revision: string; recent: (exchanges: number) => readonly Exchange[] };
  setText: (text: string) => void;
  /** A reply is being written that can be stopped. */
  stoppable: boolean;
  /** Sends now what waited for its images. */
  send: () => void;
  /** Goes on with a model of factor 0. */
  goFree: () => void;
}

/** The model that will answer: in a session of people the mentioned one, if any. */
const useAnswering = ({ session, target, text }: BoxState): Model | undefined => {
  const { ai } = useCompose(session.uuid);
  const models = useChatModels();
  if (session.type === sessionTypes.chat) return target.model;
  if (ai === '') return typedModel(text, models.data ?? [])?.model;
  return models.data?.find(({ name }) => name === ai);
};

interface Estimate {
  free: boolean;
  /** What is thought beside comes to more than a little. */
  deep: boolean;
  /** Tokens that asking costs, all models together. */
  asking: number;
  /** How much is missing to begin at all; 0: nothing. */
  missing: number;
  have: number;
}

/** A text is looked up when nobody has typed for so long, ms. */
const pause = 400;
/** As many letters of a question as are looked up. */
const lookedUp = 200;

/** What the passages of the session's knowledge base on a question add, tokens. */
const usePassageTokens = (key: string, text: string): number => {
  const question = text.slice(0, lookedUp);
  const [settled, settle] = useState('');
  useEffect(() => {
    if (key === '') return undefined;
    const timer = setTimeout(() => settle(question), pause);
    return () => clearTimeout(timer);
  }, [key, question]);
  const { data } = useCall(
    'passageTokens',
    { embedding_key: key, question: settled },
    { ...steady, enabled: key !== '' && settled !== '', ...keepLast },
  );
  return settled === '' ? 0 : (data?.tokens ?? 0);
};

const useEstimate = (state: BoxState): Estimate | null => {
  const { session, first, context } = state;
  const text = useDeferredValue(state.text);
  const attachments = useAttachments(session.uuid);
  const settings = useSettings();
  const { user } = useAuth();
  const models = useChatModels();
  const model = useAnswering(state);
  const [{ beside, withTemplate }] = useChoices(session.uuid);
  const second =
    session.type === sessionTypes.chat && beside !== session.model
      ? models.data?.find(({ name }) => name === beside)
      : undefined;
  const { defaults } = limits;
  const asked =
    session.embedding_key === ''
      ? (settings.max_history ?? defaults.max_history)
      : defaults.embedding_history;
  const exchanges =
    session.type === sessionTypes.chat
      ? asked
      : (settings.at_ai_max_history ?? defaults.at_ai_max_history);
  const most = model?.max_prompt ?? limits.defaultMaxPrompt;
  // Counted anew when a message came or was changed, not at every key.
  const before = useMemo(
    () => (first ? 0 : contextTokens(context.recent(exchanges), most)),
    [first, exchanges, most, context],
  );
  const web = useWebChoice(session.uuid, session.model);
  const { choice: thinking } = useThinking(session.model);
  const passages = usePassageTokens(session.embedding_key, text.trim());
  if (!model || !user) return null;
  const template = withTemplate ? (session.scenario?.prompt ?? '') : '';
  const tokens = before + passages + draftTokens(template + text.trim(), attachments, most);
  const answering = second ? [model, second] : [model];
  // What a model is told of its tools goes along, too.
  const told = ({ name }: { name: string }) =>
    session.type === sessionTypes.chat && !session.temporary && callsTools(name)
      ? toolsTold(settings.tools !== 0, web?.on === true)
      : 0;
  const thought = thinking === 'deep' ? deepTokens : 0;
  const prices = answering.map((each) =>
    priceAhead(each, tokens + told(each), each.thinking ? thought : 0),
  );
  const needed = prices.reduce((sum, price) => sum + price.needed, 0);
  const vip = answering.some((each) => each.vip_excluded) ? 0 : user.vip_balance;
  const have = user.chatgpt_balance + vip;
  return {
    free: answering.every((each) => isFree(priceOf(each))),
    deep: thinking === 'deep' && answering.some((each) => each.thinking),
    asking: prices.reduce((sum, price) => sum + price.asking, 0),
    missing: Math.max(0, needed - have),
    have,
  };
};

/** What the next message costs, before it is sent; of a reply that is being written, what stopping it does. */
const Price = ({ state }: { state: BoxState }) => {
  const estimate = useEstimate(state);
  const writing = useAnswering(state);
  if (state.stoppable && state.text === '' && writing && !isFree(priceOf(writing)))
    return (
      <span className={kitCss.sendPrice} data-price title="问题和已经写出的照常计费">
        停止仍需付费
      </span>
    );
  if (!estimate) return null;
  return (
    <span
      className={kitCss.sendPrice}
      data-price
      title={
        estimate.free
          ? undefined
          : '提问部分的估计，含前面的对话、图片与知识库的资料；回复按字数另计'
      }
    >
      {estimate.free
        ? '免费'
        : `约 ${roughly(estimate.asking)} tokens${estimate.deep ? ' 起' : ''}`}
    </span>
  );
};

/** Said before sending, while there is still something that can be done. */
const BalanceNote = ({ state }: { state: BoxState }) => {
  const estimate = useEstimate(state);
  const { signedIn } = useAuth();
  const models = useChatModels();
  if (!estimate || estimate.missing === 0 || !signedIn) return null;
  const free = models.data?.some((model) => isFree(priceOf(model)));
  return (
    <div className={kitCss.sendNote} role="status">
      <p>余额不足：还剩 {compactNumber(Math.max(0, estimate.have))} tokens，不够这条消息。</p>
      <Link className={kitCss.sendNoteAct} to="/account" search={{ tab: 'recharge' }}>
        去充值
      </Link>
      {free && (
        <button type="button" className={kitCss.sendNoteAct} onClick={state.goFree}>
          使用免费模型
        </button>
      )}
    </div>
  );
};

const Removable = ({
  words,
  label,
  onRemove,
}: {
  words: string;
  label: string;
  onRemove: () => void;
}) => (
  <span className={kitCss.sendChip}>
    <span>{words}</span>
    <button type="button" aria-label={label} onClick={onRemove}>
      <Icon name="close" size={14} />
    </button>
  </span>
);

const noModel = '';

/** Said before sending: nothing answers here any more. */
const ModelGone = ({ state }: { state: BoxState }) => {
  const { session, first, goFree } = state;
  const model = useModel(session.model);
  const free = useChatModels().data?.find((each) => isFree(priceOf(each)));
  if (session.type !== sessionTypes.chat || model?.disable !== 1) return null;
  return (
    <div className={kitCss.sendNote} role="status">
      <p>{model.label} 已经停用，这里不能再提问。</p>
      {free && (
        <button type="button" className={kitCss.sendNoteAct} onClick={goFree}>
          {first ? `换成 ${free.label}` : `新建会话，问 ${free.label}`}
        </button>
      )}
    </div>
  );
};

/**
 * Sends what waited for its uploads as soon as they are done, or are left to the outbox because the
 * line is not well; a failed one stops that. Gives whether something waits.
 */
const useWaiting = ({ session, send }: BoxState): boolean => {
  const attachments = useAttachments(session.uuid);
  const reached = useLine() === 'well';
  const { sendWhenReady } = attachments;
  const failed = attachments.items.some((item) => item.state === 'failed');
  const ready = allReady(attachments) || (!reached && allKept(attachments));
  const now = useRef(send);
  useEffect(() => {
    now.current = send;
  });
  useEffect(() => {
    if (!sendWhenReady || (!failed && !ready)) return;
    setAttachments(session.uuid, { sendWhenReady: false });
    if (failed) toast('有附件没有传上去，请重试或去掉它再发送', 'error');
    else now.current();
  }, [sendWhenReady, failed, ready, session.uuid]);
  return sendWhenReady;
};

/** Above the text: who is spoken to, what is added, what is wrong. */
export const BoxTop = ({ state }: { state: BoxState }) => {
  const { session, target } = state;
  const { ai, atUser } = useCompose(session.uuid);
  const models = useChatModels();
  const waits = useWaiting(state);
  const label = models.data?.find(({ name }) => name === ai)?.label ?? ai;
  return (
    <>
      <AttachDrop target={target} />
      {waits && (
        <p className={kitCss.sendNote} role="status">
          附件传好后自动发送
        </p>
      )}
      <ModelGone state={state} />
      <BalanceNote state={state} />
      {(ai !== '' || atUser) && (
        <div className={kitCss.sendChips}>
          {atUser && (
            <Removable
              words={`回复 ${atUser.name}`}
              label={`不再回复 ${atUser.name}`}
              onRemove={() => setCompose(session.uuid, { atUser: null })}
            />
          )}
          {ai !== '' && (
            <Removable
              words={`@${label}`}
              label={`不再请 ${label} 回答`}
              onRemove={() => setCompose(session.uuid, { ai: noModel })}
            />
          )}
        </div>
      )}
      <AttachTray target={target} />
    </>
  );
};

const twoPath = 'M4.5 5h6v14h-6zM13.5 5h6v14h-6z';

/** A second model that answers the same question. */
const Beside = ({ session }: { session: SessionDetail }) => {
  const [{ beside }, choose] = useChoices(session.uuid);
  const [open, setOpen] = useState(false);
  const models = useChatModels();
  const others = models.data?.filter(({ name }) => name !== session.model) ?? [];
  if (others.length === 0) return null;
  const chosen = others.find(({ name }) => name === beside);
  const own = models.data?.find(({ name }) => name === session.model)?.label ?? session.model;
  return (
    <>
      {chosen ? (
        <Removable
          words={`＋ ${toldApart([own, chosen.label])[1]}`}
          label={`不再和 ${chosen.label} 对比`}
          onRemove={() => choose({ beside: noModel })}
        />
      ) : (
        <button
          type="button"
          className={kitCss.sendBeside}
          aria-label="再加一个模型对比"
          title="再加一个模型对比"
          onClick={() => setOpen(true)}
        >
          <PathIcon path={twoPath} size={16} />
          <span className={kitCss.sendBesideWords}>多模型对比</span>
        </button>
      )}
      <ModelSheet
        open={open}
        value={beside}
        title="再加一个模型对比"
        only={(model) => model.name !== session.model}
        onClose={() => setOpen(false)}
        onChoose={(name) => choose({ beside: name })}
      />
    </>
  );
};

const isAt = (text: string): boolean => text.trim() === '@' || text.trim() === '＠';

/** In a session of people: the models, when the message is nothing but an @, or by the button. */
const Mention = ({ state, onKeys }: { state: BoxState; onKeys: TakeKeys }) => {
  const { session, text, setText } = state;
  const { ai } = useCompose(session.uuid);
  const wide = useMedia(wideEnoughForMenu);
  const [asked, setAsked] = useState(false);
  const [dismissed, setDismissed] = useState(false);
  const typed = isAt(text);
  if (!typed && dismissed) setDismissed(false);
  const open = asked || (typed && !dismissed);
  const close = () => {
    setAsked(false);
    if (typed) setDismissed(true);
  };
  const choose = (name: string) => {
    setCompose(session.uuid, { ai: name });
    if (isAt(text)) setText('');
    setAsked(false);
  };
  return (
    <>
      <button
        type="button"
        className={kitCss.sendBeside}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setAsked(true)}
      >
        @ 请模型回答
      </button>
      {wide ? (
        open && <AtList value={ai} onKeys={onKeys} onClose={close} onChoose={choose} />
      ) : (
        <ModelSheet
          open={open}
          value={ai}
          title="请哪个模型回答"
          onClose={close}
          onChoose={choose}
        />
      )}
    </>
  );
};

const slash = /^\s*[/／]\s*$/;

/** Templates of prompts, when the message is nothing but a slash, or by the button. */
const Prompts = ({ state }: { state: BoxState }) => {
  const { session, text, setText } = state;
  const [asked, setAsked] = useState(false);
  const [dismissed, setDismissed] = useState(false);
  const typed = slash.test(text);
  if (!typed && dismissed) setDismissed(false);
  return (
    <>
      <button
        type="button"
        className={kitCss.sendBeside}
        aria-haspopup="dialog"
        title="输入 / 也能打开"
        onClick={() => setAsked(true)}
      >
        / 提示词
      </button>
      <PromptSheet
        open={asked || (typed && !dismissed)}
        type={0}
        model={session.model}
        typing={typed}
        onClose={(sought) => {
          setAsked(false);
          if (!typed) return;
          setDismissed(true);
          // It was no search after all: /home is a word like any other.
          if (sought !== '') setText(`${text.trim()}${sought}`);
        }}
        onChoose={(chosen) =>
          setText(slash.test(text) || text === '' ? chosen : `${text}\n${chosen}`)
        }
      />
    </>
  );
};

/** In the line of the model: a second one, or a mention; and what it will cost. */
export const BoxRow = ({ state, onKeys }: { state: BoxState; onKeys: TakeKeys }) => (
  <>
    {state.session.type === sessionTypes.chat ? (
      <Beside session={state.session} />
    ) : (
      <Mention state={state} onKeys={onKeys} />
    )}
    {state.session.type === sessionTypes.chat && !state.session.temporary && (
      <WebSwitch place={state.session.uuid} model={state.session.model} />
    )}
    {state.session.type === sessionTypes.chat && <ThinkingSwitch model={state.target.model} />}
    {state.session.scenario === null && <Prompts state={state} />}
    <Price state={state} />
  </>
);
