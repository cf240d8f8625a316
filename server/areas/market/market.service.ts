import type { Out, Parsed } from '#contract/calls.ts';
import { marketLimits } from '#contract/market-limits.ts';
import type { Executor } from '#server/db/database.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { type Asker, mayDownload, visible } from './app-rights.ts';
import { appView, commentView } from './app-view.ts';
import type { Downloads } from './download.service.ts';
import * as store from './market.store.ts';

/** One page, and whether there are more: one row more than it holds was asked for. */
const partOf = <T>(rows: readonly T[]) => ({
  rows: rows.slice(0, marketLimits.page),
  hasMorePages: rows.length > marketLimits.page,
});
/** One more than is shown: whether more follow. */
const oneMoreOf = (page: number) => ({
  ...windowOf(page, marketLimits.page),
  limit: marketLimits.page + 1,
});

const versionPart = async (
  downloads: Downloads,
  executor: Executor,
  id: number,
  page: number,
  asker: Asker,
  can: boolean,
) => {
  const { rows, hasMorePages } = partOf(await store.versionsOf(executor, id, oneMoreOf(page)));
  return {
    list: await Promise.all(rows.map((row) => downloads.viewVersion(row, asker, can))),
    hasMorePages,
  };
};

const commentPart = async (executor: Executor, id: number, page: number, asker: Asker) => {
  const { rows, hasMorePages } = partOf(await store.commentsOf(executor, id, oneMoreOf(page)));
  return { list: rows.map((row) => commentView(row, asker)), hasMorePages };
};

export const appList = async (
  executor: Executor,
  { page, pageSize, type, query, mine }: Parsed<'appList'>,
  asker: Asker,
): Promise<Out<'appList'>> => {
  const window = windowOf(page, pageSize);
  const userId = asker?.id ?? 0;
  const found = await store.publishedApps(executor, { type, query, mine, userId }, window);
  return {
    list: found.list.map((shown) => {
      const { app, version, bought, outdated } = shown;
      const can = Boolean(version?.fileKey) && mayDownload(app, asker, bought);
      return {
        ...appView(shown, can),
        bought,
        outdated,
        images_url: app.images,
        md_description: app.mdDescription.slice(0, 300),
      };
    }),
    types: await store.publishedTypes(executor),
    ...pageOf(found.total, page, pageSize),
  };
};

export const appDetails = async (
  downloads: Downloads,
  executor: Executor,
  id: number,
  asker: Asker,
): Promise<Out<'appDetails'>> => {
  const { can, ...shown } = await visible(executor, id, asker);
  const { app } = shown;
  const given = await store.ratingsOf(executor, id);
  const own = asker && (await store.commentOf(executor, id, asker.id));
  return {
    app_detail: {
      ...appView(shown, can),
      state: app.state,
      images_url: JSON.stringify(app.images),
      md_description: app.mdDescription,
      ratings: Array.from({ length: 11 }, (_, at) => ({
        rating: (10 - at) / 2,
        count: given.find(({ rating }) => rating === 10 - at)?.count ?? 0,
      })),
      my_comment: own && {
        comment_content: own.comment.content,
        rating: own.comment.rating / 2,
      },
    },
    versions_detail: await versionPart(downloads, executor, id, 1, asker, can),
    comments_detail: await commentPart(executor, id, 1, asker),
  };
};

export const appVersions = async (
  downloads: Downloads,
  executor: Executor,
  id: number,
  page: number,
  asker: Asker,
) => {
  const { can } = await visible(executor, id, asker);
  return versionPart(downloads, executor, id, page, asker, can);
};

export const appComments = async (executor: Executor, id: number, page: number, asker: Asker) => {
  await visible(executor, id, asker);
  return commentPart(executor, id, page, asker);
};
