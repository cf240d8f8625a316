import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { TestClient } from '../support/client.ts';
import { startImageService } from '../support/image-service.ts';
import { followJobs, generate, newPictures, sendPicture } from '../support/images.ts';
import { startServer } from '../support/server.ts';
import { median, printTable, quantile } from './lib/measure.ts';

/**
 * What a job adds to a picture: from the call until the service is asked, and from its answer until
 * the open page is told. Beside it the floor of the same run: the same picture asked for, made a PNG
 * and written by this process, without queue, money, database and page.
 */
const rounds = 40;
const warm = 5;

const service = await startImageService(1024);
const server = await startServer({
  embedded: true,
  env: {
    OPENAI_BASE_URL: service.baseURL,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODELS: 'dall-e-2',
    SIGNUP_TOKENS: '1000000000',
  },
});

const floorRound = async (): Promise<{ start: number; end: number }> => {
  const begun = performance.now();
  const answer = await fetch(`${service.baseURL}/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'floor', n: 1 }),
  });
  const { data } = (await answer.json()) as { data: { b64_json: string }[] };
  const start = (service.asked.at(-1)?.at ?? 0) - begun;
  const png = await sharp(Buffer.from(data[0]?.b64_json ?? '', 'base64'))
    .png()
    .toBuffer();
  writeFileSync(path.join(server.dataDir, 'floor.png'), png);
  return { start, end: performance.now() - service.gaveAt };
};

try {
  const client = await TestClient.register(server.baseURL);
  const { uuid } = await newPictures(client, 'dall-e-2');
  const ours: { start: number; end: number }[] = [];
  const floor: { start: number; end: number }[] = [];
  let told: (at: number) => void = () => {};
  const leave = new AbortController();
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const following = followJobs(
    client,
    ({ job }) => {
      if (job.state === 'done') told(performance.now());
      return false;
    },
    { onOpen: () => open(), signal: leave.signal },
  );
  await opened;
  for (let round = -warm; round < rounds; round += 1) {
    const sent = await sendPicture(client, `第 ${round} 幅`, { uuid });
    const shown = new Promise<number>((resolve) => (told = resolve));
    const before = service.asked.length;
    const begun = performance.now();
    await generate(client, sent.historyId, { request_id: randomUUID() });
    const end = (await shown) - service.gaveAt;
    const start = (service.asked[before]?.at ?? Number.NaN) - begun;
    const bare = await floorRound();
    if (round < 0) continue;
    ours.push({ start, end });
    floor.push(bare);
  }
  leave.abort();
  await following;
  const starts = ours.map(({ start }) => start);
  const ends = ours.map(({ end }) => end);
  printTable([
    { measure: 'call → engine start, median', value: median(starts), goal: 50, unit: 'ms' },
    { measure: 'call → engine start, p95', value: quantile(starts, 0.95), goal: 50, unit: 'ms' },
    { measure: 'engine end → page told, median', value: median(ends), goal: 300, unit: 'ms' },
    { measure: 'engine end → page told, p95', value: quantile(ends, 0.95), goal: 300, unit: 'ms' },
  ]);
  console.log(
    `floor: ${median(floor.map(({ start }) => start)).toFixed(1)} ms until it is asked, ` +
      `${median(floor.map(({ end }) => end)).toFixed(1)} ms to make and write the PNG`,
  );
} finally {
  await server.stop();
  await service.close();
}
process.exit(0);
