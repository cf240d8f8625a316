import { and, asc, eq, ne } from 'drizzle-orm';
import { searchKinds } from '#contract/manage-model.ts';
import { channels } from '#server/db/schema.ts';
import { publicHostOf } from '#server/net/public-host.ts';
import type { ListParties, ThirdParty } from '../compliance/third-parties.ts';
import { channelPresets } from './channel-presets.ts';
import type { ChannelRow } from './model.store.ts';

type Use = Omit<ThirdParty, 'name'>;

const answering: Use = {
  purpose: '由模型回答、生成',
  data: '提问与它的上下文、附件的文字、图片与录音；不含账号、姓名与联系方式',
};
const drawing: Use = { purpose: '画图', data: '提示词与参考图' };
const searching: Use = { purpose: '联网搜索', data: '搜索的词' };
const uses: Partial<Record<ChannelRow['kind'], Use>> = {
  'stable-diffusion-webui': drawing,
  midjourney: drawing,
  stability: drawing,
  embedding: { purpose: '查找知识库', data: '知识库的段落与提问' },
  replicate: { purpose: '训练画风', data: '训练用的图片' },
  ...Object.fromEntries(searchKinds.map((kind) => [kind, searching])),
};

/** Connected services of others that what people write goes to. */
export const modelParties: ListParties = async (db) => {
  const rows = await db
    .selectDistinct({ kind: channels.kind, baseUrl: channels.baseUrl })
    .from(channels)
    .where(and(eq(channels.enabled, true), ne(channels.kind, 'built-in')))
    .orderBy(asc(channels.baseUrl));
  const found = new Map<string, ThirdParty>();
  for (const { kind, baseUrl } of rows) {
    const host = publicHostOf(baseUrl);
    if (host === '') continue;
    const preset = channelPresets.find(({ base_url: url }) => publicHostOf(url) === host);
    const party = { name: preset?.label ?? host, ...(uses[kind] ?? answering) };
    found.set(party.name + party.purpose, party);
  }
  return [...found.values()];
};
