import * as z from 'zod/mini';
import {
  call,
  confirmation,
  confirmCodes,
  dayOf,
  flag,
  id,
  listOf,
  page,
  text,
  time,
  wholeNumber,
} from './call.ts';

/** Codes of whoever makes or spreads content (TC260: 001, kind, 统一社会信用代码, 5 more). */
const code = z
  .string()
  .check(z.regex(/^[0-9A-Za-z_-]{0,64}$/, '只能是字母、数字、- 和 _，最多 64 个'));
const record = text(100);

/** What managers set of the rules for such services; empty and 0: as if there were no such thing. */
const fields = {
  /** Codes that stand in the labels of made files. */
  producer_code: code,
  propagator_code: code,
  /** Copied, exported and shared text says that a model made it. */
  mark_text: flag,
  /** Images that are saved carry the words in a corner. */
  mark_images: flag,
  /** Readings begin with the words. */
  mark_sound: flag,
  /** Films that are made here show the words for their first two seconds. */
  mark_films: flag,
  /** So do texts, images and sounds that programs get by /v1; answers in JSON stay as they are. */
  mark_api: flag,
  /** A person may save an image without the words after agreeing to label it themselves. */
  allow_unmarked: flag,
  /** Registering asks for consent to the agreements; those with an account are asked when one changes. */
  ask_agreements: flag,
  /** Accounts may be put into 未成年人模式 by a guardian's code. */
  minors: flag,
  /** Months for which it is kept who did what from where; 0: it is not. */
  record_months: wholeNumber(0, 60),
  /** Everybody may read who gets which data. */
  show_third_parties: flag,
  operator: record,
  /** Where to report bad content: an address of mail or of the web, or a number. */
  report: text(200),
  icp: record,
  police: record,
  algorithm: record,
  model_record: record,
  /** Certificates as PEM, the signing one first: what is made gets a manifest of C2PA. */
  c2pa_chain: text(20_000),
};

const stored = z.object(fields);
export type Compliance = z.output<typeof stored>;

export const usualCompliance: Compliance = {
  producer_code: '',
  propagator_code: '',
  mark_text: 0,
  mark_images: 0,
  mark_sound: 0,
  mark_films: 0,
  mark_api: 0,
  allow_unmarked: 1,
  ask_agreements: 0,
  minors: 0,
  record_months: 6,
  show_third_parties: 0,
  operator: '',
  report: '',
  icp: '',
  police: '',
  algorithm: '',
  model_record: '',
  c2pa_chain: '',
};

/** Of the rules what is met, by name, and what to do where it is not. */
const check = z.object({
  key: z.string(),
  title: z.string(),
  ok: z.boolean(),
  hint: z.string(),
});
export type ComplianceCheck = z.output<typeof check>;

/** What stands at the foot of pages. */
export const footInfo = z.pick(stored, {
  operator: true,
  report: true,
  icp: true,
  police: true,
  algorithm: true,
  model_record: true,
});
export type FootInfo = z.output<typeof footInfo>;

export const complianceCalls = {
  complianceState: call({
    method: 'GET',
    path: '/api/admin/compliance',
    access: 'manager',
    summary: '管理：合规的设置，以及还缺什么',
    input: z.object({}),
    output: z.object({ settings: stored, checks: z.array(check) }),
  }),
  saveCompliance: call({
    method: 'POST',
    path: '/api/admin/save_compliance',
    access: 'manager',
    summary: '管理：更改合规的设置；没有写的不变',
    input: z.extend(z.partial(stored), {
      /** The private key of the first certificate, as PEM; it is never told. Empty: the one that is there. */
      c2pa_key: z.optional(text(10_000)),
    }),
    output: z.object({ settings: stored, checks: z.array(check) }),
    codes: ['manage_unsuitable'],
  }),
  takeUnmarked: call({
    method: 'POST',
    path: '/api/take_unmarked',
    access: 'user',
    summary: '下载一张没有“由人工智能生成”字样的图片：同意自己标明，记录保留六个月',
    input: z.object({
      /** Address of the image below this server. */
      url: text(200),
      /** 1: whoever takes it will say themselves that a model made it. */
      agree: flag,
    }),
    output: z.object({ url: z.string() }),
    effect: 'none',
    codes: ['manage_unsuitable'],
  }),
  unmarkedList: call({
    method: 'GET',
    path: '/api/admin/unmarked_list',
    access: 'manager',
    summary: '管理：谁下载了没有标识的图片，新的在前',
    input: z.object({ page }),
    output: z.object(
      listOf(
        z.object({
          user_id: z.int(),
          user_name: z.string(),
          url: z.string(),
          created_at: time,
        }),
      ),
    ),
  }),
  exportRecords: call({
    method: 'POST',
    path: '/api/admin/export_records',
    access: 'owner',
    confirm: 'recent',
    summary:
      '管理：导出一个人一段时间的记录（登录、发布、生成、操作，连同地址与端口），给依法要它的机关；谁取、给谁、为什么记进操作记录',
    input: z.object({
      user_id: id,
      /** Whole days in China's time, both included. */
      from: dayOf,
      to: dayOf,
      /** Who asks for it by which paper. */
      reason: z.string().check(z.trim(), z.minLength(4), z.maxLength(500)),
      ...confirmation,
    }),
    output: z.object({
      name: z.string(),
      /** CSV. */
      text: z.string(),
      count: z.int(),
    }),
    effect: 'none',
    codes: [...confirmCodes, 'manage_unsuitable'],
  }),
  findLabel: call({
    method: 'GET',
    path: '/api/admin/label',
    access: 'manager',
    summary: '管理：按隐式标识里的 ProduceID 查这份内容是谁、何时、用哪个模型做的',
    input: z.object({
      /** The ProduceID, or all of the label. */
      label: text(4096).check(z.minLength(1)),
    }),
    output: z.object({
      id: z.string(),
      kind: z.string(),
      model: z.string(),
      /** Null: of nobody who signed in, or the account is gone. */
      user_id: z.nullable(z.int()),
      user_name: z.string(),
      created_at: time,
    }),
  }),
};
