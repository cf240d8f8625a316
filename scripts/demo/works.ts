import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Out } from '#contract/calls.ts';
import type { TestClient } from '#tests/support/client.ts';
import { draw, type Player, type Stage } from './stage.ts';
import { readParts } from './texts.ts';

const sizes: Record<string, string> = { 横: '768x576', 竖: '576x768', 方: '640x640' };

/** Waits until a job has ended. @throws Error when it failed or takes more than ten minutes */
const untilDone = async (client: TestClient, uuid: string): Promise<void> => {
  for (let waited = 0; waited < 600_000; waited += 200) {
    const { data } = await client.raw<Out<'imageProgress'>>('imageProgress', { request_id: uuid });
    if (data.job.state === 'done') return;
    if (data.job.finished_at !== null) throw new Error(data.job.error_message || data.job.state);
    await sleep(200);
  }
  throw new Error('等得太久');
};

/** The work of a session is done; one that does not come about is left out with its session. */
const keepIfDone = async (client: TestClient, session: string, job: string): Promise<void> => {
  try {
    await untilDone(client, job);
  } catch (error) {
    console.log(`少了一件作品：${(error as Error).message}`);
    await client.call('deleteSession', { session_id: session });
  }
};

const paint = async (player: Player, prompt: string, size: string, seed: number) => {
  const { client } = player;
  const session = await client.call('newSession', { type: 1, model: 'builtin-canvas', private: 0 });
  const [width = 0, height = 0] = size.split('x').map(Number);
  const { id } = await client.call('sendMessage', {
    session_id: session.uuid,
    msg: JSON.stringify({ type: 'txt2img', prompt, image: { n: 1, parameters: { seed } } }),
    format: 1,
  });
  const { job } = await client.call('generateImage', {
    history_id: id,
    request_id: randomUUID(),
    size: `${width}x${height}`,
  });
  await keepIfDone(client, session.uuid, job.uuid);
};

const film = async (player: Player, prompt: string, seed: number) => {
  const { client } = player;
  const base = await client.upload('uploadImage', await draw(prompt, seed, 640, 384), 'film.png');
  const session = await client.call('newSession', { type: 4, private: 0 });
  const { id } = await client.call('sendMessage', {
    session_id: session.uuid,
    msg: JSON.stringify({ prompt, type: 'img2video', app: '', base_image: base.image.url }),
    format: 1,
  });
  const { job } = await client.call('generateVideo', { history_id: id, request_id: randomUUID() });
  await keepIfDone(client, session.uuid, job.uuid);
};

/** Pictures and films of the built-in canvas, each in a public session, and who likes them. */
export const makeWorks = async (stage: Stage): Promise<void> => {
  const { pool, players, chance } = stage;
  const parts = readParts('pictures');
  let done = 0;
  const tell = () => {
    if (++done % 10 === 0) console.log(`${done} / ${parts.length} 件作品`);
  };
  // Two at once are what most machines draw; each person has one order at a time.
  await Promise.all(
    players.map(async (player, place) => {
      for (let at = place; at < parts.length; at += players.length) {
        const { kind, words } = parts[at]!;
        const seed = Number(words[3] ?? 100 + at);
        if (kind === '片') await film(player, words[1] ?? '', seed);
        else await paint(player, words[2] ?? '', sizes[words[1] ?? ''] ?? '640x640', seed);
        tell();
      }
    }),
  );
  const { rows } = await pool.query<{ id: string; user_id: string }>(
    `SELECT id, user_id FROM images WHERE user_id = ANY($1) AND origin = 'drawn' ORDER BY id`,
    [players.map(({ id }) => id)],
  );
  for (const row of rows) {
    const fans = chance.some(players, Math.floor(chance.next() ** 1.6 * players.length));
    for (const fan of fans)
      if (fan.id !== Number(row.user_id))
        await fan.client.call('likeImage', { image_id: Number(row.id), status: 1 });
  }
};
