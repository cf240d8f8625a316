import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiUser } from '../support/api-user.ts';
import { TestClient } from '../support/client.ts';
import { generateFilm, sendFilm } from '../support/films.ts';
import {
  behaveAsUsual,
  holdBack,
  type ImageServiceFake,
  startImageService,
} from '../support/image-service.ts';
import { ended, generate, messageOf, paint, sendPicture } from '../support/images.ts';
import { startMediaService, type MediaService } from '../support/mock-media.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { settled, unsettled } from '../support/settled.ts';

const model = 'dall-e-2';
const film = 'stable-video-diffusion';
const password = 'password-1';
/** Less than the time for which the end of a job waits for a database that is away. */
const soon = { timeout: 20_000 };

let service: ImageServiceFake;
let films: MediaService;
let server: TestServer;
let database: pg.Pool;
let other: TestClient;

beforeAll(async () => {
  service = await startImageService();
  films = await startMediaService();
  server = await startServer({
    env: {
      OPENAI_BASE_URL: service.baseURL,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODELS: model,
      STABILITY_BASE_URL: films.url,
      STABILITY_API_KEY: 'sk-stability',
      FILM_POLL_SECONDS: '0',
      SIGNUP_TOKENS: '1000000',
    },
  });
  database = new pg.Pool({ connectionString: server.databaseUrl, max: 2 });
});
beforeEach(async () => {
  service.behave(behaveAsUsual);
  service.asked.length = 0;
  other = await TestClient.register(server.baseURL);
});
afterAll(async () => {
  await database.end();
  await server.stop();
  await service.close();
  await films.close();
});

const rows = async (text: string, values: unknown[] = []) =>
  (await database.query<Record<string, unknown>>(text, values)).rows;

const stored = (): number => {
  const folder = path.join(server.dataDir, 'files');
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
        .length
    : 0;
};

/** No job is open, nothing is held, and every balance is what its ledger adds up to. */
const expectSettled = async () => {
  await expect
    .poll(() => rows(`SELECT id, kind FROM jobs WHERE state IN ('queued', 'running')`), soon)
    .toEqual([]);
  expect(await unsettled(database)).toEqual(settled);
};

/** Somebody who is not concerned gets a picture of that service. */
const expectServed = async () => {
  const sent = await sendPicture(other, '别人的画', { model });
  const job = await generate(other, sent.historyId, { translate: 0 });
  expect(await ended(other, job.uuid, soon.timeout)).toMatchObject({ state: 'done' });
};

test('who leaves while works are at services leaves no job, no hold, no file, and nobody waiting', async () => {
  const { person, client, userId } = await apiUser({
    baseURL: server.baseURL,
    databaseUrl: server.databaseUrl,
  });
  const letGo = holdBack(service);
  films.rounds = 1_000_000;
  const filmed = await sendFilm(person, { model: film });
  await generateFilm(person, filmed.historyId);
  for (let at = 1; at <= 4; at += 1) {
    const sent = await sendPicture(person, `第 ${at} 幅要带走的画`, { model });
    await generate(person, sent.historyId, { translate: 0 });
  }
  const byProgram = fetch(`${server.baseURL}/v1/images/generations`, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: 'a picture for a program', size: '256x256' }),
  }).catch(() => null);
  // All workers are busy by then: one has the film, the others pictures.
  await expect.poll(() => service.asked.length, soon).toBe(3);
  await expect.poll(() => films.asked.length, soon).toBeGreaterThan(3);
  const { dropped } = service;
  await person.call('deleteAccount', { password });
  const mine = (await rows(
    `SELECT state, input::text AS input, remote::text AS remote, deduct_tokens::int AS paid
     FROM jobs WHERE user_id = $1`,
    [userId],
  )) as { state: string }[];
  expect(mine.length).toBeGreaterThanOrEqual(5);
  expect(mine.filter(({ state }) => state !== 'cancelled')).toEqual([]);
  await expectSettled();
  const before = stored();
  // The services still have what was asked of them.
  service.behave(behaveAsUsual);
  await expectServed();
  expect(service.dropped).toBe(dropped + 3);
  letGo();
  films.rounds = 1;
  await byProgram;
  await expectSettled();
  expect(
    await rows(`SELECT id FROM images WHERE user_id = $1 AND (key <> '' OR job_id IS NOT NULL)`, [
      userId,
    ]),
  ).toEqual([]);
  expect(
    await rows(`SELECT balance::int AS balance FROM wallets WHERE user_id = $1`, [userId]),
  ).toEqual([{ balance: 0 }]);
  await expect.poll(() => stored() - before, soon).toBe(1);
  expect(server.log()).not.toContain('a job could not be ended');
}, 90_000);

