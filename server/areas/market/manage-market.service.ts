import type { Out, Parsed } from '#contract/calls.ts';
import { marketTexts } from '#contract/market-limits.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type ActNote, type Identity, Refusal } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { requireSortable, sortRows } from '#server/sorting.ts';
import { salesOf } from '../payment/order.service.ts';
import { appPayable } from './app-payable.ts';
import { commentView, ratingOf } from './app-view.ts';
import type { Downloads } from './download.service.ts';
import * as store from './market.store.ts';
import { noApp } from './app-rights.ts';

export interface Manager {
  user: Identity;
  noteAct: (act: ActNote) => void;
}

/** A text without blanks around it. @throws Refusal bad_input where it is empty */
export const demand = (value: string, field: string, text: string): string => {
  const trimmed = value.trim();
  if (trimmed === '') throw new Refusal('bad_input', `${field}：${text}`);
  return trimmed;
};

const findApp = async (db: Executor, id: number): Promise<store.AppRow> => {
  const app = await store.findApp(db, id);
  if (!app) throw noApp();
  return app;
};

export const lockApp = async (db: Executor, id: number): Promise<store.AppRow> => {
  const app = await store.lockApp(db, id);
  if (!app) throw noApp();
  return app;
};

/** A page of apps by how many were sold, or for how much. */
const bySales = async (db: Executor, asked: Parsed<'managedAppList'>) => {
  const { page, pageSize, sort, order } = asked;
  const ids = await store.managedIds(db, asked);
  requireSortable('managedAppList', asked, ids.length);
  const sold = await salesOf(db, appPayable.kind, ids.map(String));
  const key = sort === 'income' ? 'income' : 'count';
  const sorted = sortRows(ids, (id) => sold.get(String(id))?.[key] ?? 0, order);
  const { offset, limit } = windowOf(page, pageSize);
  const shown = sorted.slice(offset, offset + limit);
  const { list } = await store.managedApps(db, { ids: shown }, { offset: 0, limit });
  return {
    list: sortRows(list, ({ app }) => shown.indexOf(app.id), 'asc'),
    total: ids.length,
  };
};

export const list = async (
  db: Executor,
  asked: Parsed<'managedAppList'>,
): Promise<Out<'managedAppList'>> => {
  const { page, pageSize, sort } = asked;
  const { list, total } =
    sort === 'sales' || sort === 'income'
      ? await bySales(db, asked)
      : await store.managedApps(db, asked, windowOf(page, pageSize));
  const sold = await salesOf(
    db,
    appPayable.kind,
    list.map(({ app }) => String(app.id)),
  );
  return {
    list: list.map((row) => ({
      id: row.app.id,
      title: row.app.title,
      type: row.app.type,
      source: row.app.source,
      price: row.app.price,
      state: row.app.state,
      cover_image_url: row.app.coverImageUrl,
      rating: ratingOf(row),
      rating_count: row.ratingCount,
      reports: row.reports,
      version: row.version?.version ?? '',
      version_count: row.versions,
      download_count: row.downloads,
      sales: sold.get(String(row.app.id))?.count ?? 0,
      income: sold.get(String(row.app.id))?.income ?? 0,
      updated_at: row.app.updatedAt.toISOString(),
    })),
    ...pageOf(total, page, pageSize),
  };
};

/** A draft as the form that publishes it has it. @throws Refusal not_found */
export const draft = async (db: Executor, id: number): Promise<Out<'appDraft'>> => {
  const app = await findApp(db, id);
  if (app.state !== 'draft') throw new Refusal('not_found', '没有这个草稿');
  const [version] = await store.versionsOf(db, id, { offset: 0, limit: 1 });
  return {
    id,
    type: app.type,
    title: app.title,
    source: app.source,
    developer: app.developer,
    price: app.price,
    version: version?.version ?? '',
    version_desc: version?.description ?? '',
    images_url: JSON.stringify(app.images),
    md_description: app.mdDescription,
    cover_image_url: app.coverImageUrl,
    file_name: version?.fileName ?? '',
  };
};

