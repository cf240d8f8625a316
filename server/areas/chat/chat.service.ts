import type { Parsed } from '#contract/calls.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';
import { requirePhoneIn } from '../contact/phone-rule.service.ts';
import { writableSession } from '../session/session.service.ts';
import { lockForSending } from './reply-plan.ts';
import * as store from './chat.store.ts';
import { createFilmsService } from './films.service.ts';
import { createConversation } from './conversation.ts';
import {
  type ModelTalkDeps,
  regenerateReply,
  retryReply,
  sendToModel,
  showBranch,
} from './model-talk.ts';
import { createPeopleService, removeOwn, retryMention } from './people.service.ts';
import { createImageMessages } from './image-messages.service.ts';
import { asTalk, readQuestion } from './question.ts';
import { removeMessage } from './removal.service.ts';
import { humanText } from './views.ts';

export interface ChatServiceDeps extends ModelTalkDeps {
  messagesAMinute: number;
}

/** Of long messages, thousands of characters that one person sends in a day: each is stored. */
const thousandsADay = 50_000;

/** Branches that one person may turn to in a minute; in long sessions each counts for more. */
const switchesAMinute = 120;
/** Messages that are written again for the price of one switch. */
const messagesASwitch = 500;

export const createChatService = (deps: ChatServiceDeps) => {
  const limitLong = createKeyLimit(thousandsADay, 86_400, 'long messages');
  const limitSwitches = createKeyLimit(switchesAMinute, 60, 'branch switches');
  const countLong = async ({ id }: Identity, text: string): Promise<void> => {
    const thousands = Math.floor(text.length / 1000);
    if (thousands > 0) await limitLong(String(id), thousands);
  };
  const people = createPeopleService(deps);
  const imageMessages = createImageMessages(deps);
  const films = createFilmsService(deps);
  const talk = { ...deps, conversation: createConversation(deps) };

  return {
    /** Stores the message; its replies are to be begun once that is committed. */
    async send(db: Executor, input: Parsed<'sendMessage'>, user: Identity) {
      await countLong(user, input.msg);
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
        return { ...(await sendToModel(talk, tx, locked, asTalk(asked), input, user)), told: [] };
      });
    },

    /** Makes the last message, whose reply is missing or not whole, as new. */
    retry(db: Executor, input: Parsed<'retryMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        if (session.type === sessionTypes.people)
          return retryMention(deps, tx, session, input, user);
        return retryReply(talk, tx, session, input, user);
      });
    },

    /** Replies a message once more, as a new branch. */
    regenerate(db: Executor, input: Parsed<'regenerateMessage'>, user: Identity) {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        const request = await regenerateReply(talk, tx, session, input, user);
        // Its question is stored once more.
        await countLong(user, request.human);
        return request;
      });
    },

    /** Shows the branch of a message, or of two answers beside each other that one. */
    switchBranch(db: Executor, input: Parsed<'switchBranch'>, user: Identity): Promise<void> {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user);
        const rewritten = Math.floor(session.replyCount / messagesASwitch);
        await limitSwitches(String(user.id), 1 + Math.min(rewritten, switchesAMinute / 2));
        await showBranch(tx, session, input.history_id);
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

    /** Deletes a message; gives the session's number when all of it went with the message. */
    remove(
      db: Executor,
      input: Parsed<'deleteHistory'>,
      user: Identity,
    ): Promise<{ deletedSession: number | null }> {
      return inTransaction(db, async (tx) => {
        const session = await writableSession(tx, input.session_id, user, { closedToo: true });
        if (session.type === sessionTypes.people) {
          const whole = await removeOwn(tx, session, input.id, user);
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
