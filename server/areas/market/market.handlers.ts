import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { readRange } from '#server/http/byte-range.ts';
import { disposition } from '#server/http/disposition.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { reachable } from '../payment/order-view.ts';
import type { PaymentService } from '../payment/payment.service.ts';
import { mayPlay } from '../payment/sandbox.ts';
import { createAppComments } from './app-comment.service.ts';
import { appOrderStatus, buyApp } from './app-order.service.ts';
import type { Downloads } from './download.service.ts';
import * as manage from './manage-market.service.ts';
import * as market from './market.service.ts';
import type { Publishing } from './publish-app.service.ts';

/** Sends a file, or the part of it that was asked for, as something to keep and never to run. */
const send = async (
  downloads: Downloads,
  key: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const range = readRange(request.headers.range);
  const { version, body } = await downloads.open(key, range, request.ip);
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

export const createMarketHandlers = (deps: {
  db: Database;
  downloads: Downloads;
  payments: PaymentService;
  settings: Parameters<typeof mayPlay>[1];
}) => {
  const { downloads, payments, settings } = deps;
  const comments = createAppComments();
  return {
    appList: (input, { db, user }) => market.appList(db, input, user),
    appDetails: ({ id }, { db, user }) => market.appDetails(downloads, db, id, user),
    appVersionNext: ({ id, version_page: page }, { db, user }) =>
      market.appVersions(downloads, db, id, page, user),
    appCommentNext: ({ id, comment_page: page }, { db, user }) =>
      market.appComments(db, id, page, user),
    sendAppComment: (input, { db, user }) => comments.put(db, input, user),
    delOwnAppComment: async ({ app_id: id }, { db, user }) => {
      await comments.removeOwn(db, id, user.id);
      return {};
    },
    reportAppComment: async (input, { db, user }) => {
      await comments.report(db, input, user);
      return {};
    },
    payApp: async ({ id, provider }, { user, ...context }) => {
      const order = await buyApp(deps, user, { id, provider, play: mayPlay(context, settings) });
      return async (db) => reachable(await order(db), context.origin);
    },
    appTradeStatus: async ({ platform_order_id: number }, { user, origin }) =>
      reachable(await appOrderStatus(payments, user.id, number), origin),
    appDownloadLink: (input, { db, user }) => downloads.link(db, input, user),
    downloadApp: ({ key }, { request, reply }) => send(downloads, key, request, reply),
  } satisfies Partial<Handlers>;
};

export const createManageMarketHandlers = (publishing: Publishing, downloads: Downloads) =>
  ({
    saveApp: (input, { file, files, ...manager }) =>
      publishing.save(input, { file, cover: files['cover_image'] }, manager),
    addAppVersion: (input, { file, ...manager }) => publishing.addVersion(input, file, manager),
    appVersionList: (input, { db, user }) => manage.versions(downloads, db, input, user),
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
      afterCommit(() => publishing.drop(keys));
      return {};
    },
    appDraft: ({ id }, { db }) => manage.draft(db, id),
  }) satisfies Partial<Handlers>;
