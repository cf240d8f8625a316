import { randomUUID } from 'node:crypto';
import type { Parsed } from '#contract/calls.ts';
import { tooShortText } from '#contract/limits.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { requirePhoneIn } from '../contact/phone-rule.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import {
  noteReply,
  noteSeen,
  amongStrangers,
  readableSession,
  writableSession,
  type SessionRow,
} from '../session/session.service.ts';
import { friendStateOf } from '../session/friend.service.ts';
import { requireVisible, seesHidden } from './access.ts';
import {
  holdForReply,
  insertAhead,
  lockForSending,
  planReply,
  usableModel,
  type Locked,
  type Plan,
} from './reply-plan.ts';
import * as branches from './branch.store.ts';
import * as store from './chat.store.ts';
import { removeLoop } from './loop.store.ts';
import type { LoopState } from './loop-state.ts';
import { titleOf } from '#common/markdown/digest.ts';
import { forgetSummaryOf } from './context.store.ts';
import { createConversation, type Asked, type Task } from './conversation.ts';
import { createFilmsService } from './films.service.ts';
import { createPeopleService } from './people.service.ts';
import { createImageMessages } from './image-messages.service.ts';
import {
  asTalk,
  checkAttachments,
  readQuestion,
  type Attachments,
  type Question,
} from './question.ts';
import { removeMessage } from './removal.service.ts';
import { untitled } from './session-title.ts';
import { countedMessages } from './shared-talk.ts';
import { humanText, viewMessages } from './views.ts';

export interface ChatServiceDeps {
  models: ModelService;
  attachments: Attachments;
  knowledge: Pick<KnowledgeService, 'on'>;
  minPromptBytes: number;
  messagesAMinute: number;
  toolbox: Toolbox;
  /** The process that will write the replies. */
  instanceId: number;
}

/** Whoever asked another one and was not answered yet; undefined: nobody. */
const waitsIn = async (db: Executor, session: SessionRow, user: Identity | null) =>
  user !== null &&
  session.lowUserId !== null &&
  (await friendStateOf(db, session.id, user.id)) === 'asking'
    ? user.id
    : undefined;

const refuseTemporary = (session: SessionRow): void => {
  if (session.temporary) throw new Refusal('session_unsuitable', '临时对话不保存内容，请重新发送');
};

const requireChat = (session: SessionRow): void => {
  if (session.type !== sessionTypes.chat) throw new Refusal('session_unsuitable');
};

/** Of long messages, thousands of characters that one person sends in a day: each is stored. */
const thousandsADay = 50_000;

