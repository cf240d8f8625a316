import type { Answer } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { readSafety } from './safety.store.ts';

const services = {
  aliyun: '阿里云内容安全',
  tencent: '腾讯云内容安全',
  netease: '网易易盾',
} as const;

/** Who judges what people write, upload and get. */
export const safetyParties = async (db: Executor): Promise<Answer<'thirdParties'>['list']> => {
  const { service, text_in, text_out, pictures, pictures_in } = (await readSafety(db)).settings;
  const asked = [text_in, text_out, pictures, pictures_in].includes(1);
  return service === '' || !asked
    ? []
    : [{ name: services[service], purpose: '内容安全检查', data: '提问、回复与图片；不含账号' }];
};
