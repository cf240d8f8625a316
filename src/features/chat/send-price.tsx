import { sessionTypes } from '#contract/kinds.ts';
import { keepLast, steady, useCall } from '#src/platform/call-query.ts';
import { useAttachments } from '#src/platform/attach/attach-store.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { compactNumber } from '#common/compact-number.ts';
import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { useChatModels, useSettings } from '#src/platform/queries.ts';
import { useStore } from '#src/platform/store.ts';
import { useEver } from '#src/platform/use-ever.ts';
import { useThinking } from '#src/platform/thinking-choice.ts';
import { useWebChoice } from '#src/platform/web-choice.ts';
import { deepTokens } from '#common/thinking-models.ts';
import { toolsTold } from '#common/tool-models.ts';
import type { Model } from '#contract/model.ts';
import type { SessionContext } from '#contract/context.ts';
import { limits } from '#contract/limits.ts';
import { isFree } from '#contract/price.ts';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { type BoxState, useAnswering } from './box-state.ts';
import { useChoices } from './chat-choices.ts';
import { contextStore, gaugeStore, isKept } from './context-store.ts';
import {
  contextTokens,
  draftTokens,
  priceAhead,
  priceOf,
  roughly,
} from '#src/widgets/conversation/price-ahead.ts';
import { ShortBalance } from '#src/widgets/composer/short-balance.tsx';
import kitCss from '#src/widgets/composer/send-kit.module.css';

const ContextPart = lazyPart(() => import('./context-part.tsx'));

interface Estimate {
  free: boolean;
  /** What is thought beside, or further rounds of tools, may come to more. */
  more: boolean;
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

/** Null: it is all read, or nothing is known. */
const useSessionContext = ({ session: { uuid } }: BoxState): SessionContext | null => {
  const known = useStore(contextStore);
  return known?.uuid === uuid && isKept(known.context) ? known.context : null;
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
  const counted = useMemo(
    () => (first ? 0 : contextTokens(context.recent(exchanges), most)),
    [first, exchanges, most, context],
  );
  // Of a long one the server knows what goes along.
  const before = useSessionContext(state)?.tokens ?? counted;
  const web = useWebChoice(session.uuid, model);
  const { choice: thinking } = useThinking(session.model);
  const calls = ({ tools, built_in: builtIn }: Model) =>
    session.type === sessionTypes.chat && !session.temporary && tools && !builtIn;
  const usual = settings.tools !== 0;
  // What servers of tools say of theirs is told to the model, too.
  const foreign = useCall(
    'toolTokens',
    {},
    { enabled: usual && model !== undefined && calls(model), staleTime: 60_000 },
  ).data?.tokens;
  const passages = usePassageTokens(session.embedding_key, text.trim());
  if (!model || !user) return null;
  const template = withTemplate ? (session.scenario?.prompt ?? '') : '';
  const tokens = before + passages + draftTokens(template + text.trim(), attachments, most);
  const answering = second ? [model, second] : [model];
  // What a model is told of its tools goes along, too.
  const told = (each: Model) =>
    calls(each) ? toolsTold(usual, web?.on === true) + (usual ? (foreign ?? 0) : 0) : 0;
  const thought = thinking === 'deep' ? deepTokens : 0;
  const prices = answering.map((each) =>
    priceAhead(each, tokens + told(each), each.thinking ? thought : 0),
  );
  const needed = prices.reduce((sum, price) => sum + price.needed, 0);
  const vip = answering.some((each) => each.vip_excluded) ? 0 : user.vip_balance;
  const have = user.chatgpt_balance + vip;
  return {
    free: answering.every((each) => isFree(priceOf(each))),
    more: answering.some((each) => told(each) > 0 || (each.thinking && thinking === 'deep')),
    asking: prices.reduce((sum, price) => sum + price.asking, 0),
    missing: Math.max(0, needed - have),
    have,
  };
};

/** What the next message costs, before it is sent; of a reply that is being written, what stopping it does. */
export const Price = ({ state }: { state: BoxState }) => {
  const { session } = state;
  const { uuid } = session;
  const estimate = useEstimate(state);
  const writing = useAnswering(state);
  if (state.stoppable && state.text === '' && writing && !isFree(priceOf(writing)))
    return (
      <span className={kitCss.sendPrice} data-price title="问题和已经写出的照常计费">
        停止仍需付费
      </span>
    );
  if (!estimate) return null;
  const title = estimate.free
    ? undefined
    : '提问部分的估计，含前面的对话、图片与知识库的资料；回复按字数另计';
  const words = estimate.free
    ? '免费'
    : `约 ${roughly(estimate.asking)} tokens${estimate.more ? ' 起' : ''}`;
  if (session.type !== sessionTypes.chat || session.temporary || !session.owner)
    return (
      <span className={kitCss.sendPrice} data-price title={title}>
        {words}
      </span>
    );
  return (
    <button
      type="button"
      className={`${kitCss.sendPrice} ${kitCss.sendGauge}`}
      data-price
      title={title}
      aria-haspopup="dialog"
      aria-label={`${words}，看模型读到哪里`}
      onClick={() => gaugeStore.set(uuid)}
    >
      {words}
    </button>
  );
};

/** Said before sending, while there is still something that can be done. */
export const BalanceNote = ({ state }: { state: BoxState }) => {
  const estimate = useEstimate(state);
  const { signedIn } = useAuth();
  const models = useChatModels();
  if (!estimate || estimate.missing === 0 || !signedIn) return null;
  const free = models.data?.some((model) => isFree(priceOf(model)));
  return (
    <ShortBalance onFree={free ? state.goFree : null}>
      还剩 {compactNumber(Math.max(0, estimate.have))} tokens，不够这条消息
    </ShortBalance>
  );
};

/** Of a conversation that is longer than usual, or whose gauge is opened: what its model reads. */
export const Context = ({ state }: { state: BoxState }) => {
  const { session, context } = state;
  const { max_history: usual = limits.defaults.max_history } = useSettings();
  const asked = useEver(useStore(gaugeStore) === session.uuid);
  const long =
    session.type === sessionTypes.chat && session.owner && context.recent(usual + 1).length > usual;
  return long || asked ? <ContextPart state={state} long={long} /> : null;
};
