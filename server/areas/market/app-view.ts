import type { AppComment } from '#contract/market.ts';
import type { Asker } from './app-rights.ts';
import type * as store from './market.store.ts';

/** What is shown as an app's rating: the mean of what people gave, or what it began with; 0–5. */
export const ratingOf = ({ app, ratingMean }: Pick<store.ShownRow, 'app' | 'ratingMean'>): number =>
  ratingMean === null ? app.firstRating / 2 : Math.round(ratingMean * 5) / 10;

export const commentView = (
  { comment, userName, avatar }: Awaited<ReturnType<typeof store.commentsOf>>[number],
  asker: Asker,
): AppComment => ({
  id: comment.id,
  user_id: comment.userId,
  user_name: userName,
  avatar,
  rating: comment.rating / 2,
  comment_content: comment.content,
  created_at: comment.createdAt.toISOString(),
  edited: comment.editedAt !== null,
  mine: comment.userId === asker?.id,
});

export const appView = (shown: store.ShownRow, can: boolean) => {
  const { app, version } = shown;
  return {
    id: app.id,
    title: app.title,
    source: app.source,
    developer: app.developer,
    price: app.price,
    type: app.type,
    cover_image_url: app.coverImageUrl,
    rating: ratingOf(shown),
    rating_count: shown.ratingCount,
    version: version?.version ?? '',
    version_desc: version?.description ?? '',
    code_size: version?.codeSize ?? 0,
    download_count: shown.downloads,
    isDownloadable: can,
    closeComment: app.closeComment,
    updated_at: (version && version.createdAt > app.updatedAt
      ? version.createdAt
      : app.updatedAt
    ).toISOString(),
  };
};
