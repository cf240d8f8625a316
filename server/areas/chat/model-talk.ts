import { randomUUID } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import { tooShortText } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { titleOf } from '#common/markdown/digest.ts';
import type { Transaction } from '#server/db/database.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { noteReply, type SessionRow } from '../session/session.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import * as branches from './branch.store.ts';
import * as store from './chat.store.ts';
import { forgetSummaryOf } from './context.store.ts';
import { type createConversation, type Asked, type Task } from './conversation.ts';
import type { LoopState } from './loop-state.ts';
import { removeLoop } from './loop.store.ts';
import { checkAttachments, type Attachments, type Question } from './question.ts';
import {
  holdForReply,
  insertAhead,
  planReply,
  usableModel,
  type Locked,
  type Plan,
} from './reply-plan.ts';
import { untitled } from './session-title.ts';
import { humanText } from './views.ts';

export interface ModelTalkDeps {
  models: ModelService;
  attachments: Attachments;
  knowledge: Pick<KnowledgeService, 'on' | 'mayAsk'>;
  minPromptBytes: number;
  toolbox: Toolbox;
  /** The process that will write the replies. */
  instanceId: number;
}

/** What is said to a model in a session of one person. */
export interface ModelTalk extends ModelTalkDeps {
  conversation: ReturnType<typeof createConversation>;
}

const refuseTemporary = (session: SessionRow): void => {
  if (session.temporary) throw new Refusal('session_unsuitable', '临时对话不保存内容，请重新发送');
};

const requireChat = (session: SessionRow): void => {
  if (session.type !== sessionTypes.chat) throw new Refusal('session_unsuitable');
};

/** A message of the session, with its branch shown, to put another one in its place. */
const placeOf = async (
  tx: Transaction,
  session: SessionRow,
  id: number,
): Promise<store.FoundMessage> => {
  const message = await store.findMessage(tx, id);
  if (message?.sessionId !== session.id) throw new Refusal('not_found');
  if (message.state === 'streaming') throw new Refusal('session_busy');
  if (!message.visible && !(await branches.showBranch(tx, message)))
    throw new Refusal('session_busy');
  return message;
};

const plan = async (
  { conversation, toolbox }: ModelTalk,
  tx: Transaction,
  task: Task,
  model: ResolvedModel,
  asked: Asked,
  user: Identity,
): Promise<Plan> => {
  const { messages, sources, written } = await conversation.ask(tx, task, model, asked, user);
  // What answers from a knowledge base alone looks nowhere else; a temporary one leaves no traces.
  const { ownerSetting } = task.session;
  const none = task.session.temporary || asked.strict_mode === 1;
  const web = asked.web === 1;
  const only = ownerSetting.tools === 0;
  const foreign = none || only ? [] : await toolbox.foreign(tx, model, user);
  const tools = none
    ? []
    : [...toolbox.offered(model, { web, only }), ...foreign.map(({ name }) => name)];
  const told = tools.length > 0 ? JSON.stringify(toolbox.specs(tools, foreign)) : '';
  const planned = planReply(model, messages, asked, ownerSetting, told);
  if (tools.length === 0) return { ...planned, sources };
  const loop: LoopState = {
    round: 0,
    tools,
    ...(foreign.length > 0 ? { foreign } : {}),
    messages,
    sampling: planned.sampling,
    cites: sources?.length ?? null,
    spent: { promptTokens: 0, completionTokens: 0, deductTokens: 0 },
    length: 0,
    pages: [],
    trusted: written,
    condenses: !model.builtIn && ownerSetting.condense !== 0,
    user: {
      id: user.id,
      guest: user.guest,
      person: user.person,
      painter: ownerSetting.default_image_model ?? '',
      vip: task.session.ownerVip,
      ...(user.manager ? { manager: true } : {}),
    },
    run: randomUUID(),
    taken: 0,
  };
  return { ...planned, sources, loop };
};

