// A stranger's services: `npx tsx /work/h/scratch/b34-setup.ts` in the worktree's folder (so that #tests resolves: copy there or run with its tsconfig).
// http on 4880, and as api.deepseek.com by TLS on 4881. Keys that begin with sk-good are right, others get 401.
import http from 'node:http';
import https from 'node:https';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { startMockOpenAi } from '#tests/support/mock-openai.ts';
const mock = await startMockOpenAi();
mock.models = ['deepseek-chat', 'deepseek-reasoner'];
mock.firstMs = 600;
const at = mkdtempSync('/dev/shm/b34-cert-');
spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${at}/k`, '-out', `${at}/c`, '-days', '2', '-subj', '/CN=api.deepseek.com']);
const serve: http.RequestListener = async (q, r) => {
  const body: Buffer[] = []; for await (const x of q) body.push(x as Buffer);
  if (!/^Bearer sk-good/.test(q.headers.authorization ?? '')) { r.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'Authentication Fails' } })); return; }
  const path = q.url!.startsWith('/v1') ? q.url! : `/v1${q.url}`;
  const a = await fetch(mock.baseURL.replace(/\/v1$/, '') + path, { method: q.method!, headers: { 'content-type': 'application/json', authorization: q.headers.authorization! }, ...(q.method === 'POST' ? { body: Buffer.concat(body) } : {}) });
  r.writeHead(a.status, { 'content-type': a.headers.get('content-type') ?? '' });
  if (a.body) for await (const c of a.body) r.write(c);
  r.end();
};
http.createServer(serve).listen(4880, '127.0.0.1');
https.createServer({ key: readFileSync(`${at}/k`), cert: readFileSync(`${at}/c`) }, serve).listen(4881, '127.0.0.1', () => console.log('ready'));
