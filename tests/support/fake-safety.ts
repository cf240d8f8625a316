import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import sharp from 'sharp';
import { bodyOf, listen, reply } from './fake-service.ts';

const secret = 'the-secret-of-the-service';
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** What is said of a text: 0 good, 1 doubtful, 2 bad. */
export const levelOf = (text: string): 0 | 1 | 2 =>
  /坏|一整句不许说的话/.test(text) ? 2 : text.includes('疑') ? 1 : 0;

/**
 * 阿里云, 腾讯云 and 网易易盾 at one address, judging texts and pictures. Each form is checked by what
 * its document says of signing, written anew here.
 */
export const startFakeSafety = async () => {
  const asked: { service: string; text: string; picture: boolean }[] = [];
  const state = { refuseAll: false };

  /** What was put into the store of 阿里云, by its path. */
  const put = new Map<string, Buffer>();
  /** Red is bad; what comes is a picture that services take, for the business of pictures. */
  const levelOfPicture = async (picture: Buffer, business: string): Promise<number> => {
    assert.equal(business, 'pictures');
    const { format, width, height } = await sharp(picture).metadata();
    assert.deepEqual([format, Math.max(width, height) <= 1280], ['jpeg', true]);
    const { channels } = await sharp(picture).stats();
    return state.refuseAll || (channels[0]!.mean > 200 && channels[1]!.mean < 80) ? 2 : 0;
  };

  const service = await listen(async (request, response) => {
    const raw = await bodyOf(request);
    const body = raw.toString();
    const headers = request.headers as Record<string, string>;
    if (request.method === 'PUT') {
      // The store of 阿里云: its signature is by the key that was lent.
      const signed = `PUT\n\nimage/jpeg\n${headers['date']}\nx-oss-security-token:lent-token\n${request.url}`;
      const signature = createHmac('sha1', 'lent-secret').update(signed).digest('base64');
      const right = headers['authorization'] === `OSS lent-id:${signature}`;
      if (right) put.set(request.url ?? '', raw);
      return reply(response, right ? 200 : 403, {});
    }
    if (headers['x-tc-action']) {
      const kind = headers['x-tc-action'] === 'TextModeration' ? 'tms' : 'ims';
      const day = new Date(Number(headers['x-tc-timestamp']) * 1000).toISOString().slice(0, 10);
      const canonical = `POST\n/\n\ncontent-type:${headers['content-type']}\nhost:${kind}.tencentcloudapi.com\n\ncontent-type;host\n${sha(body)}`;
      const key = mac(mac(mac(`TC3${secret}`, day), kind), 'tc3_request');
      const scope = `${day}/${kind}/tc3_request`;
      const signature = mac(
        key,
        `TC3-HMAC-SHA256\n${headers['x-tc-timestamp']}\n${scope}\n${sha(canonical)}`,
      ).toString('hex');
      if (!headers['authorization']?.endsWith(`Signature=${signature}`))
        return reply(response, 200, { Response: { Error: { Code: 'AuthFailure' } } });
      const given = JSON.parse(body) as { Content?: string; FileContent?: string; BizType: string };
      const text = Buffer.from(given.Content ?? '', 'base64').toString();
      asked.push({ service: 'tencent', text, picture: given.FileContent !== undefined });
      const level = given.FileContent
        ? await levelOfPicture(Buffer.from(given.FileContent, 'base64'), given.BizType)
        : levelOf(text);
      const Suggestion = ['Pass', 'Review', 'Block'][level];
      return reply(response, 200, { Response: { Suggestion, Label: 'Ad', RequestId: '1' } });
    }
    const form = new URLSearchParams(body);
    const fields = Object.fromEntries(form);
    const sorted = Object.keys(fields).sort();
    if (fields['Action']) {
      const { Signature: given } = fields;
      const escape = (text: string) => encodeURIComponent(text).replaceAll('*', '%2A');
      const query = sorted
        .filter((name) => name !== 'Signature')
        .map((name) => `${escape(name)}=${escape(fields[name]!)}`)
        .join('&');
      const signature = createHmac('sha1', `${secret}&`)
        .update(`POST&%2F&${escape(query)}`)
        .digest('base64');
      if (given !== signature) return reply(response, 200, { Code: 403, Message: 'signature' });
      if (fields['Action'] === 'DescribeUploadToken')
        return reply(response, 200, {
          Code: 200,
          Data: {
            AccessKeyId: 'lent-id',
            AccessKeySecret: 'lent-secret',
            SecurityToken: 'lent-token',
            BucketName: 'a-bucket',
            FileNamePrefix: 'upload/1/',
            OssInternetEndPoint: service.url,
          },
        });
      const about = JSON.parse(fields['ServiceParameters']!) as {
        content?: string;
        ossBucketName: string;
        ossObjectName: string;
      };
      const { content: text = '' } = about;
      const picture = put.get(`/${about.ossBucketName}/${about.ossObjectName}`);
      asked.push({ service: 'aliyun', text, picture: picture !== undefined });
      assert.equal(fields['Action'], picture ? 'ImageModeration' : 'TextModerationPlus');
      const level = picture ? await levelOfPicture(picture, fields['Service']!) : levelOf(text);
      const RiskLevel = ['none', 'medium', 'high'][level];
      return reply(response, 200, { Code: 200, Data: { RiskLevel, Result: [{ Label: 'x' }] } });
    }
    const joined = sorted.filter((name) => name !== 'signature').map((name) => name + fields[name]);
    const signature = createHash('md5')
      .update(`${joined.join('')}${secret}`)
      .digest('hex');
    if (fields['signature'] !== signature) return reply(response, 200, { code: 410, msg: 'no' });
    const text = fields['content'] ?? '';
    asked.push({ service: 'netease', text, picture: fields['images'] !== undefined });
    if (fields['images']) {
      assert.equal(request.url, '/v5/image/check');
      const [image] = JSON.parse(fields['images']) as { type: number; data: string }[];
      assert.equal(image?.type, 2);
      const data = Buffer.from(image?.data ?? '', 'base64');
      const suggestion = await levelOfPicture(data, fields['businessId']!);
      return reply(response, 200, {
        code: 200,
        result: [{ antispam: { suggestion, label: 100 } }],
      });
    }
    const antispam = { suggestion: levelOf(text), label: 400 };
    return reply(response, 200, { code: 200, result: { antispam } });
  });
  return { ...service, secret, asked, state };
};
