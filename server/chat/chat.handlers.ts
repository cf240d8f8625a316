import { serveEvents } from '../http/event-stream.ts';
import type { Handlers } from '../http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import type { AnswerRequest } from './answer.ts';
import type { Answers } from './answers.ts';
import { createChatService } from './chat.service.ts';
import * as marks from './marks.service.ts';
import type { Attachments } from './question.ts';
import { sinkOf } from './sink.ts';

export interface ChatDeps {
  answers: Answers;
  models: ModelService;
  attachments: Attachments;
  /** Least UTF-8 bytes of a session's first message. */
  minPromptBytes: number;
  /** Stops the work on the pictures of a message. */
  cancelJobs: (of: { historyId: number }) => Promise<void>;
}

type ChatHandlers = Pick<
  Handlers,
  | 'historyList'
  | 'lastMessages'
  | 'sendMessage'
  | 'retryMessage'
  | 'regenerateMessage'
  | 'switchBranch'
  | 'updateMessage'
  | 'historyLike'
  | 'addToFavorites'
  | 'removeFromFavorites'
  | 'eventStream'
  | 'stopStream'
  | 'deleteHistory'
>;

/** The last event's id that a client has; anything senseless counts as none. */
const positionOf = (header: string | string[] | undefined, query: number | undefined): number => {
  const given = typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : query;
  return given !== undefined && Number.isSafeInteger(given) ? given : 0;
};

export const createChatHandlers = ({ answers, cancelJobs, ...deps }: ChatDeps): ChatHandlers => {
  const service = createChatService({ ...deps, instanceId: answers.instanceId });
  /** Once the answer to the caller, who is to open the stream meanwhile, is on its way. */
  const begin = (request: AnswerRequest): void => {
    setImmediate(() => answers.begin(request));
  };
  return {
    historyList: (input, { db, user }) => service.list(db, input, user),

    lastMessages: (input, { db, user }) => service.newer(db, input, user),

    sendMessage: async (input, { db, user, afterCommit }) => {
      const { id, msg, createdAt, beside, requests } = await service.send(db, input, user);
      afterCommit(() => requests.forEach(begin));
      return { id, msg, created_at: createdAt.toISOString(), beside };
    },

    retryMessage: async (input, { db, user, afterCommit }) => {
      const request = await service.retry(db, input, user);
      afterCommit(() => begin(request));
      return { id: request.historyId };
    },

    regenerateMessage: async (input, { db, user, afterCommit }) => {
      const request = await service.regenerate(db, input, user);
      afterCommit(() => begin(request));
      return { id: request.historyId };
    },

    switchBranch: async (input, { db, user }) => {
      await service.switchBranch(db, input, user);
      return {};
    },

    updateMessage: async (input, { db, user }) => {
      await service.update(db, input, user);
      return {};
    },

    historyLike: async (input, { db, user }) => {
      const { liked, likeCount } = await marks.like(db, input, user);
      return { liked, like_count: likeCount };
    },

    addToFavorites: async (input, { db, user }) => {
      await marks.addFavorite(db, input, user);
      return {};
    },

    removeFromFavorites: async (input, { db, user }) => {
      await marks.removeFavorite(db, input, user);
      return {};
    },

    eventStream: async (input, { db, user, log, request, reply }) => {
      // Whoever sent the message may read what is being written to it.
      const state = answers.isOwn(input.history_id, input.session_id, user)
        ? 'streaming'
        : await service.readable(db, input, user);
      const position = positionOf(request.headers['last-event-id'], input.last_event_id);
      await serveEvents({ reply, log }, (response) =>
        answers.read(input.history_id, state, sinkOf(response), position),
      );
    },

    stopStream: async (input, { db, user }) => {
      const running = await service.stoppable(db, input.history_id, user);
      if (running) await answers.stop(input.history_id);
      return { stopped: running };
    },

    deleteHistory: async (input, { db, user, afterCommit }) => {
      const { deletedSession } = await service.remove(db, input, user);
      if (deletedSession !== null) afterCommit(() => answers.stopSession(deletedSession));
      else afterCommit(() => cancelJobs({ historyId: input.id }));
      return { is_session: deletedSession !== null };
    },
  };
};
