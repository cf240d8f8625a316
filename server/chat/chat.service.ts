import { randomUUID } from 'node:crypto';
import type { Parsed } from '../../contract/calls.ts';
import { limits, tooLongText, tooShortText } from '../../contract/limits.ts';
import { deduction, estimateTokens, isFree } from '../../contract/price.ts';
import { sessionTypes } from '../../contract/session.ts';
import type { Executor, Transaction } from '../db/database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { ChatMessage } from '../engines/chat-engine.ts';
import { Refusal, type Identity } from '../http/handlers.ts';
import { hold } from '../ledger/ledger.service.ts';
import type { ModelService, ResolvedModel } from '../model/model.service.ts';
import {
  noteReply,
  readableSession,
  requireUsable,
  writableSession,
  type SessionRow,
} from '../session/session.service.ts';
import { requireVisible, seesHidden } from './access.ts';
import { heldAhead, type AnswerRequest } from './answer.ts';
import * as branches from './branch.store.ts';
import * as store from './chat.store.ts';
import { summaryOf, titleOf } from './digest.ts';
import { forgetFavorites } from './marks.store.ts';
import {
  buildMessages,
  historyLength,
  passagesText,
  promptTokens,
  sampling,
  withTemplate,
  type Generation,
} from './prompt.ts';
import {
  checkAttachments,
  contentOf,
  fullRoom,
  readQuestion,
  type Attachments,
  type Question,
} from './question.ts';
import { humanText, viewMessages } from './views.ts';

/** As far as messages of a session are counted and paged through. */
const countedMessages = 10_000;
/** Texts of a knowledge base that go with a question. */
const passagesAQuestion = 4;

/** Areas that give texts for the prompt. */
export interface Sources {
  attachments: Attachments;
  /** A scenario's text; null where there is none any more. */
  scenarioPrompt: (db: Executor, id: number) => Promise<string | null>;
  /** The texts of a knowledge base that are nearest to a question. */
  passages: (
    db: Executor,
    key: string,
    question: string,
    most: number,
  ) => Promise<{ title: string; text: string }[]>;
}

export interface ChatServiceDeps {
  models: ModelService;
  sources: Sources;
  minPromptBytes: number;
  /** The process that will write the replies. */
  instanceId: number;
}

type Asked = Generation & { strict_mode?: 0 | 1 | undefined };

/** What a reply is to be written to. */
interface Task extends Question {
  session: SessionRow;
  /** Whose question it is. */
  userId: number;
  withTemplate: boolean;
  /** The message before it; undefined: the last one shown. */
  prevId?: number;
  /** Of a temporary session: what was said before, oldest first. */
  context?: readonly { human: string; ai: string }[];
}

/** What a reply is to be written with, and what it must hold. */
interface Plan {
  model: ResolvedModel;
  messages: ChatMessage[];
  sampling: AnswerRequest['sampling'];
  /** Of the hold to be made; null for a free model. */
  holdId: string | null;
  /** Tokens to hold. */
  held: number;
}

const refuseTemporary = (session: SessionRow): void => {
  if (session.temporary) throw new Refusal('session_unsuitable', '临时对话不保存内容，请重新发送');
};

const requireChat = (session: SessionRow): void => {
  if (session.type !== sessionTypes.chat) throw new Refusal('session_unsuitable');
};