test('what comes for somebody who is gone with all that was asked is thrown away at once', async () => {
  const { id } = await other.call('userInfo', {});
  const person = other;
  other = await TestClient.register(server.baseURL);
  const letGo = holdBack(service);
  const sent = await sendPicture(person, '没有人要的画', { model });
  await generate(person, sent.historyId, { translate: 0 });
  await expect.poll(() => service.asked.length, soon).toBe(1);
  const before = stored();
  await rows(
    `WITH gone AS (UPDATE users SET disabled = true, deleted_at = now(), erased_at = now()
       WHERE id = $1), unsaid AS (UPDATE history SET human = '', request = NULL WHERE user_id = $1)
     UPDATE jobs SET input = '{}', title = '' WHERE user_id = $1`,
    [id],
  );
  letGo();
  await expectSettled();
  expect(await rows(`SELECT state FROM jobs WHERE user_id = $1`, [id])).toEqual([
    { state: 'cancelled' },
  ]);
  expect(await rows(`SELECT id FROM images WHERE user_id = $1`, [id])).toEqual([]);
  await expect.poll(stored, soon).toBe(before);
}, 60_000);

test('a picture that is paid is its owner’s, though its message was deleted meanwhile', async () => {
  const letGo = holdBack(service);
  const { uuid, historyId } = await sendPicture(other, '删掉的画', { model });
  const job = await generate(other, historyId, { translate: 0 });
  await expect.poll(() => service.asked.length, soon).toBe(1);
  await other.call('deleteHistory', { session_id: uuid, id: historyId });
  letGo();
  await expectSettled();
  expect(await ended(other, job.uuid, soon.timeout)).toMatchObject({
    deduct_tokens: expect.toSatisfy((paid: number) => paid > 0),
  });
  const { list } = await other.call('privateImages', { page: 1 });
  expect(list).toMatchObject([{ prompt: '删掉的画', hidden: true, session_id: null }]);
  expect((await fetch(server.baseURL + list[0]!.url)).status).toBe(200);
}, 60_000);

test('what cannot be delivered has failed at once, and keeps neither tokens nor a place', async () => {
  const { chatgpt_balance: balance } = await other.call('userInfo', {});
  await rows(`
    CREATE FUNCTION break_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'it cannot be written'; END $$;
    CREATE TRIGGER break_for_test BEFORE INSERT ON images FOR EACH ROW
      WHEN (NEW.prompt = '存不下的画') EXECUTE FUNCTION break_for_test();
    CREATE TRIGGER break_for_test BEFORE UPDATE OF state ON history FOR EACH ROW
      WHEN (NEW.human = '怎么也结束不了的画') EXECUTE FUNCTION break_for_test()`);
  const before = stored();
  const failed = await paint(other, '存不下的画', { model });
  expect(failed.job).toMatchObject({ state: 'error', error_code: 1425, deduct_tokens: 0 });
  expect(failed.message.state).toBe('error');
  const sent = await sendPicture(other, '结束不了的画', { model });
  const letGo = holdBack(service);
  const job = await generate(other, sent.historyId, { translate: 0 });
  await expect.poll(() => service.asked.length, soon).toBe(2);
  // Its kind can end it in no way: its row is ended alone.
  await rows(`UPDATE history SET human = '怎么也结束不了的画' WHERE id = $1`, [sent.historyId]);
  letGo();
  expect(await ended(other, job.uuid, soon.timeout)).toMatchObject({
    state: 'error',
    error_code: 1425,
    error_message: '服务没有成功，没有扣费，请重试',
  });
  await expectSettled();
  await expect.poll(stored, soon).toBe(before);
  expect((await other.call('userInfo', {})).chatgpt_balance).toBe(balance);
  await rows('DROP FUNCTION break_for_test CASCADE');
  await expectServed();
  expect((await messageOf(other, failed.sent)).state).toBe('error');
}, 60_000);

test('a job that cannot be ended keeps none of the others', async () => {
  const { id } = await other.call('userInfo', {});
  await rows(`
    CREATE FUNCTION break_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'it cannot be ended'; END $$;
    CREATE TRIGGER break_for_test BEFORE UPDATE OF state ON jobs FOR EACH ROW
      WHEN (NEW.title = '结束不了的') EXECUTE FUNCTION break_for_test()`);
  await rows(
    `INSERT INTO jobs (uuid, user_id, kind, title, model, subject_kind, subject_id, input, state, deadline)
     SELECT gen_random_uuid(), $1, 'image', title, '', '', 0, '{}', 'queued', now()
     FROM unnest(ARRAY['结束不了的', '轮到的']) title`,
    [id],
  );
  const open = () => rows(`SELECT title FROM jobs WHERE state = 'queued' AND user_id = $1`, [id]);
  await expect.poll(open, soon).toEqual([{ title: '结束不了的' }]);
  await expectServed();
  await rows('DROP FUNCTION break_for_test CASCADE');
  await expect.poll(open, soon).toEqual([]);
}, 60_000);
