import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { generate, paint, replyOf, sendPicture } from '../support/images.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { onePixel } from '../support/world.ts';

/** Deleting a message or a session deletes what was drawn for it. */

let server: TestServer;
let person: TestClient;
beforeAll(async () => {
  server = await startServer({ env: { FILE_QUOTA_MB: '100' } });
  person = await TestClient.register(server.baseURL);
});
afterAll(() => server.stop());

const draw = async (prompt: string) => {
  const { sent, message } = await paint(person, prompt);
  return { sent, url: replyOf(message).images[0]?.url ?? '' };
};
const status = async (url: string) => (await fetch(server.baseURL + url)).status;
const drawn = async () =>
  (await person.call('privateImages', {})).list.map(({ url }: { url: string }) => url);

test.each(['message', 'session'] as const)(
  'with a %s its picture is gone: from its address, its thumbnails and the list',
  async (what) => {
    const { sent, url } = await draw('一座桥');
    const answer = await fetch(server.baseURL + url);
    expect(answer.status).toBe(200);
    // Nobody on the way keeps it, and the reader not for long.
    expect(answer.headers.get('cache-control')).toBe('private, max-age=300');
    expect(await status(`${url}?size=128`)).toBe(200);
    expect(await drawn()).toContain(url);
    if (what === 'message')
      await person.call('deleteHistory', { session_id: sent.uuid, id: sent.historyId });
    else await person.call('deleteSession', { session_id: sent.uuid });
    expect(await status(url)).toBe(404);
    expect(await status(`${url}?size=128`)).toBe(404);
    expect(await drawn()).not.toContain(url);
  },
);

test('what was drawn counts among a person’s files, until it is deleted', async () => {
  const { sent } = await draw('一座山');
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query('UPDATE images SET size = 110 * 1024 * 1024 WHERE deleted_at IS NULL');
  await client.end();
  const upload = () => person.upload('uploadImage', new Blob([onePixel]), 'a.png');
  await expect(upload()).rejects.toThrow('1420');
  const next = await sendPicture(person, '一条河', { uuid: sent.uuid });
  await expect(generate(person, next.historyId)).rejects.toThrow('1420');
  await person.call('deleteSession', { session_id: sent.uuid });
  await upload();
});
