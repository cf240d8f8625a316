import type { Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import type { Transaction } from '#server/db/database.ts';
import type { ChatMessage } from '#common/chat-message.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createKeyLimit, createPersonLimit } from '#server/http/rate-limit.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import {
  keepImagesOf,
  moveQuestion,
  noteChanged,
  noteModel,
  noteWritten,
} from '../forum/forum.service.ts';
import { deliverWaiting, noteSent, requireWelcome } from '../session/friend.service.ts';
import { markDeleted, noteReply, type SessionRow } from '../session/session.service.ts';
import type { ReplyRequest } from './reply.ts';
import {
  holdForReply,
  insertAhead,
  maxPromptOf,
  planReply,
  requireLength,
  usableModel,
  type Locked,
  type Plan,
} from './reply-plan.ts';
import * as store from './chat.store.ts';
import { countWaiting, insertWaiting, settingOf, talk } from './people.store.ts';
import { summaryOf, titleOf } from '#common/markdown/digest.ts';
import { removeMessage } from './removal.service.ts';
import { untitled } from './session-title.ts';
import { spokenTo, withName, withPerson } from './spoken-to.ts';
import { buildTalk, type Generation, type Utterance } from './prompt.ts';
import {
  checkAttachments,
  asTalk,
  asWritten,
  cleaned,
  contentOf,
  fullRoom,
  questionTitle,
  readQuestion,
  switchedOn,
  titleInText,
  type Attachments,
  type Question,
} from './question.ts';

/** Of long messages, thousands of characters that one person writes in a minute, changes included. */
const thousandsAMinute = 400;

export interface PeopleDeps {
  models: Pick<ModelService, 'find' | 'nameOf' | 'namedIn'>;
  attachments: Attachments;
  /** The process that will write the replies. */
  instanceId: number;
  /** That one person, or the guests of one network, may write to people in a minute. */
  messagesAMinute: number;
}

/** The talk as the model gets it that somebody mentioned in it. */
const talkFor = async (
  attachments: Attachments,
  tx: Transaction,
  session: SessionRow,
  { question, before, user }: { question: Question; before?: number; user: Identity },
  model: ResolvedModel,
  asked: Generation,
): Promise<Plan> => {
  const setting = await settingOf(tx, user.id);
  const limit = setting.at_ai_max_history ?? limits.defaults.at_ai_max_history;
  const room = fullRoom(maxPromptOf(model));
  const content = (said: Question & { userId: number }): Promise<ChatMessage['content']> =>
    contentOf(tx, attachments, said, { vision: model.vision, room });
  const last = {
    speaker: user.userName,
    content: await content({ ...question, userId: user.id }),
  };
  const earlier: Utterance[] = [];
  for (const { userName, ai, ...said } of await talk(tx, session.id, { before, limit }))
    earlier.push({ speaker: userName, human: await content(said), ai });
  return planReply(model, buildTalk(earlier, last, maxPromptOf(model)), asked, setting);
};

/** A person's own message; others' are seen, but theirs alone. */
const ownMessage = async (
  tx: Transaction,
  session: SessionRow,
  id: number,
  user: Identity,
): Promise<store.FoundMessage> => {
  const message = await store.findMessage(tx, id);
  if (message?.sessionId !== session.id) throw new Refusal('not_found');
  if (message.userId !== user.id) throw new Refusal('not_owner', '这不是您的消息');
  if (message.state === 'streaming') throw new Refusal('session_busy');
  return message;
};

/** A question as the documents post it: its title in `msg`, its text where a model may be named. */
const asPosted = async (
  models: PeopleDeps['models'],
  tx: Transaction,
  sent: Question,
  given: Parsed<'sendMessage'>,
  user: Identity,
): Promise<{ asked: Question; input: Parsed<'sendMessage'> }> => {
  const { ai: written, ...input } = given;
  if (written === undefined || given.title !== undefined || sent.request !== null)
    return { asked: sent, input: given };
  if (await models.find(tx, written, user)) return { asked: sent, input: given };
  const human = cleaned(written);
  if (sent.human.length > questionTitle)
    throw new Refusal('bad_input', `msg：标题太长，最多 ${questionTitle} 个字符`);
  return { asked: { human, request: null }, input: { ...input, title: sent.human } };
};

