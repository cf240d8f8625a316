import { randomUUID } from 'node:crypto';
import type { Message } from '../../contract/chat.ts';
import type { Parsed } from '../../contract/calls.ts';
import { limits, tooLongText, tooShortText } from '../../contract/limits.ts';
import { deduction, estimateTokens, isFree } from '../../contract/price.ts';
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
import { heldAhead, type AnswerRequest } from './answer.ts';
import * as store from './chat.store.ts';
import { summaryOf, titleOf } from './digest.ts';
import { buildMessages, historyLength, promptTokens, sampling, type Generation } from './prompt.ts';

/** As far as messages of a session are counted and paged through. */
const countedMessages = 10_000;

const view = (row: store.MessageRow, session: SessionRow, user: Identity | null): Message => {
  const owner = session.userId === user?.id;
  return {
    id: row.id,
    human: row.human,
    ai: row.ai,
    reasoning: row.reasoning,
    type: row.type,
    model: row.model,
    state: row.state,
    error_code: row.errorCode,
    error_message: row.errorMessage,
    user_id: row.userId,
    user_name: row.userName,
    created_at: row.createdAt.toISOString(),
    prompt_tokens: owner ? row.promptTokens : 0,
    completion_tokens: owner ? row.completionTokens : 0,
    deduct_tokens: owner ? row.deductTokens : 0,
    like_count: row.likeCount,
    liked: false,
    in_favorites: false,
    format: 0,
    title: '',
    edited: false,
    siblings: [],
    beside: null,
  };
};

export interface ChatServiceDeps {
  models: ModelService;
  minPromptBytes: number;
  /** The process that will write the replies. */
  instanceId: number;
}

