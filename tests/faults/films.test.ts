import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { generateFilm, makeFilm, sendFilm, until } from '../support/films.ts';
import { startMediaService, type MediaService } from '../support/mock-media.ts';
import { ended, messageOf } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { settled, unsettled } from '../support/settled.ts';

const tokens = 1_000_000;
const price = 75_000;
const model = 'stable-video-diffusion';

let service: MediaService;
let server: TestServer;
let database: pg.Pool;

const environment = () => ({
  STABILITY_BASE_URL: service.url,
  STABILITY_API_KEY: 'sk-stability',
  FILM_POLL_SECONDS: '0',
  SIGNUP_TOKENS: String(tokens),
});

beforeAll(async () => {
  service = await startMediaService();
  server = await startServer({ env: environment() });
  database = new pg.Pool({ connectionString: server.databaseUrl, max: 2 });
});
afterAll(async () => {
  await database.end();
  await server.stop();
  await service.close();
});

test('a worker that is killed loses no film, which is ordered and paid once', async () => {
  const client = await TestClient.register(server.baseURL);
  const free = await makeFilm(client);
  const answer = await fetch(server.baseURL + (free.films[0]?.url ?? ''));
  service.film = Buffer.from(await answer.arrayBuffer());
  service.rounds = 1_000_000;
  const sent = await sendFilm(client, { model });
  const begun = await generateFilm(client, sent.historyId);
  // The service has the work, and this is written down.
  await until(
    'the film is asked for again and again',
    () => service.asked.filter(({ path }) => path.includes('/result/')).length > 3,
  );
  const { port, dataDir, databaseUrl } = server;
  await server.kill9();
  service.rounds = 1;
  server = await startServer({ env: environment(), port, dataDir, databaseUrl });
  const job = await ended(client, begun.uuid, 60_000);
  expect(job).toMatchObject({ state: 'done', deduct_tokens: price });
  const films = JSON.parse((await messageOf(client, sent)).ai) as { url: string }[];
  expect(films).toHaveLength(1);
  expect((await fetch(server.baseURL + (films[0]?.url ?? ''))).status).toBe(200);
  const orders = service.asked.filter(({ path }) => path === 'POST /v2beta/image-to-video');
  expect(orders).toHaveLength(1);
  expect((await client.call('userInfo', {})).chatgpt_balance).toBe(tokens - price);
  expect(await unsettled(database)).toEqual(settled);
}, 90_000);
