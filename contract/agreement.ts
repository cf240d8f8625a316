import * as z from 'zod/mini';
import { call, id, listOf, page, text, time, wholeNumber } from './call.ts';
import { agreementKinds, agreementLimits } from './agreement-kinds.ts';

const kind = z.enum(agreementKinds);
const version = wholeNumber(1, 1_000_000);

/** Which text, in which version. */
export const agreedItem = z.object({ kind, version });
/** What somebody agrees to. */
export const agreedTo = z.array(agreedItem).check(z.maxLength(agreementKinds.length));
export type AgreedTo = z.output<typeof agreedTo>;

const agreement = z.object({
  kind,
  title: z.string(),
  version: z.int(),
  created_at: time,
});

export const agreementCalls = {
  agreements: call({
    method: 'GET',
    path: '/api/agreements',
    access: 'public',
    forDisabled: true,
    summary: '这个站点的协议，以及自己同意的是哪一版',
    input: z.object({}),
    output: z.object({
      /** Registering asks for all of them. */
      required: z.boolean(),
      list: z.array(
        z.extend(agreement, {
          /** The version that the caller agreed to; 0: none. */
          agreed: z.int(),
          agreed_at: z.nullable(time),
        }),
      ),
    }),
  }),
  agreement: call({
    method: 'GET',
    path: '/api/agreement',
    access: 'public',
    forDisabled: true,
    summary: '一份协议现在的文字（Markdown）',
    input: z.object({ kind }),
    output: z.extend(agreement, { text: z.string() }),
  }),
  thirdParties: call({
    method: 'GET',
    path: '/api/third_parties',
    access: 'public',
    forDisabled: true,
    summary: '这个站点把哪些数据交给谁、做什么用；站点没有公布时是空的',
    input: z.object({}),
    output: z.object({
      shown: z.boolean(),
      list: z.array(z.object({ name: z.string(), purpose: z.string(), data: z.string() })),
    }),
  }),
  agree: call({
    method: 'POST',
    path: '/api/agree',
    access: 'guest',
    summary: '同意协议现在的版本',
    input: z.object({ agreed: agreedTo.check(z.minLength(1)) }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  withdrawAgreement: call({
    method: 'POST',
    path: '/api/withdraw_agreement',
    access: 'user',
    summary: '撤回对一份协议的同意；记录留着',
    input: z.object({ kind }),
    output: z.object({}),
  }),
  saveAgreement: call({
    method: 'POST',
    path: '/api/admin/save_agreement',
    access: 'manager',
    summary: '管理：写一份协议的新版本；空的文字是不再有这份协议',
    input: z.object({ kind, text: text(agreementLimits.text) }),
    output: z.object({ version: z.int() }),
  }),
  consentList: call({
    method: 'GET',
    path: '/api/admin/consent_list',
    access: 'manager',
    summary: '管理：谁在何时同意或撤回了哪份协议的哪一版，新的在前',
    input: z.object({ page, user_id: z.optional(id) }),
    output: z.object(
      listOf(
        z.object({
          user_id: z.int(),
          user_name: z.string(),
          title: z.string(),
          version: z.int(),
          created_at: time,
          withdrawn_at: z.nullable(time),
        }),
      ),
    ),
  }),
};