const requireRoomToWait = async (
  tx: Transaction,
  sessionId: number,
  ai: string | undefined,
): Promise<void> => {
  if (ai !== undefined) throw new Refusal('session_unsuitable', '对方接受之后才能在这里提到模型');
  if ((await countWaiting(tx, sessionId)) >= limits.waitingMessages)
    throw new Refusal(
      'session_unsuitable',
      `已有 ${limits.waitingMessages} 条消息在等对方接受，接受之后才能继续发`,
    );
};

/** The model that is to answer, which people are shown by its label. @throws Refusal model_unavailable */
const calledBy = async (
  models: PeopleDeps['models'],
  tx: Transaction,
  ai: string,
  human: string,
): Promise<string> => {
  if (ai !== switchedOn) return (await models.nameOf(tx, ai)) ?? ai;
  const name = await models.namedIn(tx, human);
  if (name !== null) return name;
  throw new Refusal(
    'model_unavailable',
    '没有说请哪个模型回答：请在 @ 后面写上它的名字，或写在 ai 里',
  );
};

const begins = async (tx: Transaction, message: store.FoundMessage): Promise<boolean> =>
  (await store.endOfBranch(tx, message.sessionId, 'first'))?.id === message.id;

/** Lets the model that was mentioned in one's message try again. */
export const retryMention = async (
  { models, attachments, instanceId }: PeopleDeps,
  tx: Transaction,
  session: SessionRow,
  input: Parsed<'retryMessage'>,
  user: Identity,
): Promise<ReplyRequest> => {
  const message = await ownMessage(tx, session, input.history_id, user);
  if (message.model === '' || message.state === 'done') throw new Refusal('nothing_to_retry');
  const model = await usableModel(tx, models, message.model, user, message);
  const about = { question: message, before: message.id, user };
  const planned = await talkFor(attachments, tx, session, about, model, input);
  if (message.answered) await noteReply(tx, session.id, { replies: -1 });
  await noteModel(tx, session.id, model.name);
  const restarted = await store.restartMessage(tx, message.id, {
    owner: instanceId,
    model: model.name,
    holdId: planned.holdId,
    sources: null,
  });
  if (!restarted) throw new Refusal('session_busy');
  return holdForReply(tx, message, session, planned);
};

/** Gives whether the whole session was deleted with the question that it was made for. */
export const removeOwn = async (
  tx: Transaction,
  session: SessionRow,
  id: number,
  user: Identity,
): Promise<boolean> => {
  const message = await ownMessage(tx, session, id, user);
  const isQuestion = session.lowUserId === null && session.userId === user.id;
  if (isQuestion && (await begins(tx, message))) {
    await markDeleted(tx, session.id);
    return true;
  }
  await removeMessage(tx, session, message);
  return false;
};

/**
 * Sessions of people: questions to everybody, and what two friends write to each other. Each writes
 * and changes messages of their own; a model answers where one is mentioned, at the cost of whoever
 * mentioned it.
 */
