import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { onDatabase } from '../support/api-user.ts';
import { ClientAt } from '../support/client-at.ts';
import { TestClient } from '../support/client.ts';
import { ended, generate, sendPicture } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Guests of one network, who are as many as somebody likes, and whom they keep waiting. */

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { TRUST_PROXY: '127.0.0.1', CANVAS_SECONDS: '3' } });
});
afterAll(() => server.stop());

test('drawings of twelve guests of a network are those of one, and a person’s begins beside them', async () => {
  const person = await TestClient.register(server.baseURL);
  const mine = await sendPicture(person, '一只喜鹊');
  let refused = 0;
  const guests = Array.from({ length: 12 }, async (_, at) => {
    const guest = new ClientAt(server.baseURL, `203.0.113.${at + 1}`);
    for (let each = 0; each < 4; each += 1) {
      const { historyId } = await sendPicture(guest, '一座桥');
      await generate(guest, historyId).catch((error: unknown) => {
        expect(String(error)).toContain('1424');
        refused += 1;
      });
    }
  });
  await Promise.all(guests);
  const theirs = `FROM jobs j JOIN users u ON u.id = j.user_id WHERE u.guest`;
  const [before] = await onDatabase<{ ended: number; all: number }>(
    server,
    `SELECT count(*) FILTER (WHERE j.finished_at IS NOT NULL)::int AS ended, count(*)::int AS all
     ${theirs}`,
  );
  expect(refused).toBeGreaterThan(0);
  expect(before!.all - before!.ended).toBeLessThanOrEqual(limits.jobsOfNetwork);
  const job = await generate(person, mine.historyId);
  await expect(ended(person, job.uuid)).resolves.toMatchObject({ state: 'done' });
  const [after] = await onDatabase<{ before: number; waiting: number }>(
    server,
    `SELECT count(*) FILTER (WHERE j.finished_at < own.started_at
         AND j.finished_at > own.created_at)::int AS before,
       count(*) FILTER (WHERE j.state = 'queued')::int AS waiting
     ${theirs.replace('WHERE', `CROSS JOIN (SELECT created_at, started_at FROM jobs WHERE uuid = '${job.uuid}') own WHERE`)}`,
  );
  // None of theirs had to end for it to begin, and most of them wait still.
  expect(after!.before).toBeLessThanOrEqual(1);
  expect(after!.waiting).toBeGreaterThan(10);
}, 60_000);
