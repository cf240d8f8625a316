import { bounds } from './bounds.ts';
import { marketLimits } from './market-limits.ts';
import * as z from 'zod/mini';
import {
  call,
  decimal,
  download,
  flag,
  id,
  listOf,
  page,
  slowCall,
  sortedBy,
  text,
  time,
  upload,
  wholeNumber,
  personName,
} from './call.ts';
import { order, providerName } from './payment.ts';
import { sorts } from './sorts.ts';

export const appState = z.enum(['draft', 'published', 'down']);
export type AppState = z.output<typeof appState>;

/** 0 to 5 in half steps; its digits are taken as well. */
const rating = z.pipe(decimal(0, 5), z.number().check(z.multipleOf(0.5)));
const price = wholeNumber(bounds.app.price.min, bounds.app.price.max);
const yesOrNo = z.pipe(
  flag,
  z.transform((value) => value === 1),
);
const pageSize = z._default(wholeNumber(1, 100), marketLimits.page);

/** An app as lists and details show it (document 3 §3). */
const app = z.object({
  id: z.int(),
  title: z.string(),
  /** Empty: official; otherwise the vendor. */
  source: z.string(),
  developer: z.string(),
  /** Cents; 0: free. */
  price: z.int(),
  type: z.string(),
  cover_image_url: z.string(),
  rating: z.number(),
  rating_count: z.int(),
  /** The newest version, and what is new in it. */
  version: z.string(),
  version_desc: z.string(),
  /** Bytes. */
  code_size: z.int(),
  download_count: z.int(),
  /** Whoever asks may download it. */
  isDownloadable: z.boolean(),
  closeComment: z.boolean(),
  updated_at: time,
});
const listedApp = z.extend(app, {
  images_url: z.array(z.string()),
  md_description: z.string(),
  /** Whoever asks has bought it; has downloaded an older version than the newest. */
  bought: z.boolean(),
  outdated: z.boolean(),
});

const appDetail = z.extend(app, {
  state: appState,
  /** Addresses of images, as the JSON of a list. */
  images_url: z.string(),
  /** Markdown. */
  md_description: z.string(),
  /** How many gave so many stars, from 5 down in half steps. */
  ratings: z.array(z.object({ rating: z.number(), count: z.int() })),
  /** What whoever asks has said of it. */
  my_comment: z.nullable(z.object({ comment_content: z.string(), rating: z.number() })),
});

const version = z.object({
  id: z.int(),
  version: z.string(),
  /** Bytes. */
  code_size: z.int(),
  /** Downloads it, once, for a while; empty for who may not. */
  code_url: z.string(),
  file_name: z.string(),
  /** Of the file, in hex. */
  sha256: z.string(),
  /** A virus scanner found nothing in it. */
  scanned: z.boolean(),
  description: z.string(),
  created_at: time,
});
export type AppVersion = z.output<typeof version>;

const comment = z.object({
  id: z.int(),
  user_id: z.int(),
  user_name: personName,
  avatar: z.string(),
  rating: z.number(),
  comment_content: z.string(),
  created_at: time,
  edited: z.boolean(),
  mine: z.boolean(),
});
export type AppComment = z.output<typeof comment>;

/** As managers see it: with the version that it is about, and how many reported it. */
const managedComment = z.extend(comment, {
  version: z.string(),
  description: z.string(),
  reports: z.int(),
});

const versionPart = z.object({ list: z.array(version), hasMorePages: z.boolean() });
const commentPart = z.object({ list: z.array(comment), hasMorePages: z.boolean() });

const generalInfo = z.object({
  id: z.int(),
  title: z.string(),
  developer: z.string(),
  type: z.string(),
  source: z.string(),
  rating: z.number(),
  price: z.int(),
  closeComment: z.boolean(),
});

const managedApp = z.object({
  id: z.int(),
  title: z.string(),
  type: z.string(),
  source: z.string(),
  price: z.int(),
  state: appState,
  cover_image_url: z.string(),
  rating: z.number(),
  rating_count: z.int(),
  reports: z.int(),
  version: z.string(),
  version_count: z.int(),
  download_count: z.int(),
  /** Orders that were paid and not refunded whole, and what they brought, cents. */
  sales: z.int(),
  income: z.int(),
  updated_at: time,
});

const fileCodes = [
  'app_unsuitable',
  'app_unsafe',
  'upload_type',
  'upload_unreadable',
  'file_quota',
] as const;

