import { sessionTypes } from '#contract/kinds.ts';
import {
  allKept,
  allReady,
  setAttachments,
  useAttachments,
} from '#src/platform/attach/attach-store.ts';
import { AttachButton, AttachDrop, AttachTray } from '#src/widgets/attach/attach.tsx';
import { toldApart } from '#src/platform/format.ts';
import { useLine } from '#src/platform/line.ts';
import { useChatModels, useModel } from '#src/platform/queries.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { Act } from '#src/ui/act.tsx';
import { PathIcon } from '#src/ui/icon.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { Removable } from '#src/widgets/composer/removable.tsx';
import { ThinkingSwitch } from '#src/widgets/composer/thinking-part.tsx';
import { WebSwitch } from '#src/widgets/composer/web-switch.tsx';
import { withSign } from '#src/widgets/template/typed-words.ts';
import { lazyAsked, lazyPart } from '#src/platform/lazy-chunk.ts';
import { toast } from '#src/platform/toast.ts';
import { isFree } from '#contract/price.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useEffect, useRef, useState } from 'react';
import type { TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import type { BoxState } from './box-state.ts';
import { useChoices } from './chat-choices.ts';
import { setCompose, useCompose } from './compose-store.ts';
import { typedModel } from './typed-model.ts';
import { priceOf } from '#src/widgets/conversation/price-ahead.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';
import boxCss from '#src/widgets/composer/send.module.css';

/** What a message costs and what goes along with it: the box does without for a moment. */
const prices = () => import('./send-price.tsx');
const Price = lazyPart(() => prices().then(({ Price: part }) => ({ default: part })));
const BalanceNote = lazyPart(() => prices().then(({ BalanceNote: part }) => ({ default: part })));
export const VoiceButton = lazyPart(
  () => import('#src/widgets/voice/voice-button.tsx'),
  <span className={boxCss.attachSpace} />,
);
const ChatBases = lazyAsked(() => import('./chat-bases.tsx'));
const TypedHere = lazyPart(() => import('./typed-here.tsx'));
const Context = lazyPart(() => prices().then(({ Context: part }) => ({ default: part })));

export { ModelFailure } from '#src/widgets/composer/model-failure.tsx';
export { pasteInto } from '#src/widgets/attach/attach.tsx';
export {
  hasImages,
  imagesRefused,
  takeMessage,
  waitForUploads,
  type Outgoing,
} from './outgoing.ts';
export { typedModel };

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
      <Context state={state} />
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

/** Files, and what else a question is asked about. */
export const Plus = ({ session, target }: Pick<BoxState, 'session' | 'target'>) => {
  const [open, setOpen] = useState(false);
  const used = useEver(open);
  if (session.type !== sessionTypes.chat || !session.owner) return <AttachButton target={target} />;
  return (
    <>
      <AttachButton target={target}>
        {(close) => (
          <div role="group" aria-label="问什么">
            <Act
              icon="search"
              label="知识库"
              note={session.embedding_name}
              onClick={() => {
                close();
                setOpen(true);
              }}
            />
          </div>
        )}
      </AttachButton>
      {used && <ChatBases session={session} open={open} onClose={() => setOpen(false)} />}
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

/** Opens the list of a sign as its key does. */
const SignButton = ({
  state: { text, setText, focus },
  sign,
  words,
}: {
  state: BoxState;
  sign: '/' | '@';
  words: string;
}) => (
  <button
    type="button"
    className={kitCss.sendBeside}
    aria-haspopup="listbox"
    title={`输入 ${sign} 也能打开`}
    onClick={() => {
      setText(withSign(text, sign));
      focus();
    }}
  >
    {sign} {words}
  </button>
);

/** In the line of the model: a second one, or a mention; and what it will cost. */
export const BoxRow = ({ state, onKeys }: { state: BoxState; onKeys: TakeKeys }) => (
  <>
    {state.session.type === sessionTypes.chat ? (
      <Beside session={state.session} />
    ) : (
      <SignButton state={state} sign="@" words="请模型回答" />
    )}
    {state.session.type === sessionTypes.chat && !state.session.temporary && (
      <WebSwitch place={state.session.uuid} model={state.target.model} />
    )}
    {state.session.type === sessionTypes.chat && <ThinkingSwitch model={state.target.model} />}
    {state.session.scenario === null && <SignButton state={state} sign="/" words="提示词" />}
    <TypedHere state={state} onKeys={onKeys} />
    <Price state={state} />
  </>
);
