import type { Transaction } from '#server/db/database.ts';
import type { Handlers } from '#server/http/handlers.ts';
import * as service from './forum.service.ts';
import { deleteGroup, groups, saveGroup } from './groups.service.ts';
import { listNews, type Told } from './news.service.ts';

export interface ForumDeps {
  /** Sends pushes of what somebody was told. */
  push: (told: readonly Told[]) => void;
  /** Takes a reported message away, or with 0 the whole session. */
  remove: (tx: Transaction, sessionId: number, historyId: number) => Promise<void>;
}

type ForumHandlers = Pick<
  Handlers,
  | 'forumGroups'
  | 'saveForumGroup'
  | 'delForumGroup'
  | 'acceptAnswer'
  | 'markQuestion'
  | 'report'
  | 'reportList'
  | 'resolveReport'
  | 'messageEdits'
  | 'newsList'
  | 'readNews'
>;

export const createForumHandlers = ({ push, remove }: ForumDeps): ForumHandlers => ({
  forumGroups: async (_input, { db }) => ({ list: await groups(db) }),

  saveForumGroup: async (input, { db, noteAct }) => ({
    id: await saveGroup(db, input, noteAct),
  }),

  delForumGroup: async ({ id }, { db, noteAct }) => {
    await deleteGroup(db, id, noteAct);
    return {};
  },

  acceptAnswer: async (input, { db, user, afterCommit }) => {
    const { acceptedId, told } = await service.accept(db, input, user);
    afterCommit(() => push(told));
    return { accepted_id: acceptedId };
  },

  markQuestion: async (input, { db, user, noteAct, afterCommit }) => {
    const told = await service.mark(db, input, user, noteAct);
    afterCommit(() => push(told));
    return {};
  },

  report: async (input, { db, user }) => {
    await service.addReport(db, input, user);
    return {};
  },

  reportList: (input, { db }) => service.reports(db, input),

  resolveReport: async (input, { db, user, noteAct, afterCommit }) => {
    const told = await service.resolve(db, input, { user, note: noteAct, remove });
    afterCommit(() => push(told));
    return {};
  },

  messageEdits: async (input, { db, user }) => ({ list: await service.edits(db, input, user) }),

  newsList: ({ page }, { db, user }) => listNews(db, user.id, page),

  readNews: async ({ session_id: ref }, { db, user }) => ({
    unread: await service.read(db, ref, user),
  }),
});