export const marketCalls = {
  appList: call({
    method: 'GET',
    path: '/api/product/get_list',
    access: 'public',
    summary: '应用市场：应用和它们的类型',
    input: z.object({
      page,
      pageSize: z._default(wholeNumber(1, 100), 24),
      type: z.optional(text(bounds.app.word.max)),
      query: z.optional(text(100)),
      /** What one has bought, or has an older version of than there is. */
      mine: z.optional(z.enum(['bought', 'outdated'])),
    }),
    output: z.object({ ...listOf(listedApp), types: z.array(z.string()) }),
  }),
  appDetails: call({
    method: 'GET',
    path: '/api/product/app_details',
    access: 'public',
    summary: '一个应用，和它第一页的版本与评论',
    input: z.object({ id }),
    output: z.object({
      app_detail: appDetail,
      versions_detail: versionPart,
      comments_detail: commentPart,
    }),
  }),
  appVersionNext: call({
    method: 'GET',
    path: '/api/product/version_next',
    access: 'public',
    summary: '一个应用的一页版本，新的在前',
    input: z.object({ id, version_page: page }),
    output: versionPart,
  }),
  appCommentNext: call({
    method: 'GET',
    path: '/api/product/comment_next',
    access: 'public',
    summary: '一个应用的一页评论，新的在前',
    input: z.object({ id, comment_page: page }),
    output: commentPart,
  }),
  sendAppComment: call({
    method: 'POST',
    path: '/api/product/send_comment',
    access: 'user',
    idempotent: true,
    summary: '评论可以下载的应用；每人一条，再发就是修改',
    input: z.object({
      app_id: id,
      comment_content: text(bounds.app.comment.max).check(z.minLength(1)),
      rating,
    }),
    output: comment,
    codes: ['app_unsuitable', 'words_blocked', 'phone_needed'],
  }),
  delOwnAppComment: call({
    method: 'POST',
    path: '/api/product/del_own_comment',
    access: 'user',
    summary: '删除自己对一个应用的评论',
    input: z.object({ app_id: id }),
    output: z.object({}),
  }),
  reportAppComment: call({
    method: 'POST',
    path: '/api/product/report_comment',
    access: 'user',
    summary: '举报一条评论',
    input: z.object({ id, reason: z._default(text(200), '') }),
    output: z.object({}),
    effect: 'none',
  }),
  payApp: slowCall({
    method: 'POST',
    path: '/api/product/pay_app',
    access: 'user',
    summary: '购买应用：还没有付的订单会接着用；免费的立即可以下载',
    input: z.object({ id, provider: z.optional(providerName) }),
    output: order,
    idempotent: true,
    codes: ['payment_unavailable', 'order_unsuitable'],
  }),
  appTradeStatus: call({
    method: 'POST',
    path: '/api/product/trade_status',
    access: 'user',
    summary: '应用的一个订单付了没有',
    input: z.object({ platform_order_id: text(64) }),
    inQuery: ['platform_order_id'],
    output: order,
    effect: 'none',
  }),
  appDownloadLink: call({
    method: 'POST',
    path: '/api/product/download_link',
    access: 'user',
    summary: '下载一个版本（不写就是最新的）的链接：用一次，断了可以接着下',
    input: z.object({ id, version_id: z.optional(id) }),
    output: z.object({
      url: z.string(),
      file_name: z.string(),
      code_size: z.int(),
      sha256: z.string(),
    }),
    codes: ['app_unsuitable'],
    effect: 'none',
  }),
  downloadApp: download({
    path: '/api/product/download',
    access: 'public',
    summary: '应用的文件，凭签过名的链接；可以用 Range 接着下',
    input: z.object({ key: text(200) }),
    output: z.object({}),
  }),

  saveApp: upload({
    path: '/api/product/save_app',
    access: 'manager',
    summary: '管理：发布应用；state 为 draft 是存草稿，带 id 是接着改草稿',
    fieldsInBody: true,
    files: ['cover_image'],
    maxBytes: marketLimits.fileBytes,
    input: z.object({
      id: z.optional(id),
      type: z._default(text(bounds.app.word.max), ''),
      title: z._default(text(bounds.app.title.max), ''),
      source: z._default(text(bounds.app.word.max), ''),
      developer: z._default(text(bounds.app.word.max), ''),
      /** Cents. */
      price: z._default(price, 0),
      version: z._default(text(bounds.app.version.max), ''),
      version_desc: z._default(text(bounds.app.versionText.max), ''),
      /** JSON: up to six addresses. */
      images_url: z._default(text(20_000), '[]'),
      md_description: z._default(text(bounds.app.description.max), ''),
      state: z._default(z.enum(['draft', 'published']), 'published'),
    }),
    output: z.object({ id: z.int(), message: z.string() }),
    codes: fileCodes,
    idempotent: true,
  }),
  addAppVersion: upload({
    path: '/api/product/add_version',
    access: 'manager',
    summary: '管理：给应用加一个版本',
    fieldsInBody: true,
    maxBytes: marketLimits.fileBytes,
    input: z.object({
      id,
      version: z._default(text(bounds.app.version.max), ''),
      description: z._default(text(bounds.app.versionText.max), ''),
    }),
    output: z.object({ id: z.int() }),
    codes: fileCodes,
    idempotent: true,
  }),
  appVersionList: call({
    method: 'GET',
    path: '/api/product/version_list',
    access: 'manager',
    summary: '管理：一个应用的版本',
    input: z.object({ id, page, pageSize }),
    output: z.object({
      title: z.string(),
      list: z.object({ list: z.array(version), count: z.int() }),
    }),
  }),
  appCommentList: call({
    method: 'GET',
    path: '/api/product/comment_list',
    access: 'manager',
    summary: '管理：一个应用的评论，被举报的在前',
    input: z.object({ id, page, pageSize }),
    output: z.object({
      title: z.string(),
      list: z.object({ list: z.array(managedComment), count: z.int() }),
    }),
  }),
  delAppComment: call({
    method: 'POST',
    path: '/api/product/del_comment',
    access: 'manager',
    summary: '管理：删除评论',
    input: z.object({ id }),
    output: z.object({}),
  }),
  appDescription: call({
    method: 'GET',
    path: '/api/product/get_description',
    access: 'manager',
    summary: '管理：一个应用的介绍',
    input: z.object({ id }),
    output: z.object({ title: z.string(), md_description: z.string() }),
  }),
  saveAppDescription: call({
    method: 'POST',
    path: '/api/product/save_description',
    access: 'manager',
    summary: '管理：更改应用的介绍',
    input: z.object({ id, md_description: text(bounds.app.description.max) }),
    output: z.object({}),
    maxBytes: 512 * 1024,
  }),
  appGeneralInfo: call({
    method: 'GET',
    path: '/api/product/general_info',
    access: 'manager',
    summary: '管理：一个应用的基本信息',
    input: z.object({ id }),
    output: generalInfo,
  }),
  saveAppGeneralInfo: call({
    method: 'POST',
    path: '/api/product/save_general_info',
    access: 'manager',
    summary: '管理：更改应用的基本信息；rating 在还没有人评分时显示',
    input: z.object({
      id,
      title: z.optional(text(bounds.app.title.max)),
      developer: z.optional(text(bounds.app.word.max)),
      type: z.optional(text(bounds.app.word.max)),
      source: z.optional(text(bounds.app.word.max)),
      rating: z.optional(rating),
      price: z.optional(price),
      closeComment: z.optional(yesOrNo),
    }),
    output: z.object({}),
  }),
  managedAppList: call({
    method: 'GET',
    path: '/api/product/manage_list',
    access: 'manager',
    summary: '管理：全部应用，有下载量和销售额',
    input: z.object({
      page,
      pageSize: z._default(wholeNumber(1, 100), 20),
      query: z.optional(text(100)),
      state: z.optional(appState),
      ...sortedBy(sorts.managedAppList),
    }),
    output: z.object(listOf(managedApp)),
  }),
  setAppState: call({
    method: 'POST',
    path: '/api/product/set_state',
    access: 'manager',
    summary: '管理：下架应用，或重新上架',
    input: z.object({ id, state: z.enum(['published', 'down']) }),
    output: z.object({}),
    codes: ['app_unsuitable'],
  }),
  delAppDraft: call({
    method: 'POST',
    path: '/api/product/del_draft',
    access: 'manager',
    summary: '管理：删除还没有发布的草稿',
    input: z.object({ id }),
    output: z.object({}),
    codes: ['app_unsuitable'],
  }),
  appDraft: call({
    method: 'GET',
    path: '/api/product/get_draft',
    access: 'manager',
    summary: '管理：一个草稿，按发布表单的字段',
    input: z.object({ id }),
    output: z.object({
      id: z.int(),
      type: z.string(),
      title: z.string(),
      source: z.string(),
      developer: z.string(),
      price: z.int(),
      version: z.string(),
      version_desc: z.string(),
      images_url: z.string(),
      md_description: z.string(),
      cover_image_url: z.string(),
      file_name: z.string(),
    }),
  }),
};
