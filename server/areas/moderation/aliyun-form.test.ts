import { expect, test } from 'vitest';
import { aliyun } from './aliyun-form.ts';
import type { Asked, Send } from './safety-forms.ts';

const asked: Asked = {
  keyId: 'key',
  secret: 'secret',
  address: '',
  business: '',
  now: new Date(0),
};

test('a picture goes to the store that was lent, whatever its name is to be', async () => {
  const places: string[] = [];
  for (const prefix of ['//evil.example/', 'https://evil.example/', '/../', 'upload/1/']) {
    const send: Send = ({ url, body }) => {
      places.push(new URL(url).host);
      const lent = {
        BucketName: 'their-bucket',
        FileNamePrefix: prefix,
        OssInternetEndPoint: 'oss-cn-shanghai.aliyuncs.com',
        AccessKeyId: 'lent',
        AccessKeySecret: 'lent',
        SecurityToken: 'lent',
      };
      const data = String(body).includes('DescribeUploadToken') ? lent : { RiskLevel: 'none' };
      return Promise.resolve(Response.json({ Code: 200, Data: data }));
    };
    await aliyun({ picture: Buffer.from('picture') }, asked, send);
  }
  expect(new Set(places)).toEqual(
    new Set(['green-cip.cn-shanghai.aliyuncs.com', 'their-bucket.oss-cn-shanghai.aliyuncs.com']),
  );
});
