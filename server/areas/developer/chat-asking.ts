import type { FastifyBaseLogger } from 'fastify';
import { type ChannelKind, chatFields } from '#contract/open-fields.ts';
import type { OpenMessage } from '#contract/open-messages.ts';
import { isFree } from '#contract/price.ts';
import type { Database } from '#server/db/database.ts';
import { asideOf, type ChatBody, withAside } from '#server/engines/chat-relay.ts';
import { Refusal } from '#server/http/handlers.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';
import type { ApiCaller, OpenContext } from '#server/http/open-handlers.ts';
import { requireAnswers } from '../ledger/unanswered.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { isUsable } from '../model/usable.ts';
import type { Charge } from './charge.ts';
import type { Counter } from './chat-count.ts';
import { leastAnswer, setAside } from './chat-hold.ts';
import {
  type Asked,
  lengthIn,
  type MessageReader,
  Tally,
  toolsOf,
  withThinkingOf,
  wordsBeside,
} from './chat-request.ts';
import { takeFields } from './fields.ts';
import { callTokens } from './key-bounds.ts';
import type { Gate } from './key-limits.ts';
import { mayUseModel, noSuchModel } from './key-models.ts';
import type { Thinkers } from './unseen-thinking.ts';
import { workSignal } from './work-signal.ts';

/** What the parts of a chat work with. */
export interface ChatWorks {
  db: Database;
  models: Pick<ModelService, 'find' | 'relay'>;
  gate: Pick<Gate, 'takeTokens' | 'addTokens'>;
  /** How long a service may say nothing, ms. */
  silenceMs: number;
  log: FastifyBaseLogger;
  read: MessageReader;
  thinkers: Thinkers;
  count: Counter;
}

/** A chat completion as it is asked for, in OpenAI's words. */
export type ChatAsked = Record<string, unknown> & {
  model: string;
  messages: readonly OpenMessage[];
};

/** Says a request otherwise for a kind of service; the name is the model's there. */
export type InWords = (body: ChatBody, kind: ChannelKind) => ChatBody;

/** A request whose answer is paid ahead. */
export interface Asking extends Asked {
  context: OpenContext;
  /** Ends the work of the service. */
  signal: AbortSignal;
  model: ResolvedModel;
  body: ChatBody;
  charge: Charge;
  /** The request in the words of a kind of service. */
  inWords: InWords;
  /** Tokens of money that are set aside. */
  held: number;
  /** What it thinks is not shown: the end of its answer alone tells what that took. */
  unseen: boolean;
  /** The request has gone out to a service. */
  sent: boolean;
  /** The channel that answers, or was asked last. */
  channelId: number | null;
}

const tooLong = ({ name }: ResolvedModel, most: number): ApiRefusal =>
  new ApiRefusal(
    'prompt_too_long',
    `对话超出了模型 ${name} 的上限：提问和回答合计最多 ${most} 个 token`,
    { code: 'context_length_exceeded', param: 'messages' },
  );

/** @throws Refusal where there is no such model for this key */
export const chatModel = async (
  { db, models }: Pick<ChatWorks, 'db' | 'models'>,
  caller: ApiCaller,
  name: string,
): Promise<ResolvedModel> => {
  const model = await models.find(db, name, caller.user);
  if (!model?.api || !mayUseModel(caller, name)) throw noSuchModel(name);
  if (!(await isUsable(db, model, caller.user))) throw noSuchModel(name);
  return model;
};

/** What is known of a request, read and counted. @throws Refusal */
export const readAsked = async (
  { read }: Pick<ChatWorks, 'read'>,
  context: OpenContext,
  model: ResolvedModel,
  given: ChatAsked,
) => {
  const passed = takeFields(context, chatFields, given, model.builtIn ? 'builtIn' : 'service');
  const { tools } = passed as { tools?: Record<string, unknown>[] };
  if (tools) passed['tools'] = toolsOf(tools);
  const most = callTokens(context.caller, model);
  const tally = new Tally(most - leastAnswer, () => tooLong(model, most));
  for (const words of wordsBeside(passed)) tally.text(words);
  const messages = await read(given.messages, tally, context, model);
  return { passed, messages, tally };
};

/** Checks a request, and sets aside what it may cost. @throws Refusal */
export const beginAsking = async (
  works: ChatWorks,
  context: OpenContext,
  given: ChatAsked,
  stream: boolean,
  inWords: InWords,
): Promise<Asking> => {
  const { caller } = context;
  const model = await chatModel(works, caller, given.model);
  if (!isFree(model)) await requireAnswers(caller.user.id, model.name);
  const { passed, messages, tally } = await readAsked(works, context, model, given);
  const n = typeof passed['n'] === 'number' ? passed['n'] : 1;
  if (stream && n > 1) throw new Refusal('bad_input', 'n：流式回答一次只能要一个，请把 n 设为 1');
  const { rough, beside } = tally;
  const counted = (name: string): Promise<number> => tally.counted(name);
  const room = callTokens(caller, model) - rough;
  const left = await works.gate.takeTokens(caller, rough);
  for (const [name, value] of Object.entries(left)) context.header(name, value);
  const wanted = Math.min(lengthIn(given) ?? room, room, model.maxTokens ?? room);
  const { budget } = withThinkingOf(passed, wanted);
  const unseen = works.thinkers.has(model.name, passed);
  const { charge, held, most } = await setAside(works, caller, model, {
    rough,
    counted,
    most: wanted,
    budget,
    n,
    inParts: stream && !unseen,
  });
  const body: ChatBody = withAside(
    {
      ...withThinkingOf(passed, most).fields,
      model: model.name,
      messages,
      max_tokens: most,
    },
    asideOf(given),
  );
  const signal = workSignal(context.signal, held > 0);
  const asking = { context, signal, model, body, inWords, beside, rough, counted, charge };
  return { ...asking, held, unseen, sent: false, channelId: null };
};
