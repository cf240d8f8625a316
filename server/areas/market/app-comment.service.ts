import type { Parsed } from '#contract/calls.ts';
import type { AppComment } from '#contract/market.ts';
import type { Executor } from '#server/db/database.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { createPersonLimit } from '#server/http/rate-limit.ts';
import { requirePhone } from '../contact/phone-rule.service.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { visible } from './app-rights.ts';
import { commentView } from './app-view.ts';
import * as store from './market.store.ts';

/** Of one person in a minute. */
const commentsAMinute = 10;

/** What people say of apps. */
export const createAppComments = () => {
  const limitComments = createPersonLimit(commentsAMinute, 'comments on apps');
  return {
    /** @throws Refusal not_found, app_unsuitable, too_many */
    put: async (
      executor: Executor,
      { app_id: id, comment_content: given, rating }: Parsed<'sendAppComment'>,
      user: Identity,
    ): Promise<AppComment> => {
      const { app, version, can } = await visible(executor, id, user);
      if (app.closeComment) throw new Refusal('app_unsuitable', '这个应用关闭了评论');
      if (!can) throw new Refusal('app_unsuitable', '取得这个应用之后才能评论');
      const content = given.trim();
      if (content === '') throw new Refusal('bad_input', 'comment_content：请写点什么');
      await requirePhone(executor, user);
      await limitComments(user.id);
      await refuseBlocked(executor, content);
      await store.putComment(executor, {
        appId: id,
        userId: user.id,
        versionId: version?.id ?? null,
        rating: Math.round(rating * 2),
        content,
      });
      const kept = await store.commentOf(executor, id, user.id);
      if (!kept) throw new Error('the comment was not stored');
      return commentView(kept, user);
    },

    /** Also of an app that its owner may not download any more. @throws Refusal not_found */
    removeOwn: async (executor: Executor, appId: number, userId: number): Promise<void> => {
      if (!(await store.removeOwnComment(executor, appId, userId)))
        throw new Refusal('not_found', '您还没有评论过');
    },

    /** @throws Refusal not_found, too_many */
    report: async (
      executor: Executor,
      { id, reason }: Parsed<'reportAppComment'>,
      user: Identity,
    ): Promise<void> => {
      const appId = await store.appOfComment(executor, id);
      if (appId === null) throw new Refusal('not_found', '没有这条评论');
      await visible(executor, appId, user);
      await limitComments(user.id);
      await store.insertReport(executor, { commentId: id, userId: user.id, reason });
    },
  };
};
