import { untilClosed } from '#server/http/body.ts';
import { sinkOf } from '#server/http/sink.ts';
import { serveEvents } from '#server/http/event-stream.ts';
import { type Handlers, Refusal } from '#server/http/handlers.ts';
import type { KnowledgeService } from '../embedding/embedding.service.ts';
import type { ModelService } from '../model/model.service.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { ReplyRequest } from './reply.ts';
import type { Replies } from './replies.ts';
import { replySource } from './reply.service.ts';
import { bytesOfReply } from './reply.store.ts';
import { createChatService } from './chat.service.ts';
import { isStoppable, messagePage, newerMessages, readableReply } from './message-page.ts';
import * as marks from './marks.service.ts';
import { answerTool } from './consent.service.ts';
import { viewTool } from './stored-tool.ts';
import type { Told } from '../forum/news.service.ts';
import type { Attachments } from './question.ts';

export interface ChatDeps {
  replies: Replies;
  models: ModelService;
  attachments: Attachments;
  toolbox: Toolbox;
  knowledge: Pick<KnowledgeService, 'on' | 'source' | 'mayAsk'>;
  /** Least UTF-8 bytes of a session's first message. */
  minPromptBytes: number;
  messagesAMinute: number;
  /** Stops the work on the images of a message. */
  cancelJobs: (historyId: number) => Promise<void>;
  /** Sends pushes of what somebody was told. */
  push: (told: readonly Told[]) => void;
}

type ChatHandlers = Pick<
  Handlers,
  | 'historyList'
  | 'replySource'
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
  | 'answerTool'
  | 'deleteHistory'
>;

/** The last event's id that a client has; anything senseless counts as none. */
const positionOf = (header: string | string[] | undefined, query: number | undefined): number => {
  const given = typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : query;
  return given !== undefined && Number.isSafeInteger(given) ? given : 0;
};

/** How often it is looked at whether somebody may still read what they read, ms. */
const rightsMs = 3000;

export const createChatHandlers = ({
  replies,
  cancelJobs,
  push,
  ...deps
}: ChatDeps): ChatHandlers => {
  const service = createChatService({ ...deps, instanceId: replies.instanceId });
  /** Once the answer to the caller, who is to open the stream meanwhile, is on its way. */
  const begin = (request: ReplyRequest): void => {
    setImmediate(() => replies.begin(request));
  };
  return {
    historyList: (input, { db, user }) => messagePage(db, input, user),

    replySource: (input, { db, user }) => replySource(deps.knowledge, db, input, user),

    lastMessages: (input, { db, user }) => newerMessages(db, input, user),

    sendMessage: async (input, { db, user, afterCommit }) => {
      const sent = await service.send(db, input, user);
      const { id, msg, createdAt, beside, requests, told } = sent;
      const pending = 'pending' in sent && sent.pending;
      afterCommit(() => {
        requests.forEach(begin);
        push(told);
      });
      return {
        id,
        msg,
        created_at: createdAt.toISOString(),
        beside,
        ...(pending && { pending }),
        ...('size' in sent && sent.size),
      };
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

    eventStream: async (input, { db, user, request, reply }) => {
      // Whoever sent the message may read what is being written to it.
      const own = replies.isOwn(input.history_id, input.session_id, user);
      const { state, asker } = own
        ? { state: 'streaming' as const, asker: true }
        : await readableReply(db, input, user);
      const viewer = input.tools !== 1 ? null : asker ? 'asker' : 'other';
      const position = positionOf(request.headers['last-event-id'], input.last_event_id);
      // One that is over goes out at once, and stays here until it is taken.
      if (state !== 'streaming') {
        const bytes = await bytesOfReply(db, input.history_id);
        untilClosed(reply, request.server.holdBytes(bytes, user, request.ip, 'read'));
      }
      await serveEvents(reply, async (response) => {
        const sink = sinkOf(response);
        const leave = await replies.read(input.history_id, state, sink, position, viewer);
        if (own) return leave;
        // What is made private or deleted meanwhile is read on by nobody.
        const still = setInterval(() => {
          readableReply(db, input, user).catch((error: unknown) => {
            if (error instanceof Refusal) response.destroy();
          });
        }, rightsMs);
        return () => {
          clearInterval(still);
          leave();
        };
      });
    },

    stopStream: async (input, { db, user }) => {
      const running = await isStoppable(db, input.history_id, user);
      if (running) await replies.stop(input.history_id);
      return { stopped: running };
    },

    answerTool: async (input, { db, user, afterCommit }) => {
      const { tools, goesOn } = await answerTool(
        { models: deps.models, owner: replies.instanceId },
        db,
        input,
        user,
      );
      if (goesOn) afterCommit(() => void setImmediate(() => replies.begin(...goesOn)));
      return { going: goesOn !== null, tools: tools.map((tool) => viewTool(tool, 'asker')) };
    },

    deleteHistory: async (input, { db, user, afterCommit }) => {
      const { deletedSession } = await service.remove(db, input, user);
      if (deletedSession !== null) afterCommit(() => replies.stopSession(deletedSession));
      else afterCommit(() => cancelJobs(input.id));
      return { is_session: deletedSession !== null };
    },
  };
};