export const createChatService = (deps: ChatServiceDeps) => {
  const limitLong = createKeyLimit(thousandsADay, 86_400, 'long messages');
  const { models, attachments, minPromptBytes, instanceId } = deps;
  const people = createPeopleService(deps);
  const imageMessages = createImageMessages(deps);
  const films = createFilmsService(deps);
  const conversation = createConversation(deps);

  const plan = async (
    tx: Transaction,
    task: Task,
    model: ResolvedModel,
    asked: Asked,
    user: Identity,
  ): Promise<Plan> => {
    const { messages, sources, written } = await conversation.ask(tx, task, model, asked);
    // What answers from a knowledge base alone looks nowhere else; a temporary one leaves no traces.
    const { ownerSetting } = task.session;
    const none = task.session.temporary || asked.strict_mode === 1;
    const web = asked.web === 1;
    const only = ownerSetting.tools === 0;
    const foreign = none || only ? [] : await deps.toolbox.foreign(tx, model, user);
    const tools = none
      ? []
      : [...deps.toolbox.offered(model, { web, only }), ...foreign.map(({ name }) => name)];
    const told = tools.length > 0 ? JSON.stringify(deps.toolbox.specs(tools, foreign)) : '';
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
      user: {
        id: user.id,
        guest: user.guest,
        person: user.person,
        painter: ownerSetting.default_image_model ?? '',
        vip: task.session.ownerVip,
      },
      run: randomUUID(),
      taken: 0,
    };
    return { ...planned, sources, loop };
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

  const sendToModel = async (
    tx: Transaction,
    { session, drawn, wallet }: Locked,
    given: Question,
    input: Parsed<'sendMessage'>,
    user: Identity,
  ) => {
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
    const place = replaced
      ? await branches.startBranch(tx, session.id, replaced.prevId)
      : undefined;
    const task: Task = {
      ...question,
      session,
      userId: user.id,
      withTemplate: input.with_template === 1,
      ...(place ? { prevId: place.prevId } : {}),
      ...(temporary ? { context: input.context ?? [] } : {}),
    };
    const planned = await plan(tx, task, model, input, user);
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
      const plannedSecond = await plan(tx, task, second, input, user);
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

  return {
    async list(db: Executor, input: Parsed<'historyList'>, user: Identity | null) {
      const session = await readableSession(db, input.session_id, user);
      const { page, page_size: pageSize } = input;
      const filter = {
        sessionId: session.id,
        forStrangers: amongStrangers(session, user),
        waitingOf: await waitsIn(db, session, user),
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
            byVotes: input.sort === 'votes' && session.type === sessionTypes.people,
            offset: Math.min((page - 1) * pageSize, countedMessages),
            limit: pageSize,
          })
        : [];
      const total = kept ? await store.countMessages(db, filter, countedMessages) : 0;
      await noteSeen(db, session, user, rows);
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
          forStrangers: amongStrangers(session, user),
          waitingOf: await waitsIn(db, session, user),
          after: input.maxHistoryId,
          orChanged: session.type === sessionTypes.people,
        },
        { newestFirst: false, offset: 0, limit: 100 },
      );
      await noteSeen(db, session, user, rows);
      return viewMessages(db, rows, session, user);
    },

    /** Stores the message; its replies are to be begun once that is committed. */
    async send(db: Executor, input: Parsed<'sendMessage'>, user: Identity) {
      const thousands = Math.floor(input.msg.length / 1000);
      if (thousands > 0) await limitLong(String(user.id), thousands);
      return inTransaction(db, async (tx) => {
        const locked = await lockForSending(tx, input.session_id, user);
        await requirePhoneIn(tx, locked.session, user);
        // Films read the message for themselves: what images call by the same names has other bounds.
        if (locked.session.type === sessionTypes.video) {
          const sent = await films.send(tx, locked, input, user);
          return { ...sent, beside: null, requests: [], told: [] };
        }
        if (locked.session.type === sessionTypes.people) {
          const sent = await people.send(tx, locked, input, user);
          const { human, request } = sent.question;
          return { ...sent, msg: humanText(human, request), beside: null };
        }
        const asked = readQuestion(input);
        if (locked.session.type === sessionTypes.image) {
          const sent = await imageMessages.send(tx, locked, asked, input, user);
          return { ...sent, beside: null, requests: [], told: [] };
        }
        return { ...(await sendToModel(tx, locked, asTalk(asked), input, user)), told: [] };
      });
    },

    /** Makes the last message, whose reply is missing or not whole, as new. */
    retry(db: Executor, input: Parsed<'retryMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        if (session.type === sessionTypes.people) return people.retry(tx, session, input, user);
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
        const model = await usableModel(tx, models, name, user, message);
        if (message.answered) await noteReply(tx, session.id, { replies: -1 });
        const task = { ...message, session };
        const planned = await plan(tx, task, model, input, user);
        await removeLoop(tx, message.id);
        await forgetSummaryOf(tx, message);
        const restarted = await store.restartMessage(tx, message.id, {
          owner: instanceId,
          model: model.name,
          holdId: planned.holdId,
          sources: planned.sources,
        });
        if (!restarted) throw new Refusal('session_busy');
        return holdForReply(tx, task, session, planned);
      });
    },

    /** Replies a message once more, as a new branch. */
    regenerate(db: Executor, input: Parsed<'regenerateMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        requireChat(session);
        refuseTemporary(session);
        const message = await placeOf(tx, session, input.history_id);
        const still = input.model ?? (await models.find(tx, message.model, user))?.name;
        const model = await usableModel(tx, models, still ?? session.model, user, message);
        const place = await branches.startBranch(tx, session.id, message.prevId);
        const task = { ...message, session };
        const planned = await plan(tx, task, model, input, user);
        const drawn = await store.drawMessage(tx);
        await insertAhead(tx, {
          ...message,
          ...drawn,
          model: model.name,
          owner: instanceId,
          holdId: planned.holdId,
          sources: planned.sources,
          place,
          card: { title: '' },
        });
        return holdForReply(tx, { ...task, id: drawn.id }, session, planned);
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

    /** Changes one's own message to people. */
    update(db: Executor, input: Parsed<'updateMessage'>, user: Identity): Promise<void> {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        if (session.type !== sessionTypes.people)
          throw new Refusal('session_unsuitable', '向模型提的问题请用“编辑”重新发送');
        await requirePhoneIn(tx, session, user);
        await people.update(tx, session, input, user);
      });
    },

    /** The state of a message's reply, for somebody who wants to read it. */
    async readable(db: Executor, input: Parsed<'eventStream'>, user: Identity | null) {
      const session = await readableSession(db, input.session_id, user);
      const message = await requireVisible(db, input.history_id, session, user);
      return { state: message.state, asker: message.userId === user?.id };
    },

    /** Whether the person's own reply is being written. Others' messages are as if missing. */
    async stoppable(db: Executor, id: number, user: Identity): Promise<boolean> {
      const message = await store.findMessage(db, id);
      if (message?.userId !== user.id) throw new Refusal('not_found');
      return message.state === 'streaming';
    },

    /** Deletes a message; gives the session's number when all of it went with the message. */
    remove(
      db: Executor,
      input: Parsed<'deleteHistory'>,
      user: Identity,
    ): Promise<{ deletedSession: number | null }> {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user, { closedToo: true });
        if (session.type === sessionTypes.people) {
          const whole = await people.remove(tx, session, input.id, user);
          return { deletedSession: whole ? session.id : null };
        }
        const message = await store.findMessage(tx, input.id);
        if (message?.sessionId !== session.id) throw new Refusal('not_found');
        if (message.state === 'streaming') throw new Refusal('session_busy');
        await removeMessage(tx, session, message);
        return { deletedSession: null };
      });
    },
  };
};