/** Asks the session's model, and another one beside it where one is named. @throws Refusal */
export const sendToModel = async (
  talk: ModelTalk,
  tx: Transaction,
  { session, drawn, wallet }: Locked,
  given: Question,
  input: Parsed<'sendMessage'>,
  user: Identity,
) => {
  const { models, attachments, minPromptBytes, instanceId } = talk;
  requireChat(session);
  const { temporary } = session;
  if (input.replace !== undefined) refuseTemporary(session);
  // Nobody but the model is spoken to here.
  const asked = { ...given, request: given.request && { ...given.request, at_user: null } };
  const model = await usableModel(tx, models, session.model, user, asked);
  if (input.beside === model.name) throw new Refusal('bad_input', 'beside：请选另一个模型');
  const second =
    input.beside === undefined ? null : await usableModel(tx, models, input.beside, user, asked);
  const question = await checkAttachments(tx, attachments, asked, user.id);
  const replaced = input.replace === undefined ? null : await placeOf(tx, session, input.replace);
  // A session has its title from its first message on.
  const first = replaced ? replaced.prevId === 0 : session.prompt === '';
  const { images = [], files = [] } = question.request ?? {};
  const wordsAlone = images.length + files.length === 0;
  const minimum = first && wordsAlone && input.suggestion === 0 && !input.context?.length;
  if (minimum && Buffer.byteLength(question.human) < minPromptBytes)
    throw new Refusal('prompt_too_short', tooShortText(minPromptBytes));
  const place = replaced ? await branches.startBranch(tx, session.id, replaced.prevId) : undefined;
  const task: Task = {
    ...question,
    session,
    userId: user.id,
    withTemplate: input.with_template === 1,
    ...(place ? { prevId: place.prevId } : {}),
    ...(temporary ? { context: input.context ?? [] } : {}),
  };
  const planned = await plan(talk, tx, task, model, input, user);
  const message = {
    ...task,
    ...(temporary ? { human: '', request: null } : {}),
    ...drawn,
    sessionId: session.id,
    model: model.name,
    owner: instanceId,
    holdId: planned.holdId,
    sources: planned.sources,
    ...(place ? { place } : {}),
    card: {
      title: temporary ? '' : titleOf(question.human) || untitled,
      retitle: replaced !== null && first,
    },
  };
  await insertAhead(tx, message);
  const asking = { ...task, id: drawn.id };
  const requests = [await holdForReply(tx, asking, session, planned, wallet)];
  if (second) {
    const plannedSecond = await plan(talk, tx, task, second, input, user);
    const id = await branches.insertBeside(tx, drawn.id, {
      model: second.name,
      holdId: plannedSecond.holdId,
      sources: plannedSecond.sources,
    });
    if (id === null) throw new Refusal('session_busy');
    requests.push(await holdForReply(tx, { ...task, id }, session, plannedSecond));
  }
  return {
    ...drawn,
    // An answer to a call with an idempotency key is stored for a day.
    msg: temporary ? '' : humanText(question.human, question.request),
    beside: requests[1]?.historyId ?? null,
    requests,
  };
};

/** Makes the last message, whose reply is missing or not whole, as new. */
export const retryReply = async (
  talk: ModelTalk,
  tx: Transaction,
  session: SessionRow,
  input: Parsed<'retryMessage'>,
  user: Identity,
) => {
  requireChat(session);
  refuseTemporary(session);
  const message = await store.findMessage(tx, input.history_id);
  if (message?.sessionId !== session.id) throw new Refusal('not_found');
  const last = await store.endOfBranch(tx, session.id, 'last');
  const isLast =
    last?.id === message.id ||
    (message.besideGroup !== 0 && last?.besideGroup === message.besideGroup);
  if (!isLast) throw new Refusal('nothing_to_retry');
  if (message.state === 'streaming') throw new Refusal('session_busy');
  if (message.state === 'done') throw new Refusal('nothing_to_retry');
  // Of two answers beside each other each keeps its model.
  const name = message.besideGroup === 0 ? session.model : message.model;
  const model = await usableModel(tx, talk.models, name, user, message);
  if (message.answered) await noteReply(tx, session.id, { replies: -1 });
  const task = { ...message, session };
  const planned = await plan(talk, tx, task, model, input, user);
  await removeLoop(tx, message.id);
  await forgetSummaryOf(tx, message);
  const restarted = await store.restartMessage(tx, message.id, {
    owner: talk.instanceId,
    model: model.name,
    holdId: planned.holdId,
    sources: planned.sources,
  });
  if (!restarted) throw new Refusal('session_busy');
  return holdForReply(tx, task, session, planned);
};

/** Replies a message once more, as a new branch. */
export const regenerateReply = async (
  talk: ModelTalk,
  tx: Transaction,
  session: SessionRow,
  input: Parsed<'regenerateMessage'>,
  user: Identity,
) => {
  requireChat(session);
  refuseTemporary(session);
  const message = await placeOf(tx, session, input.history_id);
  const still = input.model ?? (await talk.models.find(tx, message.model, user))?.name;
  const model = await usableModel(tx, talk.models, still ?? session.model, user, message);
  const place = await branches.startBranch(tx, session.id, message.prevId);
  const task = { ...message, session };
  const planned = await plan(talk, tx, task, model, input, user);
  const drawn = await store.drawMessage(tx);
  await insertAhead(tx, {
    ...message,
    ...drawn,
    model: model.name,
    owner: talk.instanceId,
    holdId: planned.holdId,
    sources: planned.sources,
    place,
    card: { title: '' },
  });
  return holdForReply(tx, { ...task, id: drawn.id }, session, planned);
};

/** Shows the branch of a message, or of two answers beside each other that one. */
export const showBranch = async (
  tx: Transaction,
  session: SessionRow,
  id: number,
): Promise<void> => {
  requireChat(session);
  const message = await store.findMessage(tx, id);
  if (message?.sessionId !== session.id) throw new Refusal('not_found');
  if (message.shown) return;
  if (!(await branches.showBranch(tx, message))) throw new Refusal('session_busy');
};
