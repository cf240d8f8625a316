import type { Compliance, ComplianceCheck } from '#contract/compliance.ts';
import { agreementKinds } from '#contract/agreement-kinds.ts';
import type { Answer } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { countUpTo } from '#server/db/count-up-to.ts';
import { Refusal } from '#server/http/handlers.ts';
import { endOf } from '#server/labels/c2pa.ts';
import { readAigc } from '#server/labels/aigc.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { ownImage, imagePath } from '../file/image-address.ts';
import type { FileService } from '../file/file.service.ts';
import { readSafety } from '../moderation/safety.service.ts';
import { unmarkedDownloads } from './compliance.tables.ts';
import { currentAgreements } from './agreement.store.ts';
import { labelById, listUnmarked, noteUnmarked, readCompliance } from './compliance.store.ts';

const said = (key: string, title: string, ok: boolean, hint: string): ComplianceCheck => ({
  key,
  title,
  ok,
  hint: ok ? '' : hint,
});

/** What is met of the rules, and what is missing; it is told, and nothing is forced. */
export const checksOf = (
  settings: Compliance,
  /** Of the agreements, how many are written. */
  written: number,
  /** Questions and answers are checked. */
  checked: boolean,
): ComplianceCheck[] => [
  said(
    'producer_code',
    '隐式标识里的服务提供者编码',
    settings.producer_code !== '' && settings.propagator_code !== '',
    '文件里已经写了隐式标识，但没有写是谁：填写生成者与传播者的编码',
  ),
  said('mark_text', '文字的显式标识', settings.mark_text === 1, '复制、导出、分享的文字没有标明'),
  said(
    'mark_images',
    '图片的显式标识',
    settings.mark_images === 1,
    '下载的图片角上没有“由人工智能生成”',
  ),
  said(
    'mark_sound',
    '声音的显式标识',
    settings.mark_sound === 1,
    '朗读的开头没有说出“由人工智能生成”',
  ),
  said('mark_films', '视频的显式标识', settings.mark_films === 1, '视频的开头没有“由人工智能生成”'),
  said(
    'agreements',
    '协议与隐私政策',
    settings.ask_agreements === 1 && written === agreementKinds.length,
    '三份协议没有都写好，或注册时没有要求同意',
  ),
  said('safety', '内容安全检查', checked, '没有检查提问与回复：在下面“内容安全”里打开'),
  said(
    'minors',
    '未成年人模式',
    settings.minors === 1,
    '没有提供；服务未成年人的要有时段、时长、消费与内容的限制',
  ),
  said(
    'records',
    '留存日志',
    settings.record_months >= 6,
    '登录、地址、发布、生成的记录要保留至少六个月',
  ),
  said(
    'show_third_parties',
    '第三方清单',
    settings.show_third_parties === 1,
    '没有公布数据会交给哪些服务：打开之后，按接上的渠道自己列出来',
  ),
  said('operator', '运营者', settings.operator !== '', '页脚没有写是谁在提供服务'),
  said('report', '举报渠道', settings.report !== '', '页脚没有写向哪里投诉、举报'),
  said('icp', 'ICP 备案号', settings.icp !== '', '没有填写；公开的网站要在首页底部标明'),
  said('police', '公安备案号', settings.police !== '', '没有填写；网站开通后 30 天内办理'),
  said(
    'algorithm',
    '算法备案号',
    settings.algorithm !== '',
    '没有填写；有舆论属性或社会动员能力的服务要备案',
  ),
  said(
    'model_record',
    '模型备案或登记号',
    settings.model_record !== '',
    '没有填写；向公众提供生成式服务要备案或登记，并公示模型名称与编号',
  ),
  // Nobody has to sign; who does wants to know when it ends.
  ...(settings.c2pa_chain === ''
    ? []
    : [
        said(
          'c2pa_chain',
          'C2PA 签名',
          (endOf(settings.c2pa_chain)?.getTime() ?? 0) > Date.now(),
          '证书过期了：新做的内容没有签名，请换一张',
        ),
      ]),
];

/** Settings and what is missing. */
export const stateOf = async (db: Executor): Promise<Answer<'complianceState'>> => {
  const settings = await readCompliance(db);
  const { length: written } = await currentAgreements(db);
  const { settings: safety } = await readSafety(db);
  const checked = safety.text_in === 1 && safety.text_out === 1;
  return { settings, checks: checksOf(settings, written, checked) };
};

/** How many of the checks are not met. */
export const missingCount = async (db: Executor): Promise<number> =>
  (await stateOf(db)).checks.filter(({ ok }) => !ok).length;

/** Whose a label is. @throws Refusal not_found */
export const findLabel = async (db: Executor, given: string): Promise<Answer<'findLabel'>> => {
  const id = (readAigc(given)?.ProduceID ?? given).trim();
  const row = await labelById(db, id);
  if (!row) throw new Refusal('not_found', '这里没有这个编号的内容：可能是别处生成的');
  const { userId, userName, createdAt, ...rest } = row;
  return {
    ...rest,
    user_id: userId,
    user_name: userName ?? '',
    created_at: createdAt.toISOString(),
  };
};

/**
 * Somebody takes an image without the words on it and will say themselves that a model made it.
 * @throws Refusal bad_input, not_found; manage_unsuitable where the operator does not allow it
 */
export const takeUnmarked = async (
  db: Executor,
  files: Pick<FileService, 'isThere'>,
  { url, agree }: { url: string; agree: 0 | 1 },
  userId: number,
): Promise<{ url: string }> => {
  const image = ownImage(url);
  if (!image || !(await files.isThere(db, image.key)))
    throw new Refusal('not_found', '没有这张图片');
  if (agree !== 1) throw new Refusal('bad_input', 'agree：请先同意自己标明它由人工智能生成');
  if ((await readCompliance(db)).allow_unmarked !== 1)
    throw new Refusal('manage_unsuitable', '这里不提供没有标识的图片');
  await noteUnmarked(db, userId, image.key);
  return { url: imagePath(image) };
};

const pageSize = 30;

/** Who took images without the words, the latest first. */
export const unmarkedPage = async (db: Executor, page: number): Promise<Answer<'unmarkedList'>> => {
  const total = await countUpTo(db, unmarkedDownloads, undefined);
  const rows = await listUnmarked(db, windowOf(page, pageSize));
  return {
    list: rows.map(({ userId, userName, imageKey, createdAt }) => ({
      user_id: userId,
      user_name: userName ?? '已注销',
      // PNG is what is made here; the key tells it either way.
      url: imagePath({ key: imageKey, type: 'png' }),
      created_at: createdAt.toISOString(),
    })),
    ...pageOf(total, page, pageSize),
  };
};