export const createPeopleService = ({
  models,
  attachments,
  instanceId,
  messagesAMinute,
}: PeopleDeps) => {
  const limitLong = createPersonLimit(thousandsAMinute, 'long messages to people');
  const limitMessages = createKeyLimit(messagesAMinute, 60, 'messages to people');
  const countLength = async (user: Identity, text: string): Promise<void> => {
    const thousands = Math.floor(text.length / 1000);
    if (thousands > 0) await limitLong(user.id, thousands);
  };

  return {
    async send(
      tx: Transaction,
      { session, drawn, wallet }: Locked,
      sent: Parsed<'sendMessage'>,
      user: Identity,
    ) {
      const first = session.prompt === '';
      const asks = first && session.lowUserId === null;
      const given = asWritten(sent, asks);
      if (asks && session.userId !== user.id) throw new Refusal('not_owner');
      await limitMessages(user.person);
      await countLength(user, given.msg);
      const { asked, input } = asks
        ? await asPosted(models, tx, asTalk(readQuestion(given)), given, user)
        : { asked: asTalk(readQuestion(titleInText(given))), input: given };
      const delivery =
        session.lowUserId === null ? 'arrives' : await noteSent(tx, session.id, user.id);
      if (delivery === 'accepts') await deliverWaiting(tx, session.id);
      if (delivery === 'waits') await requireRoomToWait(tx, session.id, input.ai);
      const called = input.ai && (await calledBy(models, tx, input.ai, asked.human));
      const model = called ? await usableModel(tx, models, called, user, asked) : null;
      requireLength(asked.human, maxPromptOf(model));
      const taken = await checkAttachments(tx, attachments, asked, user.id);
      const { question, names } = await withPerson(tx, session, taken, {
        user,
        model: model?.name ?? '',
      });
      const shown = { ...question, request: withName(question.request, names) };
      if (delivery === 'waits') {
        const waiting = { ...question, id: drawn.id, sessionId: session.id, userId: user.id };
        await insertWaiting(tx, waiting);
        await keepImagesOf(tx, drawn.id, question.human);
        return { ...drawn, question: shown, told: [], requests: [], pending: true };
      }
      const planned =
        model && (await talkFor(attachments, tx, session, { question, user }, model, input));
      const title = first ? cleaned(input.title ?? '') : '';
      if (session.lowUserId === null) await refuseBlocked(tx, title, question.human);
      await insertAhead(tx, {
        ...question,
        ...drawn,
        sessionId: session.id,
        userId: user.id,
        withTemplate: false,
        model: model?.name ?? '',
        owner: planned ? instanceId : null,
        holdId: planned?.holdId ?? null,
        title,
        card: {
          title: titleOf(title || question.human) || untitled,
          summary: summaryOf(question.human) || untitled,
          replies: first ? 0 : 1,
        },
      });
      const written = { id: drawn.id, userId: user.id, human: question.human };
      const told = await noteWritten(
        tx,
        session,
        { ...written, model: model?.name ?? '', first },
        await spokenTo(tx, session, question, user),
      );
      return {
        ...drawn,
        question: shown,
        told,
        requests: planned ? [await holdForReply(tx, written, session, planned, wallet)] : [],
      };
    },

    async update(
      tx: Transaction,
      session: SessionRow,
      input: Parsed<'updateMessage'>,
      user: Identity,
    ): Promise<void> {
      await countLength(user, input.content);
      const message = await ownMessage(tx, session, input.id, user);
      if (session.lowUserId !== null) await requireWelcome(tx, session.id, user.id);
      const human = cleaned(input.content);
      const first = await begins(tx, message);
      const isQuestion = first && session.lowUserId === null;
      const noTitle = isQuestion && input.title !== undefined && cleaned(input.title) === '';
      if (human === '' || noTitle)
        throw new Refusal('bad_input', isQuestion ? '请输入内容和标题' : '请输入内容');
      const title = first && input.title !== undefined ? cleaned(input.title) : message.title;
      if (session.lowUserId === null) await refuseBlocked(tx, title, human);
      if (first && input.group_id !== undefined) await moveQuestion(tx, session.id, input.group_id);
      await noteChanged(tx, message, { title, human });
      await store.editMessage(tx, message.id, { human, title });
      await store.updateCard(tx, session.id, {
        ...(first ? { prompt: titleOf(title || human) } : {}),
        summary: summaryOf(await store.newestText(tx, session.id)) || untitled,
      });
    },
  };
};