export const createChatService = ({ models, minPromptBytes, instanceId }: ChatServiceDeps) => {
  const usableModel = async (
    db: Executor,
    session: SessionRow,
    user: Identity,
  ): Promise<ResolvedModel> => {
    const model = await models.find(db, session.model);
    if (!model) throw new Refusal('model_unavailable');
    requireUsable(model, user.guest);
    return model;
  };

  interface Plan {
    messages: ChatMessage[];
    /** Of the hold to be made; null for a free model. */
    holdId: string | null;
    /** Tokens to hold. */
    held: number;
  }

  /** What a reply is to be written from, and what it must hold. */
  const plan = async (
    tx: Transaction,
    { human, before }: { human: string; before?: number },
    session: SessionRow,
    model: ResolvedModel,
    asked: Generation,
  ): Promise<Plan> => {
    const limit = historyLength(asked, session.ownerSetting);
    // A session without a title has no message yet.
    const pairs =
      limit === 0 || session.prompt === ''
        ? []
        : await store.answeredPairs(tx, { sessionId: session.id, before, limit });
    const messages = buildMessages(pairs, human, model.maxPrompt ?? limits.defaultMaxPrompt);
    if (isFree(model)) return { messages, holdId: null, held: 0 };
    const ahead = Math.min(heldAhead, model.maxTokens ?? heldAhead);
    const held = deduction(model, promptTokens(messages, estimateTokens), ahead);
    return { messages, holdId: randomUUID(), held };
  };

  /** Holds what was planned; gives what the reply is to be written from. */
  const prepare = async (
    tx: Transaction,
    message: { id: number; human: string },
    session: SessionRow,
    model: ResolvedModel,
    asked: Generation,
    { messages, holdId, held }: Plan,
  ): Promise<AnswerRequest> => {
    if (holdId) {
      const made = await hold(tx, {
        id: holdId,
        userId: session.userId,
        amount: held,
        reference: `history:${message.id}`,
        vipAllowed: !model.vipExcluded,
      });
      if (!made) throw new Refusal('balance');
    }
    return {
      historyId: message.id,
      sessionId: session.id,
      sessionUuid: session.uuid,
      userId: session.userId,
      human: message.human,
      model,
      messages,
      sampling: sampling(asked, session.ownerSetting),
      holdId,
      held,
    };
  };

  const requireLength = (text: string, model: ResolvedModel): void => {
    const maxPrompt = model.maxPrompt ?? limits.defaultMaxPrompt;
    if (text.length > maxPrompt) throw new Refusal('prompt_too_long', tooLongText(maxPrompt));
  };

  return {
    async list(db: Executor, input: Parsed<'historyList'>, user: Identity | null) {
      const session = await readableSession(db, input.session_id, user);
      const { page, page_size: pageSize } = input;
      const filter = { sessionId: session.id, id: input.id, before: input.before };
      const rows = await store.listMessages(db, filter, {
        newestFirst: input.newest === 1,
        offset: Math.min((page - 1) * pageSize, countedMessages),
        limit: pageSize,
      });
      const total = await store.countMessages(db, filter, countedMessages);
      return {
        list: rows.map((row) => view(row, session, user)),
        page,
        page_count: Math.ceil(total / pageSize),
        page_size: pageSize,
        total,
      };
    },

    async newer(db: Executor, input: Parsed<'lastMessages'>, user: Identity | null) {
      const session = await readableSession(db, input.sessionId, user);
      const rows = await store.listMessages(
        db,
        { sessionId: session.id, after: input.maxHistoryId },
        { newestFirst: false, offset: 0, limit: 100 },
      );
      return rows.map((row) => view(row, session, user));
    },

    /** Stores the message; its reply is to be begun once that is committed. */
    send(db: Executor, input: Parsed<'sendMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        // PostgreSQL has no NUL in a text.
        const human = input.msg.replaceAll('\0', '').trim();
        if (human === '') throw new Refusal('bad_input', 'msg：内容不能为空');
        const session = await writableSession(tx, input.session_id, user);
        const model = await usableModel(tx, session, user);
        requireLength(human, model);
        // A session has its title from its first message on.
        const first = session.prompt === '';
        if (first && input.suggestion === 0 && Buffer.byteLength(human) < minPromptBytes) {
          throw new Refusal('prompt_too_short', tooShortText(minPromptBytes));
        }
        const planned = await plan(tx, { human }, session, model, input);
        const message = await store.insertMessage(tx, {
          sessionId: session.id,
          userId: user.id,
          human,
          model: model.name,
          owner: instanceId,
          holdId: planned.holdId,
          title: titleOf(human),
        });
        if (!message) throw new Refusal('session_busy');
        const asked = { id: message.id, human };
        const request = await prepare(tx, asked, session, model, input, planned);
        return { id: message.id, msg: human, createdAt: message.createdAt, request };
      });
    },

    /** Makes the last message, whose reply is missing or not whole, as new. */
    retry(db: Executor, input: Parsed<'retryMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        const last = await store.lastMessage(tx, session.id);
        if (last?.id !== input.history_id) {
          const found = await store.findMessage(tx, input.history_id);
          throw new Refusal(found?.sessionId === session.id ? 'nothing_to_retry' : 'not_found');
        }
        if (last.state === 'streaming') throw new Refusal('session_busy');
        if (last.state === 'done') throw new Refusal('nothing_to_retry');
        const model = await usableModel(tx, session, user);
        requireLength(last.human, model);
        if (last.ai !== '') await noteReply(tx, session.id, { replies: -1 });
        const question = { human: last.human, before: last.id };
        const planned = await plan(tx, question, session, model, input);
        await store.restartMessage(tx, last.id, {
          owner: instanceId,
          model: model.name,
          holdId: planned.holdId,
        });
        return prepare(tx, last, session, model, input, planned);
      });
    },

    /** The state of a message's reply, for somebody who wants to read it. */
    async readable(db: Executor, input: Parsed<'eventStream'>, user: Identity | null) {
      const session = await readableSession(db, input.session_id, user);
      const message = await store.findMessage(db, input.history_id);
      if (message?.sessionId !== session.id) throw new Refusal('not_found');
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
        const message = await store.findMessage(tx, input.id);
        if (message?.sessionId !== session.id) throw new Refusal('not_found');
        if (message.state === 'streaming') throw new Refusal('session_busy');
        await store.deleteMessage(tx, message.id);
        if (!message.answered) return;
        const [newest] = await store.answeredPairs(tx, { sessionId: session.id, limit: 1 });
        await noteReply(tx, session.id, { replies: -1, summary: summaryOf(newest?.ai ?? '') });
      });
    },
  };
};
