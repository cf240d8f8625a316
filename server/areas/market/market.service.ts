import { randomBytes } from 'node:crypto';
import type { Out, Parsed } from '#contract/calls.ts';
import type { AppComment, AppVersion } from '#contract/market.ts';
import { marketLimits } from '#contract/market-limits.ts';
import type { Order, ProviderName } from '#contract/payment.ts';
import { orderTypes } from '#contract/kinds.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { keptSecret } from '#server/db/kept-secret.ts';
import type { ByteRange } from '#server/storage/byte-range.ts';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { createPersonLimit } from '#server/http/rate-limit.ts';
import type { Storage } from '#server/storage/storage-interface.ts';
import { requirePhone } from '../contact/phone-rule.service.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import { openOrder } from '../payment/order.service.ts';
import type { PaymentService } from '../payment/payment.service.ts';
import { appPayable } from './app-payable.ts';
import { type Link, linkLifetime, makeLink, readLink } from './link.ts';
import * as store from './market.store.ts';

interface Deps {
  db: Database;
  storage: Storage;
  payments: PaymentService;
}

type Asker = Pick<Identity, 'id' | 'guest' | 'manager'> | null;

/** Of one person in a minute. */
const commentsAMinute = 10;
const linksAMinute = 30;

const halves = (rating: number): number => Math.round(rating * 2);
const missing = (): Refusal => new Refusal('not_found', '没有这个应用');
const deadLink = (): Refusal => new Refusal('not_found', '下载链接已失效，请回到应用页面重新下载');

/** One page, and whether there are more: one row more than it holds was asked for. */
const partOf = <T>(rows: readonly T[]) => ({
  rows: rows.slice(0, marketLimits.page),
  hasMorePages: rows.length > marketLimits.page,
});
const windowOf = (page: number) => ({
  offset: (page - 1) * marketLimits.page,
  limit: marketLimits.page + 1,
});

/** What is shown as an app's rating: the mean of what people gave, or what it began with; 0–5. */
export const ratingOf = ({ app, ratingMean }: Pick<store.ShownRow, 'app' | 'ratingMean'>): number =>
  ratingMean === null ? app.firstRating / 2 : Math.round(ratingMean * 5) / 10;

