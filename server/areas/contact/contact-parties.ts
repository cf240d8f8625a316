import { publicHostOf } from '#server/net/public-host.ts';
import type { ListParties, ThirdParty } from '../compliance/third-parties.ts';
import { readSettings } from './contact.store.ts';

const providers = { aliyun: '阿里云短信', tencent: '腾讯云短信' } as const;

/** Who carries codes to telephones and mail boxes. */
export const contactParties: ListParties = async (db) => {
  const { sms_provider: sms, smtp_host: smtp, mail_enabled: mails } = await readSettings(db);
  const list: ThirdParty[] = [];
  if (sms !== '')
    list.push({ name: providers[sms], purpose: '发送验证码', data: '手机号与验证码' });
  const host = publicHostOf(`smtp://${smtp}`);
  if (mails === 1 && host !== '')
    list.push({ name: host, purpose: '发送邮件', data: '邮箱地址与邮件的内容' });
  return list;
};
