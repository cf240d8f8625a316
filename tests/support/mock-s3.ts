import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that speaks as much of S3 as the storage needs, and checks every signature. */
export interface MockS3 {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  region: string;
  /** By path, bucket included. */
  objects: Map<string, { data: Buffer; type: string }>;
  /** Replies everything with this status instead; 0: works. */
  failing: number;
  /** Waits so long before each answer, ms. */
  delay: number;
  /** Gives parts of files; else always the whole one, as some services do. */
  ranges: boolean;
  /** Bytes of files that it sent. */
  sent: number;
  /** Breaks each file off in its middle. */
  cutting: boolean;
  close(): Promise<void>;
}

const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

export const startMockS3 = async (): Promise<MockS3> => {
  const mock: MockS3 = {
    endpoint: '',
    accessKey: 'AKIATEST',
    secretKey: 'secret-of-the-tests',
    region: 'test-region-1',
    objects: new Map(),
    failing: 0,
    delay: 0,
    ranges: true,
    sent: 0,
    cutting: false,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };

  /** AWS signature version 4, worked out by its description. */
  const isSigned = ({ headers, method, url = '' }: IncomingMessage, body: Buffer): boolean => {
    const [, day = '', signedNames = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=AKIATEST\/(\d{8})\/test-region-1\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      ) ?? [];
    const told = String(headers['x-amz-content-sha256']);
    if (told !== 'UNSIGNED-PAYLOAD' && told !== sha256(body)) return false;
    const [path = '', query = ''] = url.split('?');
    const names = signedNames.split(';');
    if (!names.includes('host') || !names.includes('x-amz-date')) return false;
    const canonical = [
      method,
      path,
      query,
      ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
      '',
      signedNames,
      told,
    ].join('\n');
    const scope = `${day}/test-region-1/s3/aws4_request`;
    const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
    const key = ['test-region-1', 's3', 'aws4_request'].reduce<Buffer>(
      (key, part) => hmac(key, part),
      hmac(`AWS4${mock.secretKey}`, day),
    );
    return hmac(key, text).toString('hex') === signature;
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const answer = () => {
      const body = Buffer.concat(chunks);
      const path = request.url ?? '';
      const refuse = (status: number) =>
        response
          .writeHead(status, { 'content-type': 'application/xml' })
          .end('<Error>SECRET</Error>');
      if (mock.failing !== 0) return refuse(mock.failing);
      if (!isSigned(request, body)) return refuse(403);
      const found = mock.objects.get(path);
      if (request.method === 'PUT') {
        mock.objects.set(path, { data: body, type: String(request.headers['content-type']) });
        return response.writeHead(200).end();
      }
      if (request.method === 'DELETE') {
        mock.objects.delete(path);
        return response.writeHead(204).end();
      }
      if (!found) return refuse(404);
      const { length } = found.data;
      const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
      if (mock.ranges && from + to !== '') {
        const first = from === '' ? Math.max(0, length - Number(to)) : Number(from);
        const last = from === '' || to === '' ? length - 1 : Math.min(length - 1, Number(to));
        if (first > last)
          return response.writeHead(416, { 'content-range': `bytes */${length}` }).end();
        const part = found.data.subarray(first, last + 1);
        mock.sent += part.length;
        return response
          .writeHead(206, {
            'content-type': found.type,
            'content-length': part.length,
            'content-range': `bytes ${first}-${last}/${length}`,
          })
          .end(part);
      }
      mock.sent += length;
      response.writeHead(200, {
        'content-type': found.type,
        'content-length': found.data.length,
      });
      if (!mock.cutting) return response.end(found.data);
      return response.write(found.data.subarray(0, found.data.length / 2), () =>
        response.destroy(),
      );
    };
    request.on('end', () => {
      if (mock.delay > 0) setTimeout(answer, mock.delay);
      else answer();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  mock.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return mock;
};