export const createChatService = ({
  models,
  sources,
  minPromptBytes,
  instanceId,
}: ChatServiceDeps) => {
  const usableModel = async (
    db: Executor,
    name: string,
    user: Identity,
    { human, request }: Question,
  ): Promise<ResolvedModel> => {
    const model = await models.find(db, name);
    if (!model) throw new Refusal('model_unavailable');
    requireUsable(model, user.guest);
    if (!model.vision && request !== null && request.images.length > 0)
      throw new Refusal('vision_missing');
    const maxPrompt = model.maxPrompt ?? limits.defaultMaxPrompt;
    if (human.length > maxPrompt) throw new Refusal('prompt_too_long', tooLongText(maxPrompt));
    return model;
  };

  /** The question and what was said before it, as the model gets them. */
  const conversation = async (
    tx: Transaction,
    task: Task,
    model: ResolvedModel,
    asked: Asked,
  ): Promise<ChatMessage[]> => {
    const { session } = task;
    const maxPrompt = model.maxPrompt ?? limits.defaultMaxPrompt;
    const embedding = session.embeddingKey !== '';
    const limit = historyLength(asked, session.ownerSetting, { embedding });
    const template =
      session.scenarioId === null ? null : await sources.scenarioPrompt(tx, session.scenarioId);
    const room = fullRoom(maxPrompt);
    const content = (said: Question & { withTemplate: boolean }) => {
      const human =
        template !== null && said.withTemplate ? withTemplate(template, said.human) : said.human;
      return contentOf(
        tx,
        sources.attachments,
        { human, request: said.request },
        { vision: model.vision, room },
      );
    };
    let system = '';
    if (embedding) {
      const found = await sources.passages(tx, session.embeddingKey, task.human, passagesAQuestion);
      system = passagesText(found, asked.strict_mode === 1);
    }
    const question = await content(task);
    if (task.context) {
      const pairs = limit === 0 ? [] : task.context.slice(-limit).reverse();
      return buildMessages(pairs, question, maxPrompt, system);
    }
    // A session without a title has no message yet.
    const none = limit === 0 || session.prompt === '' || task.prevId === 0;
    const earlier = none
      ? []
      : await store.answeredPairs(tx, { sessionId: session.id, upTo: task.prevId, limit });
    const pairs = [];
    for (const exchange of earlier) pairs.push({ human: await content(exchange), ai: exchange.ai });
    return buildMessages(pairs, question, maxPrompt, system);
  };

  const planFor = (
    model: ResolvedModel,
    messages: ChatMessage[],
    asked: Asked,
    task: Task,
  ): Plan => {
    const plan = { model, messages, sampling: sampling(asked, task.session.ownerSetting) };
    if (isFree(model)) return { ...plan, holdId: null, held: 0 };
    const ahead = Math.min(heldAhead, model.maxTokens ?? heldAhead);
    const held = deduction(model, promptTokens(messages, estimateTokens), ahead);
    return { ...plan, holdId: randomUUID(), held };
  };

  const plan = async (
    tx: Transaction,
    task: Task,
    model: ResolvedModel,
    asked: Asked,
  ): Promise<Plan> => planFor(model, await conversation(tx, task, model, asked), asked, task);

  /** Holds what was planned; gives what the reply is to be written from. */
  const prepare = async (
    tx: Transaction,
    id: number,
    { session, userId, human }: Pick<Task, 'session' | 'userId' | 'human'>,
    { model, messages, sampling, holdId, held }: Plan,
  ): Promise<AnswerRequest> => {
    if (holdId) {
      const made = await hold(tx, {
        id: holdId,
        userId,
        amount: held,
        reference: `history:${id}`,
        vipAllowed: !model.vipExcluded,
      });
      if (!made) throw new Refusal('balance');
    }
    return {
      historyId: id,
      sessionId: session.id,
      sessionUuid: session.uuid,
      userId,
      human,
      model,
      messages,
      sampling,
      holdId,
      held,
    };
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

  return {
    async list(db: Executor, input: Parsed<'historyList'>, user: Identity | null) {
      const session = await readableSession(db, input.session_id, user);
      const { page, page_size: pageSize } = input;
      const filter = {
        sessionId: session.id,
        before: input.before,
        after: input.after,
        ...(input.id === undefined
          ? {}
          : { only: { id: input.id, hidden: seesHidden(session, user) } }),
      };
      const kept = !session.temporary;
      const rows = kept
        ? await store.listMessages(db, user?.id ?? null, filter, {
            newestFirst: input.newest === 1,
            offset: Math.min((page - 1) * pageSize, countedMessages),
            limit: pageSize,
          })
        : [];
      const total = kept ? await store.countMessages(db, filter, countedMessages) : 0;
      return {
        list: await viewMessages(db, rows, session, user),
        page,
        page_count: Math.ceil(total / pageSize),
        page_size: pageSize,
        total,
      };
    },

    async newer(db: Executor, input: Parsed<'lastMessages'>, user: Identity | null) {
      const session = await readableSession(db, input.sessionId, user);
      if (session.temporary) return [];
      const rows = await store.listMessages(
        db,
        user?.id ?? null,
        {
          sessionId: session.id,
          after: input.maxHistoryId,
          orChanged: session.type === sessionTypes.people,
        },
        { newestFirst: false, offset: 0, limit: 100 },
      );
      return viewMessages(db, rows, session, user);
    },

    /** Stores the message; its replies are to be begun once that is committed. */
    send(db: Executor, input: Parsed<'sendMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const asked = readQuestion(input);
        const session = await writableSession(tx, input.session_id, user);
        requireChat(session);
        if (input.replace !== undefined) refuseTemporary(session);
        const model = await usableModel(tx, session.model, user, asked);
        if (input.beside === model.name) throw new Refusal('bad_input', 'beside：请选另一个模型');
        const second =
          input.beside === undefined ? null : await usableModel(tx, input.beside, user, asked);
        const question = await checkAttachments(tx, sources.attachments, asked, user.id);
        const replaced =
          input.replace === undefined ? null : await placeOf(tx, session, input.replace);
        // A session has its title from its first message on.
        const first = replaced ? replaced.prevId === 0 : session.prompt === '';
        const minimum =
          first &&
          input.suggestion === 0 &&
          !input.context?.length &&
          (question.request?.images.length ?? 0) === 0;
        if (minimum && Buffer.byteLength(question.human) < minPromptBytes)
          throw new Refusal('prompt_too_short', tooShortText(minPromptBytes));
        const place = replaced
          ? await branches.startBranch(tx, session.id, replaced.prevId)
          : undefined;
        const task: Task = {
          ...question,
          session,
          userId: user.id,
          withTemplate: input.with_template === 1,
          ...(place ? { prevId: place.prevId } : {}),
          ...(session.temporary ? { context: input.context ?? [] } : {}),
        };
        const planned = await plan(tx, task, model, input);
        const message = await store.insertMessage(tx, {
          ...task,
          ...(session.temporary ? { human: '', request: null } : {}),
          sessionId: session.id,
          model: model.name,
          owner: instanceId,
          holdId: planned.holdId,
          ...(place ? { place } : {}),
          card: {
            title: session.temporary ? '' : titleOf(question.human) || '[图片]',
            retitle: replaced !== null && first,
          },
        });
        if (!message) throw new Refusal('session_busy');
        const requests = [await prepare(tx, message.id, task, planned)];
        if (second) {
          const plannedSecond = await plan(tx, task, second, input);
          const besideId = await branches.insertBeside(tx, message.id, {
            model: second.name,
            holdId: plannedSecond.holdId,
          });
          if (besideId === null) throw new Refusal('session_busy');
          requests.push(await prepare(tx, besideId, task, plannedSecond));
        }
        return {
          id: message.id,
          // An answer to a call with an idempotency key is stored for a day.
          msg: session.temporary ? '' : humanText(question.human, question.request),
          createdAt: message.createdAt,
          beside: requests[1]?.historyId ?? null,
          requests,
        };
      });
    },

    /** Makes the last message, whose reply is missing or not whole, as new. */
    retry(db: Executor, input: Parsed<'retryMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
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
        const model = await usableModel(tx, name, user, message);
        if (message.answered) await noteReply(tx, session.id, { replies: -1 });
        const task = { ...message, session };
        const planned = await plan(tx, task, model, input);
        const restarted = await store.restartMessage(tx, message.id, {
          owner: instanceId,
          model: model.name,
          holdId: planned.holdId,
        });
        if (!restarted) throw new Refusal('session_busy');
        return prepare(tx, message.id, task, planned);
      });
    },

    /** Answers a message once more, as a new branch. */
    regenerate(db: Executor, input: Parsed<'regenerateMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        requireChat(session);
        refuseTemporary(session);
        const message = await placeOf(tx, session, input.history_id);
        const still = input.model ?? (await models.find(tx, message.model))?.name;
        const model = await usableModel(tx, still ?? session.model, user, message);
        const place = await branches.startBranch(tx, session.id, message.prevId);
        const task = { ...message, session };
        const planned = await plan(tx, task, model, input);
        const made = await store.insertMessage(tx, {
          ...message,
          model: model.name,
          owner: instanceId,
          holdId: planned.holdId,
          place,
          card: { title: '' },
        });
        if (!made) throw new Refusal('session_busy');
        return prepare(tx, made.id, task, planned);
      });
    },

    /** Shows the branch of a message, or of two answers beside each other that one. */
    switchBranch(db: Executor, input: Parsed<'switchBranch'>, user: Identity): Promise<void> {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        requireChat(session);
        const message = await store.findMessage(tx, input.history_id);
        if (message?.sessionId !== session.id) throw new Refusal('not_found');
        if (message.shown) return;
        if (!(await branches.showBranch(tx, message))) throw new Refusal('session_busy');
      });
    },

    /** The state of a message's reply, for somebody who wants to read it. */
    async readable(db: Executor, input: Parsed<'eventStream'>, user: Identity | null) {
      const session = await readableSession(db, input.session_id, user);
      const message = await requireVisible(db, input.history_id, session, user);
      return message.state;
    },

    /** Whether the person's own reply is being written. Others' messages are as if missing. */
    async stoppable(db: Executor, id: number, user: Identity): Promise<boolean> {
      const message = await store.findMessage(db, id);
      if (message?.userId !== user.id) throw new Refusal('not_found');
      return message.state === 'streaming';
    },

    remove(db: Executor, input: Parsed<'deleteHistory'>, user: Identity): Promise<void> {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        requireChat(session);
        const message = await store.findMessage(tx, input.id);
        if (message?.sessionId !== session.id) throw new Refusal('not_found');
        if (message.state === 'streaming') throw new Refusal('session_busy');
        await forgetFavorites(tx, message.id);
        await branches.removeFromBranch(tx, message);
        const newest = message.answered
          ? await store.answeredPairs(tx, { sessionId: session.id, limit: 1 })
          : null;
        await noteReply(tx, session.id, {
          replies: message.answered ? -1 : 0,
          likes: -message.likeCount,
          ...(newest ? { summary: summaryOf(newest[0]?.ai ?? '') } : {}),
        });
      });
    },
  };
};
