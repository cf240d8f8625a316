import type { Area } from '#server/area.ts';
import { createConversation } from '../chat/conversation.ts';
import { maxPromptOf } from '../chat/reply-plan.ts';
import { createContextService } from './context.service.ts';

/** What a model reads of a conversation, and what stands for what it does not. */
export const contextArea = () =>
  ({
    serve: ({ db, models, prompts, files, knowledge, replies, log }) => {
      const conversation = createConversation({ attachments: files, knowledge });
      const service = createContextService({ db, models, prompts, conversation });
      replies.whenDone((request, read) => {
        const reply = { ...request, window: maxPromptOf(request.model) };
        service.afterReply(reply, read).catch((error: unknown) => {
          log.error({ err: error, session: request.sessionId }, 'a talk could not be condensed');
        });
      });
      return {
        sessionContext: ({ session_id: ref }, { db: executor, user }) =>
          service.look(executor, ref, user),
        readEarlier: ({ session_id: ref, on }, { db: executor, user }) =>
          service.read(executor, ref, on === 1, user),
        condenseSession: ({ session_id: ref }, { user }) => service.condense(ref, user),
        saveSummary: ({ session_id: ref, text }, { db: executor, user }) =>
          service.edit(executor, ref, text, user),
      };
    },
  }) satisfies Area;