/** Gives the keys of files that nobody needs any more. @throws Refusal not_found, app_unsuitable */
export const removeDraft = (db: Executor, id: number, { noteAct }: Manager): Promise<string[]> =>
  inTransaction(db, async (tx) => {
    const app = await lockApp(tx, id);
    if (app.state !== 'draft')
      throw new Refusal('app_unsuitable', '发布过的应用不能删除，可以下架');
    const versions = await store.versionsOf(tx, id, { offset: 0, limit: 100 });
    await store.removeApp(tx, id);
    noteAct({ subject: `app:${id}`, from: { title: app.title } });
    return versions.map(({ fileKey }) => fileKey).filter((key) => key !== '');
  });

/** @throws Refusal not_found, app_unsuitable */
export const setState = (
  db: Executor,
  { id, state }: Parsed<'setAppState'>,
  { noteAct }: Manager,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const app = await lockApp(tx, id);
    if (app.state === 'draft') throw new Refusal('app_unsuitable', '这是草稿，请先把它发布');
    await store.changeApp(tx, id, { state });
    noteAct({ subject: `app:${id}`, from: { state: app.state }, to: { state } });
  });

export const versions = async (
  downloads: Downloads,
  db: Executor,
  { id, page, pageSize }: Parsed<'appVersionList'>,
  user: Identity,
): Promise<Out<'appVersionList'>> => {
  const { title } = await findApp(db, id);
  const window = windowOf(page, pageSize);
  const rows = await store.versionsOf(db, id, window);
  const list = await Promise.all(rows.map((row) => downloads.viewVersion(row, user, true)));
  return { title, list: { list, count: await store.countVersions(db, id) } };
};

export const comments = async (
  db: Executor,
  { id, page, pageSize }: Parsed<'appCommentList'>,
  user: Identity,
): Promise<Out<'appCommentList'>> => {
  const { title } = await findApp(db, id);
  const window = windowOf(page, pageSize);
  const rows = await store.managedComments(db, id, window);
  const given = await store.ratingsOf(db, id);
  return {
    title,
    list: {
      list: rows.map(({ version, description, reports, ...row }) => ({
        ...commentView(row, user),
        version: version ?? '',
        description: description ?? '',
        reports,
      })),
      count: given.reduce((sum, { count }) => sum + count, 0),
    },
  };
};

/** @throws Refusal not_found */
export const removeComment = async (
  db: Executor,
  id: number,
  { noteAct }: Manager,
): Promise<void> => {
  const gone = await store.removeComment(db, id);
  if (!gone) throw new Refusal('not_found', '没有这条评论');
  noteAct({
    subject: `app:${gone.appId}`,
    from: { comment: gone.content, user_id: gone.userId },
  });
};

export const description = async (db: Executor, id: number): Promise<Out<'appDescription'>> => {
  const { title, mdDescription } = await findApp(db, id);
  return { title, md_description: mdDescription };
};

export const saveDescription = (
  db: Executor,
  { id, md_description: text }: Parsed<'saveAppDescription'>,
  { noteAct }: Manager,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const app = await lockApp(tx, id);
    await store.changeApp(tx, id, { mdDescription: text });
    noteAct({ subject: `app:${id}`, from: { md_description: app.mdDescription } });
  });

export const generalInfo = async (db: Executor, id: number): Promise<Out<'appGeneralInfo'>> => {
  const app = await findApp(db, id);
  return {
    id,
    title: app.title,
    developer: app.developer,
    type: app.type,
    source: app.source,
    rating: app.firstRating / 2,
    price: app.price,
    closeComment: app.closeComment,
  };
};

export const saveGeneralInfo = (
  db: Executor,
  { id, title, rating, ...given }: Parsed<'saveAppGeneralInfo'>,
  { noteAct }: Manager,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const app = await lockApp(tx, id);
    const named = title === undefined ? app.title : demand(title, 'title', marketTexts.title);
    const values = {
      title: named,
      developer: given.developer?.trim() ?? app.developer,
      type: given.type?.trim() ?? app.type,
      source: given.source?.trim() ?? app.source,
      price: given.price ?? app.price,
      firstRating: rating === undefined ? app.firstRating : Math.round(rating * 2),
      closeComment: given.closeComment ?? app.closeComment,
    };
    await store.changeApp(tx, id, values);
    const { price, firstRating, closeComment } = app;
    noteAct({
      subject: `app:${id}`,
      from: { title: app.title, price, firstRating, closeComment },
      to: values,
    });
  });
