import { randomBytes, randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type pg from 'pg';
import { workOn } from '#packages/canvas/work.ts';
import { TestClient } from '#tests/support/client.ts';
import { chanceFrom } from './chance.ts';
import { readParts } from './texts.ts';

export interface Player {
  name: string;
  id: number;
  client: TestClient;
}

/** How many people, the first, were there long before the others and write what there is to read. */
export const regulars = 18;

/** What all parts of the demo are built with. */
export interface Stage {
  pool: pg.Pool;
  baseURL: string;
  chance: ReturnType<typeof chanceFrom>;
  players: Player[];
  regulars: Player[];
  /** One of the players, who may do what a manager may while the demo is built. */
  manager: Player;
  /** One of the players, whom whoever looks at the demo may sign in as. */
  guide: Player;
  /** So much at once. */
  limit: ReturnType<typeof pLimit>;
}

export type ThingKind = 'users' | 'apps' | 'notices';

export const mark = async (pool: pg.Pool, kind: ThingKind, id: number): Promise<void> => {
  await pool.query(`INSERT INTO demo_things (kind, id) VALUES ($1, $2)`, [kind, id]);
};

/** A drawing by the canvas, PNG. Sides in pixels. */
export const draw = async (
  prompt: string,
  seed: number,
  width: number,
  height: number,
): Promise<Blob> => {
  const answer = await workOn(
    {
      kind: 'make',
      order: {
        task: 'generate',
        prompt,
        n: 1,
        width,
        height,
        parameters: {},
        strength: 75,
        resizeMode: 0,
        seed,
        base: null,
        control: null,
        background: null,
        profiles: [],
      },
    },
    { progress: () => Promise.resolve() },
  );
  if (answer.kind !== 'made' || !answer.images[0]) throw new Error('the canvas drew nothing');
  return new Blob([new Uint8Array(answer.images[0].data)], { type: 'image/png' });
};

/** Fields and files as a form; a text among the files is one of a text file. */
export const postForm = async (
  client: TestClient,
  path: string,
  fields: Record<string, string>,
  files: Record<string, { data: Blob; name: string }>,
): Promise<Record<string, unknown>> => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const [name, { data, name: file }] of Object.entries(files)) form.set(name, data, file);
  const response = await fetch(client.baseURL + path, {
    method: 'POST',
    headers: { ...client.headers(), 'idempotency-key': randomUUID() },
    body: form,
  });
  const { code, message, data } = (await response.json()) as {
    code: number;
    message: string;
    data: Record<string, unknown>;
  };
  if (code !== 0) throw new Error(`${path}: ${code} ${message}`);
  return data;
};

/** The people of the demo, each with a face of our own canvas. */
export const invite = async (pool: pg.Pool, baseURL: string): Promise<Stage> => {
  const limit = pLimit(6);
  const run = randomBytes(3).toString('hex');
  const players = await Promise.all(
    readParts('people').map(({ words: [name = '', face = ''] }, at) =>
      limit(async (): Promise<Player> => {
        const client = new TestClient(baseURL);
        const password = randomBytes(18).toString('base64url');
        const account = `demo_${run}_${at + 1}`;
        const { error, token } = await client.call('register', {
          account,
          name,
          password,
          password2: password,
        });
        if (error || !token) throw new Error(`register: ${error ?? 'no token'}`);
        client.token = token;
        const user = await client.call('userInfo', {});
        await mark(pool, 'users', user.id);
        await client.upload('uploadAvatar', await draw(face, 11 + at, 256, 256), 'face.png');
        return { name, id: user.id, client };
      }),
    ),
  );
  const [manager, guide] = players;
  if (!manager || !guide) throw new Error('the demo has no people');
  await pool.query(`UPDATE users SET manager = true WHERE id = $1`, [manager.id]);
  return {
    pool,
    baseURL,
    chance: chanceFrom(7),
    players,
    regulars: players.slice(0, regulars),
    manager,
    guide,
    limit,
  };
};
