import type { FastifyReply, FastifyRequest } from 'fastify';
import { readRange } from '#server/http/byte-range.ts';
import { disposition } from '#server/http/disposition.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { reachable } from '../payment/order-view.ts';
import { mayPlay } from '../payment/sandbox.ts';
import type { createManageMarket } from './manage-market.service.ts';
import type { MarketService } from './market.service.ts';

/** Sends a file, or the part of it that was asked for, as something to keep and never to run. */
const send = async (
  market: MarketService,
  key: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const range = readRange(request.headers.range);
  const { version, body } = await market.open(key, range, request.ip);
  reply.headers({
    'content-type': 'application/octet-stream',
    'content-disposition': disposition(version.fileName),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    etag: `"${version.sha256}"`,
  });
  if (body === null) {
    await reply.code(416).header('content-range', `bytes */${version.codeSize}`).send();
    return;
  }
  const { stream, size, part } = body;
  if (part) reply.code(206).header('content-range', `bytes ${part.from}-${part.to}/${size}`);
  reply.header('content-length', part ? part.to - part.from + 1 : size);
  await reply.send(stream);
};

export const createMarketHandlers = (
  market: MarketService,
  settings: Parameters<typeof mayPlay>[1],
) =>
  ({
    appList: (input, { db, user }) => market.list(db, input, user),
    appDetails: ({ id }, { db, user }) => market.details(db, id, user),
    appVersionNext: ({ id, version_page: page }, { db, user }) =>
      market.versions(db, id, page, user),
    appCommentNext: ({ id, comment_page: page }, { db, user }) =>
      market.comments(db, id, page, user),
    sendAppComment: (input, { db, user }) => market.comment(db, input, user),
    delOwnAppComment: async ({ app_id: id }, { db, user }) => {
      await market.removeOwnComment(db, id, user.id);
      return {};
    },
    reportAppComment: async (input, { db, user }) => {
      await market.report(db, input, user);
      return {};
    },
    payApp: async ({ id, provider }, { user, ...context }) => {
      const order = await market.buy(user, { id, provider, play: mayPlay(context, settings) });
      return async (db) => reachable(await order(db), context.origin);
    },
    appTradeStatus: async ({ platform_order_id: number }, { user, origin }) =>
      reachable(await market.orderStatus(user.id, number), origin),
    appDownloadLink: (input, { db, user }) => market.downloadLink(db, input, user),
    downloadApp: ({ key }, { request, reply }) => send(market, key, request, reply),
  }) satisfies Partial<Handlers>;

export const createManageMarketHandlers = (manage: ReturnType<typeof createManageMarket>) =>
  ({
    saveApp: (input, { file, files, ...manager }) =>
      manage.save(input, { file, cover: files['cover_image'] }, manager),
    addAppVersion: (input, { file, ...manager }) => manage.addVersion(input, file, manager),
    appVersionList: (input, { db, user }) => manage.versions(db, input, user),
    appCommentList: (input, { db, user }) => manage.comments(db, input, user),
    delAppComment: async ({ id }, { db, ...manager }) => {
      await manage.removeComment(db, id, manager);
      return {};
    },
    appDescription: ({ id }, { db }) => manage.description(db, id),
    saveAppDescription: async (input, { db, ...manager }) => {
      await manage.saveDescription(db, input, manager);
      return {};
    },
    appGeneralInfo: ({ id }, { db }) => manage.generalInfo(db, id),
    saveAppGeneralInfo: async (input, { db, ...manager }) => {
      await manage.saveGeneralInfo(db, input, manager);
      return {};
    },
    managedAppList: (input, { db }) => manage.list(db, input),
    setAppState: async (input, { db, ...manager }) => {
      await manage.setState(db, input, manager);
      return {};
    },
    delAppDraft: async ({ id }, { db, afterCommit, ...manager }) => {
      const keys = await manage.removeDraft(db, id, manager);
      afterCommit(() => manage.drop(keys));
      return {};
    },
    appDraft: ({ id }, { db }) => manage.draft(db, id),
  }) satisfies Partial<Handlers>;
