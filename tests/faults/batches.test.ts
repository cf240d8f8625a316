import pg from 'pg';
import OpenAI, { type APIError, toFile } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiUser, apiUser, onDatabase } from '../support/api-user.ts';
import { bodyOf, type FakeService, listen, reply } from '../support/fake-service.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Chats in bulk: half the price, each line answered and paid once, whatever dies meanwhile. */

let service: FakeService;
let server: TestServer;
let user: ApiUser;
let client: OpenAI;
let refuse = false;
let thinkMs = 250;
/** What a question waits for that says 慢慢想. */
let thought: Promise<void> = Promise.resolve();
const model = 'bulk-chat';
const env = (): Record<string, string> => ({
  OPENAI_BASE_URL: `${service.url}/v1`,
  OPENAI_API_KEY: 'sk-test',
  OPENAI_MODELS: model,
  SECRET_KEY: 'the same in all processes',
  SIGNUP_TOKENS: '1000000',
});

beforeAll(async () => {
  service = await listen(async (request, response) => {
    const data = await bodyOf(request);
    if (request.method !== 'POST') return reply(response, 200, { data: [] });
    const { messages } = JSON.parse(data.toString()) as { messages: { content: string }[] };
    await new Promise((resolve) => setTimeout(resolve, thinkMs));
    if (messages.at(-1)?.content === '慢慢想') await thought;
    if (refuse) return reply(response, 500, { error: { message: 'away' } });
    return reply(response, 200, {
      id: 'c',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: `答 ${messages.at(-1)?.content}` },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
  });
  server = await startServer({ env: env() });
  user = await apiUser(server);
  client = new OpenAI({ apiKey: user.key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await server.stop();
  await service.close();
});

const lineOf = (at: number, more: object = {}) => ({
  custom_id: `q-${at}`,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model, messages: [{ role: 'user', content: `问 ${at}` }], ...more },
});
const upload = async (lines: readonly object[]) =>
  client.files.create({
    purpose: 'batch',
    file: await toFile(
      Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
      'a.jsonl',
    ),
  });
/** Begins a batch that has waited as long as each does. */
const begin = async (lines: readonly object[], waited = 1) => {
  const batch = await client.batches.create({
    input_file_id: (await upload(lines)).id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { of: 'test' },
  });
  await onDatabase(
    server,
    `UPDATE api_batches SET created_at = created_at - $2 * interval '1 minute' WHERE id = $1`,
    [batch.id, waited],
  );
  return batch;
};
const untilEnded = (id: string) =>
  expect
    .poll(async () => (await client.batches.retrieve(id)).status, {
      timeout: 120_000,
      interval: 500,
    })
    .toMatch(/completed|cancelled/);
interface Out {
  custom_id: string;
  response: {
    status_code: number;
    body: { choices?: { message: { content: string } }[]; error?: { code: string } };
  } | null;
}
const linesOf = async (id: string): Promise<Out[]> =>
  (await (await client.files.content(id)).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Out);
const balance = async () => (await user.person.call('userInfo', {})).chatgpt_balance;
const failing = (work: Promise<unknown>): Promise<APIError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error as APIError,
  );

test(
  '160 lines through 3 kills: each is answered and paid once, at half the price',
  { timeout: 240_000 },
  async () => {
    const count = 160;
    const before = await balance();
    const others: TestServer[] = [];
    for (let at = 0; at < 3; at += 1)
      others.push(await startServer({ databaseUrl: server.databaseUrl, env: env() }));
    const batch = await begin([
      ...Array.from({ length: count }, (_, at) => lineOf(at)),
      lineOf(count, { model: 'none' }),
    ]);
    expect(batch.status).toBe('in_progress');
    const [{ most: newest } = { most: 0 }] = await onDatabase<{ most: number }>(
      server,
      'SELECT max(id) AS most FROM instances',
    );
    for (const [at, other] of others.entries()) {
      await expect
        .poll(
          async () =>
            (
              await onDatabase(
                server,
                `SELECT 1 FROM api_batch_lines WHERE state = 'running' AND instance_id = $1`,
                [newest - others.length + 1 + at],
              )
            ).length,
          { timeout: 20_000, interval: 10 },
        )
        .toBeGreaterThan(0);
      await other.kill9();
    }
    await untilEnded(batch.id);
    const ended = await client.batches.retrieve(batch.id);
    expect(ended).toMatchObject({
      status: 'completed',
      request_counts: { total: count + 1, completed: count, failed: 1 },
      metadata: { of: 'test' },
    });
    const good = await linesOf(ended.output_file_id!);
    expect(
      good.map(({ custom_id: id, response }) => [id, response?.body.choices?.[0]?.message.content]),
    ).toEqual(Array.from({ length: count }, (_, at) => [`q-${at}`, `答 问 ${at}`]));
    const [bad] = await linesOf(ended.error_file_id!);
    expect(bad).toMatchObject({
      custom_id: `q-${count}`,
      response: { status_code: 404, body: { error: { code: 'model_not_found' } } },
    });
    // What dead processes had set aside comes back when its time is over.
    await onDatabase(server, `UPDATE holds SET expires_at = now() WHERE state = 'open'`);
    await expect
      .poll(async () => before - (await balance()), { timeout: 90_000, interval: 1_000 })
      .toBe(count * 9);
    const { list } = await user.person.call('apiUsage', {});
    expect(list[0]).toMatchObject({ model, count, deduct_tokens: count * 9 });
  },
);

test("is looked at line by line before it begins, is its key's alone, and can be cancelled", async () => {
  for (const [lines, said] of [
    [[lineOf(1), lineOf(1)], '第 2 行'],
    [[{ ...lineOf(1), url: '/v1/embeddings' }], '/v1/chat/completions'],
    [[lineOf(1, { stream: true })], 'stream'],
    [[{ ...lineOf(1), body: [] }], 'body'],
  ] as const)
    expect((await failing(begin(lines))).message).toContain(said);
  refuse = true;
  const before = await balance();
  const batch = await begin([lineOf(1), lineOf(2)]);
  const { full_key: another } = await user.person.call('genKey', {});
  const other = new OpenAI({ apiKey: another, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
  for (const act of [
    () => other.batches.retrieve(batch.id),
    () => other.batches.cancel(batch.id),
    () => other.files.retrieve(batch.input_file_id),
    () => other.files.content(batch.input_file_id),
    () => other.files.delete(batch.input_file_id),
    () =>
      other.batches.create({
        input_file_id: batch.input_file_id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }),
  ])
    expect((await failing(Promise.resolve(act()))).status).toBe(404);
  const listed = async (from: OpenAI) => (await from.batches.list()).data.map(({ id }) => id);
  expect(await listed(other)).toEqual([]);
  expect((await other.files.list()).data).toEqual([]);
  expect(await listed(client)).toContain(batch.id);
  // Page by page, in both orders, each of them once.
  const second = await upload([lineOf(2)]);
  expect(await client.files.waitForProcessing(second.id)).toMatchObject({ status: 'processed' });
  const filesBy = async (query: OpenAI.FileListParams) => {
    const ids: string[] = [];
    for await (const { id } of client.files.list({ limit: 1, ...query })) ids.push(id);
    return ids;
  };
  const newest = await filesBy({});
  expect(newest.slice(0, 2)).toEqual([second.id, batch.input_file_id]);
  expect(new Set(newest).size).toBe(newest.length);
  expect(await filesBy({ order: 'asc' })).toEqual([...newest].reverse());
  expect(await filesBy({ purpose: 'batch' })).toContain(second.id);
  expect(await filesBy({ purpose: 'vision' })).toEqual([]);
  const paged: string[] = [];
  for await (const { id } of client.batches.list({ limit: 1 })) paged.push(id);
  expect(paged).toEqual(await listed(client));
  const unknown = client.get('/batches', { query: { status: 'failed' } });
  expect(await failing(unknown)).toMatchObject({ status: 400, param: 'status' });
  await client.files.delete(second.id);
  await client.batches.cancel(batch.id);
  await untilEnded(batch.id);
  expect(await client.batches.retrieve(batch.id)).toMatchObject({
    status: 'cancelled',
    request_counts: { total: 2, completed: 0 },
  });
  await expect.poll(balance).toBe(before);
  refuse = false;
  await client.files.delete(batch.input_file_id);
  expect((await failing(Promise.resolve(client.files.retrieve(batch.input_file_id)))).status).toBe(
    404,
  );
});

test('of 30,000 lines the next ones are found at once, and a file is no burden for others', async () => {
  const many = Array.from({ length: 30_000 }, (_, at) => lineOf(at, { model: 'none' }));
  const batch = await begin(many);
  const failed = async () =>
    (
      await onDatabase<{ failed: number }>(server, 'SELECT failed FROM api_batches WHERE id = $1', [
        batch.id,
      ])
    )[0]!.failed;
  await expect.poll(failed, { timeout: 20_000 }).toBeGreaterThan(400);
  // What is under way counts before a file is looked through.
  expect((await failing(begin(many))).message).toContain('太多');
  await client.batches.cancel(batch.id);
  await untilEnded(batch.id);
  const ended = await client.batches.retrieve(batch.id);
  expect(await linesOf(ended.error_file_id!)).toHaveLength(30_000);

  const keys = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, at]));
  expect((await failing(begin([lineOf(1), lineOf(2, keys)]))).message).toContain('第 2 行');
  const long = lineOf(1, { messages: [{ role: 'user', content: '长'.repeat(5_000_000) }] });
  expect((await failing(begin([long]))).message).toContain('太长');

  // Nobody holds files open by reading them slowly.
  const held = await upload(many);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      fetch(`${server.baseURL}/v1/files/${held.id}/content`, {
        headers: { authorization: `Bearer ${user.key}` },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  for (const { body } of answers) await body?.cancel();

  // What JSON can say and a database cannot keep is asked all the same.
  const odd = await begin([lineOf(7, { messages: [{ role: 'user', content: 'a\u0000b\ud800' }] })]);
  await untilEnded(odd.id);
  expect((await client.batches.retrieve(odd.id)).request_counts?.completed).toBe(1);
});

test('what came of batches counts among the files of a person before the next is begun', async () => {
  const full = await apiUser(server);
  const own = new OpenAI({ apiKey: full.key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
  const file = await toFile(Buffer.from(JSON.stringify(lineOf(1, { model: 'none' }))), 'a.jsonl');
  const { id } = await own.files.create({ purpose: 'batch', file });
  const ask = () =>
    own.batches.create({
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
  const first = await ask();
  await own.batches.cancel(first.id);
  const ended = () => own.batches.retrieve(first.id);
  await expect.poll(async () => (await ended()).error_file_id, { timeout: 30_000 }).toBeTruthy();
  const errors = (await ended()).error_file_id!;
  await onDatabase(server, 'UPDATE api_files SET bytes = 200 * 1024 * 1024 - 200 WHERE id = $1', [
    errors,
  ]);
  const refused = await failing(Promise.resolve(ask()));
  expect([refused.status, refused.message]).toEqual([413, expect.stringContaining('请先删除')]);
  await own.files.delete(errors);
  expect((await ask()).status).toBe('in_progress');
});

test('files are kept three at once, of each person one; the others wait without a connection', async () => {
  const people = await Promise.all(Array.from({ length: 4 }, () => apiUser(server)));
  const holder = new pg.Client({ connectionString: server.databaseUrl });
  await holder.connect();
  const waiting = async () =>
    (
      await onDatabase(
        server,
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).length;
  const keep = async ({ key }: { key: string }) => {
    const own = new OpenAI({ apiKey: key, baseURL: `${server.baseURL}/v1`, maxRetries: 0 });
    return own.files.create({ purpose: 'batch', file: await toFile(Buffer.from('{}'), 'a.jsonl') });
  };
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users WHERE id = ANY ($1) FOR NO KEY UPDATE', [
      people.map(({ userId }) => userId),
    ]);
    const kept = Promise.all([...people, people[0]!, people[1]!].map(keep));
    await expect.poll(waiting).toBe(3);
    for (let at = 0; at < 5; at += 1) await client.models.list();
    expect(await waiting()).toBe(3);
    await holder.query('COMMIT');
    expect(await kept).toHaveLength(6);
  } finally {
    await holder.end();
  }
});

test('a batch waits while others are served, unless it has waited long, and ends when it is quiet', async () => {
  let end = (): void => undefined;
  thought = new Promise((resolve) => {
    end = resolve;
  });
  const live = client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: '慢慢想' }],
  });
  await expect
    .poll(() => onDatabase(server, `SELECT FROM holds WHERE state = 'open'`), { timeout: 10_000 })
    .toHaveLength(1);
  const batch = await begin([lineOf(1)]);
  const fresh = await begin([lineOf(3)], 0);
  const old = await begin([lineOf(2)], 16);
  await untilEnded(old.id);
  expect((await client.batches.retrieve(batch.id)).request_counts).toMatchObject({ completed: 0 });
  end();
  await live;
  await untilEnded(batch.id);
  // However quiet it is.
  expect((await client.batches.retrieve(fresh.id)).request_counts).toMatchObject({ completed: 0 });
  await client.batches.cancel(fresh.id);
});

test('a line of an account that is ended meanwhile gives back at once what was set aside', async () => {
  thinkMs = 3_000;
  await begin([lineOf(1)]);
  const open = () =>
    onDatabase(server, `SELECT FROM holds WHERE state = 'open' AND user_id = $1`, [user.userId]);
  await expect.poll(async () => (await open()).length).toBe(1);
  await user.person.call('deleteAccount', { password: 'password-1' });
  await expect.poll(async () => (await open()).length, { timeout: 15_000 }).toBe(0);
});