const commentView = (
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
export const viewComment = commentView;

export type MarketService = ReturnType<typeof createMarketService>;

/** What people see of apps, buy, download and say. */
export const createMarketService = ({ db, storage, payments }: Deps) => {
  const limitComments = createPersonLimit(commentsAMinute, 'comments on apps');
  const limitLinks = createPersonLimit(linksAMinute, 'links to apps');
  let secret: Promise<string> | undefined;
  const linkSecret = (): Promise<string> => {
    secret ??= keptSecret(db, 'app-download', () => randomBytes(32).toString('base64url'));
    secret.catch(() => {
      secret = undefined;
    });
    return secret;
  };

  const linkOf = async (versionId: number, userId: number): Promise<string> =>
    `/api/product/download?key=${makeLink(await linkSecret(), { versionId, userId })}`;

  /** Whether somebody may download it: managers, its buyers, and everybody where it is free. */
  const mayDownload = (app: store.AppRow, asker: Asker, owned: boolean): boolean => {
    if (!asker || asker.guest) return false;
    if (asker.manager || owned) return true;
    return app.state === 'published' && app.price === 0;
  };

  const owns = async (executor: Executor, asker: Asker, appId: number): Promise<boolean> =>
    asker !== null && (await store.ownedApps(executor, asker.id, [appId])).has(appId);

  /** An app that somebody may look at: taken down, it is there for its buyers and managers alone. */
  const visible = async (executor: Executor, id: number, asker: Asker) => {
    const shown = await store.shownApp(executor, id);
    if (!shown) throw missing();
    const owned = await owns(executor, asker, id);
    const { state } = shown.app;
    if (state !== 'published' && !(asker?.manager || (state === 'down' && owned))) throw missing();
    const can = mayDownload(shown.app, asker, owned) && shown.version?.fileKey !== '';
    return { ...shown, owned, can: can && shown.version !== null };
  };

  const appView = (shown: store.ShownRow, can: boolean) => {
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

  const versionView = async (
    row: store.VersionRow,
    asker: Asker,
    can: boolean,
  ): Promise<AppVersion> => ({
    id: row.id,
    version: row.version,
    code_size: row.codeSize,
    code_url: can && asker && row.fileKey !== '' ? await linkOf(row.id, asker.id) : '',
    file_name: row.fileName,
    sha256: row.sha256,
    scanned: row.scanned,
    description: row.description,
    created_at: row.createdAt.toISOString(),
  });

  const versionPart = async (
    executor: Executor,
    id: number,
    page: number,
    asker: Asker,
    can: boolean,
  ) => {
    const { rows, hasMorePages } = partOf(await store.versionsOf(executor, id, windowOf(page)));
    return {
      list: await Promise.all(rows.map((row) => versionView(row, asker, can))),
      hasMorePages,
    };
  };

  const commentPart = async (executor: Executor, id: number, page: number, asker: Asker) => {
    const { rows, hasMorePages } = partOf(await store.commentsOf(executor, id, windowOf(page)));
    return { list: rows.map((row) => commentView(row, asker)), hasMorePages };
  };

  /** The right is looked at whenever bytes are asked for: it may be gone since the link was made. */
  const openLink = async (link: Link) => {
    const account = await store.isServed(db, link.userId);
    const version = await store.findVersion(db, link.versionId);
    const app = version && (await store.findApp(db, version.appId));
    if (!account || !app || version.fileKey === '') throw deadLink();
    const asker = { id: link.userId, ...account };
    const owned = await owns(db, asker, app.id);
    if (!mayDownload(app, asker, owned)) throw deadLink();
    return { app, version, owned };
  };

  return {
    list: async (
      executor: Executor,
      { page, pageSize, type, query }: Parsed<'appList'>,
      asker: Asker,
    ): Promise<Out<'appList'>> => {
      const window = { offset: (page - 1) * pageSize, limit: pageSize };
      const found = await store.publishedApps(executor, { type, query }, window);
      const ids = found.list.map(({ app }) => app.id);
      const owned =
        asker && ids.length > 0 ? await store.ownedApps(executor, asker.id, ids) : new Set();
      return {
        list: found.list.map((shown) => {
          const { app, version } = shown;
          const can = Boolean(version?.fileKey) && mayDownload(app, asker, owned.has(app.id));
          return {
            ...appView(shown, can),
            images_url: app.images,
            md_description: app.mdDescription.slice(0, 300),
          };
        }),
        types: await store.publishedTypes(executor),
        page,
        page_count: Math.ceil(found.total / pageSize),
        page_size: pageSize,
        total: found.total,
      };
    },

    details: async (executor: Executor, id: number, asker: Asker): Promise<Out<'appDetails'>> => {
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
        versions_detail: await versionPart(executor, id, 1, asker, can),
        comments_detail: await commentPart(executor, id, 1, asker),
      };
    },

    versions: async (executor: Executor, id: number, page: number, asker: Asker) => {
      const { can } = await visible(executor, id, asker);
      return versionPart(executor, id, page, asker, can);
    },

    comments: async (executor: Executor, id: number, page: number, asker: Asker) => {
      await visible(executor, id, asker);
      return commentPart(executor, id, page, asker);
    },

    /** @throws Refusal not_found, app_unsuitable, too_many */
    comment: async (
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
        rating: halves(rating),
        content,
      });
      const kept = await store.commentOf(executor, id, user.id);
      if (!kept) throw new Error('the comment was not stored');
      return commentView(kept, user);
    },

    /** Also of an app that its owner may not download any more. @throws Refusal not_found */
    removeOwnComment: async (executor: Executor, appId: number, userId: number): Promise<void> => {
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

    /**
     * An order for the right to download (`play`: with the sandbox, too); one that was begun at today's price goes on.
     * @throws Refusal not_found, order_unsuitable, payment_unavailable
     */
    buy: async (
      user: Identity,
      { id, provider, play }: { id: number; provider: ProviderName | undefined; play: boolean },
    ): Promise<(executor: Executor) => Promise<Order>> => {
      const wish = { quantity: 1, subject: String(id) };
      const { amount } = await appPayable.price(db, user.id, wish);
      const { kind } = appPayable;
      const begunOrder = async (executor: Executor): Promise<Order | null> => {
        const begun = await openOrder(executor, {
          ...wish,
          userId: user.id,
          kind,
          amount,
        });
        return provider === undefined || begun?.provider === provider ? begun : null;
      };
      const begun = await begunOrder(db);
      if (begun) return async () => begun;
      return payments.createOrder(user.id, {
        kind,
        wish,
        provider,
        play,
        instead: begunOrder,
      });
    },

    /** @throws Refusal not_found: there is none, or it is about something else */
    orderStatus: async (userId: number, number: string): Promise<Order> => {
      const found = await payments.orderStatus(userId, number);
      if (found.type !== orderTypes.app) throw new Refusal('not_found', '没有这个订单');
      return found;
    },

    /** @throws Refusal not_found, app_unsuitable, too_many */
    downloadLink: async (
      executor: Executor,
      { id, version_id: versionId }: Parsed<'appDownloadLink'>,
      user: Identity,
    ): Promise<Out<'appDownloadLink'>> => {
      const shown = await visible(executor, id, user);
      const version =
        versionId === undefined ? shown.version : await store.findVersion(executor, versionId);
      if (!version || version.appId !== id || version.fileKey === '')
        throw new Refusal('not_found', '没有这个版本');
      if (!shown.can) throw new Refusal('app_unsuitable', '取得这个应用之后才能下载');
      await limitLinks(user.id);
      return {
        url: await linkOf(version.id, user.id),
        file_name: version.fileName,
        code_size: version.codeSize,
        sha256: version.sha256,
      };
    },

    /**
     * The file behind a link, or a part of it; no body: it has no such part. A link begins one download; afterwards it goes on with
     * that one alone: from where it broke, for the same address, for some hours.
     * @throws Refusal not_found
     */
    open: async (key: string, range: ByteRange | null, ip: string) => {
      const link = readLink(await linkSecret(), key);
      if (!link) throw deadLink();
      const used = await store.usedLink(db, link.nonce);
      if (used) {
        const over = Date.now() - used.createdAt.getTime() > linkLifetime.used;
        const goesOn = range !== null && !('from' in range && range.from === 0);
        if (over || !goesOn || used.ip !== ip) throw deadLink();
      } else if (Date.now() - link.madeAt > linkLifetime.unused) throw deadLink();
      const { app, version, owned } = await openLink(link);
      const part = range && (await storage.getPart(version.fileKey, range));
      const found = range ? part : await storage.get(version.fileKey);
      if (!found) throw new Refusal('not_found', '文件不见了，请联系管理员');
      if (!used && found !== 'outside') {
        const { userId, nonce } = link;
        const values = { nonce, appId: app.id, versionId: version.id, userId, ip };
        if (!(await store.useLink(db, values))) {
          found.stream.destroy();
          throw deadLink();
        }
        // Who took it while it was free keeps it.
        if (!owned && app.price === 0 && app.state === 'published')
          await store.addPurchase(db, { appId: app.id, userId, orderId: null });
      }
      if (found === 'outside') return { version, body: null };
      const bytes = part && part !== 'outside' ? { from: part.from, to: part.to } : null;
      return { version, body: { stream: found.stream, size: found.size, part: bytes } };
    },

    viewVersion: versionView,
  };
};
