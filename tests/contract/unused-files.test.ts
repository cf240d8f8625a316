import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { connectDatabase } from '#server/db/connect.ts';
import { readSettings } from '#server/settings.ts';
import { createKit } from '#server/kit.ts';
import { createLifetime } from '#server/lifetime.ts';
import type { Area } from '#server/area.ts';
import { removeOldLabels } from '#server/areas/compliance/compliance.store.ts';
import { TestClient } from '../support/client.ts';
import { sendFilm } from '../support/films.ts';
import { newPictures, paint, replyOf } from '../support/images.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { stage } from '../support/stage.ts';
import { onePixel } from '../support/world.ts';

/** What people uploaded stays as long as anything shows it, and goes when nothing does. */

const here = stage();

/** The server's own clearing away, as its housekeeping does it. */
const openCleaner = async () => {
  const settings = readSettings({
    DATABASE_URL: here.server.databaseUrl,
    DATA_DIR: here.server.dataDir,
    WORKERS: '0',
  });
  const log = pino({ level: 'silent' });
  const life = createLifetime();
  const connection = await connectDatabase(settings, log);
  life.own(connection.close);
  const { kit, areas } = await createKit(settings, log, connection, life);
  const shows = (areas as readonly Area[]).flatMap((area) => area.shows ?? []);
  return {
    clean: () => connection.db.transaction((tx) => kit.files.removeUnused(tx, shows)),
    dropMarked: () => connection.db.transaction((tx) => kit.files.dropOldMarked(tx)),
    dropLabels: () => connection.db.transaction((tx) => removeOldLabels(tx)),
    close: life.end,
  };
};

const timeColumns = {
  files: ['seen_at', 'created_at'],
  images: ['created_at'],
  history: ['created_at', 'answered_at'],
  sessions: ['created_at', 'updated_at', 'deleted_at'],
};

/** Everything becomes older by that many days. */
const daysLater = async (days: number) => {
  for (const [table, columns] of Object.entries(timeColumns))
    await here.database.query(
      `UPDATE ${table} SET ${columns.map((name) => `${name} = ${name} - interval '${days} days'`).join(', ')}`,
    );
};

test('a year on everything shown is still there, and everything else is gone', async () => {
  const { baseURL } = here.server;
  const client = await TestClient.register(baseURL);
  const friend = await TestClient.register(baseURL);
  const { id: userId } = await client.call('userInfo', {});
  const picture = async () =>
    (await client.upload('uploadImage', new Blob([onePixel], { type: 'image/png' }), 'a.png')).image
      .url;
  const insert = (sql: string, ...values: unknown[]) => here.database.query(sql, values);
  const shown: Record<string, string> = {};
  const unshown: Record<string, string> = {};

  // By the roads that people take.
  const { uuid: drawing } = await newPictures(client);
  const draw = (image: Record<string, unknown>) =>
    client.call('sendMessage', {
      session_id: drawing,
      format: 1,
      msg: JSON.stringify({ type: 'img2img', prompt: '画成水彩', ...image }),
    });
  shown['base of a drawing'] = await picture();
  await draw({ base_image: shown['base of a drawing'] });
  shown['base by its whole address'] = await picture();
  await draw({ base_image: `${baseURL}${shown['base by its whole address']}` });
  shown['background'] = await picture();
  await draw({
    base_image: shown['base of a drawing'],
    parameters: { bg_image: shown['background'] },
  });
  const film = await picture();
  shown['base of a film'] = film;
  await sendFilm(client, { base: film });
  const question = await client.call('newSession', { type: 2 });
  shown['former text of a question'] = await picture();
  shown['text of a question'] = await picture();
  const asked = await client.call('sendMessage', {
    session_id: question.uuid,
    title: '看图',
    msg: `![旧](${shown['former text of a question']})`,
  });
  await client.call('updateMessage', {
    session_id: question.uuid,
    id: asked.id,
    title: '看图',
    content: `![新](${shown['text of a question']})`,
  });
  const { uuid: pair } = await client.call('newFriend', {
    friend_user_id: (await friend.call('userInfo', {})).id,
  });
  shown['private message'] = await picture();
  await client.call('sendMessage', { session_id: pair, msg: `![看](${shown['private message']})` });
  const face = new Blob([onePixel], { type: 'image/png' });
  shown['avatar'] = (await client.upload('uploadAvatar', face, 'a.png')).url;

  // By what is stored of them.
  const uploadOf = async (url: string) =>
    (await insert(`SELECT id FROM images WHERE '/files/' || key || '.' || type = $1`, url))
      .rows[0] as { id: string };
  shown['parent of an edit'] = await picture();
  await insert(
    `INSERT INTO images (user_id, parent_id, how, origin, key, width, height, size, model, prompt)
     VALUES ($1, $2, 'upscale', 'drawn', $3, 1, 1, 1, 'm', '')`,
    userId,
    (await uploadOf(shown['parent of an edit'])).id,
    randomUUID().replaceAll('-', '').padEnd(40, '0'),
  );
  unshown['parent of an edit that was deleted'] = await picture();
  await insert(
    `INSERT INTO images (user_id, parent_id, how, origin, key, width, height, size, model, prompt,
       deleted_at)
     VALUES ($1, $2, 'upscale', 'drawn', '', 1, 1, 1, 'm', '', now())`,
    userId,
    (await uploadOf(unshown['parent of an edit that was deleted'])).id,
  );
  shown['picture of a style'] = await picture();
  shown['description of a project'] = await picture();
  await insert(
    `INSERT INTO training_projects (user_id, key, name, type, settings, description)
     VALUES ($1, $4, '画风', 1, $2, $3)`,
    userId,
    JSON.stringify({ images: [{ url: shown['picture of a style'] }] }),
    `![](${shown['description of a project']})`,
    randomUUID(),
  );
  shown['cover of an app'] = await picture();
  shown['screenshot of an app'] = await picture();
  shown['description of an app'] = await picture();
  await insert(
    `INSERT INTO apps (title, cover_image_url, images, md_description) VALUES ('应用', $1, $2, $3)`,
    shown['cover of an app'],
    JSON.stringify([shown['screenshot of an app']]),
    `![](${shown['description of an app']})`,
  );
  const manager = new TestClient(baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const file = async () =>
    (await manager.upload('adminUpload', new Blob(['%PDF-1.4']), '手册.pdf')).url;
  shown['file in a notice'] = await file();
  await insert(`INSERT INTO notices (content) VALUES ($1)`, `[手册](${shown['file in a notice']})`);
  unshown['file of a manager'] = await file();
  shown['notice'] = await picture();
  await insert(`INSERT INTO notices (content) VALUES ($1)`, `![](${shown['notice']})`);
  shown['template'] = await picture();
  await insert(
    `INSERT INTO prompt_templates (user_id, type, title, content) VALUES ($1, 1, '模板', $2)`,
    userId,
    JSON.stringify({ base_image: shown['template'] }),
  );
  shown['scenario'] = await picture();
  await insert(
    `INSERT INTO scenarios (category_id, user_id, name, description, prompt)
     SELECT min(id), $1, '场景', $2, 'p' FROM scenario_categories`,
    userId,
    `![](${shown['scenario']})`,
  );
  shown['logo of a model'] = await picture();
  await insert(
    `UPDATE models SET logo = $1 WHERE name = 'builtin-assistant'`,
    shown['logo of a model'],
  );

  unshown['nothing'] = await picture();
  unshown['session deleted'] = await picture();
  const gone = await newPictures(client);
  await client.call('sendMessage', {
    session_id: gone.uuid,
    format: 1,
    msg: JSON.stringify({
      type: 'img2img',
      prompt: '画成水彩',
      base_image: unshown['session deleted'],
    }),
  });
  await client.call('deleteSession', { session_id: gone.uuid });
  const text = async (name: string) =>
    (await client.upload('uploadFile', new Blob(['文字']), name)).file.uuid;
  const [attached, left] = [await text('a.txt'), await text('b.txt')];
  const chat = await client.call('newSession', { type: 0 });
  await client.call('sendMessage', {
    session_id: chat.uuid,
    format: 1,
    msg: JSON.stringify({ prompt: '请读一下附件', files: [{ uuid: attached }] }),
  });

  const statuses = async (urls: Record<string, string>) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(urls).map(async ([name, url]) => {
          expect(url, name).toMatch(/^\/files\//);
          return [name, (await fetch(baseURL + url)).status] as const;
        }),
      ),
    );
  const all = (urls: Record<string, string>, status: number) =>
    Object.fromEntries(Object.keys(urls).map((name) => [name, status]));
  const cleaner = await openCleaner();
  try {
    await cleaner.clean();
    expect(await statuses({ ...shown, ...unshown })).toEqual(all({ ...shown, ...unshown }, 200));
    for (const days of [365, 365]) {
      await daysLater(days);
      await cleaner.clean();
      expect(await statuses(shown)).toEqual(all(shown, 200));
      expect(await statuses(unshown)).toEqual(all(unshown, 404));
    }
    const { rows } = await here.database.query(`SELECT id FROM files WHERE kind = 'text'`);
    expect(rows).toEqual([{ id: attached }]);
    expect(left).not.toBe(attached);
    // Nobody's list shows what is gone.
    const listed = await client.call('uploadedFiles', { page: 1 });
    for (const url of Object.values(unshown)) expect(JSON.stringify(listed)).not.toContain(url);
  } finally {
    await cleaner.close();
  }
});

test('what a guest brought and nothing uses goes after a day, and what is used stays', async () => {
  const { baseURL } = here.server;
  const bring = async (client: TestClient) =>
    (await client.upload('uploadImage', new Blob([onePixel], { type: 'image/png' }), 'a.png')).image
      .url;
  const guest = new TestClient(baseURL);
  await guest.call('newSession', { type: 0 });
  const person = await TestClient.register(baseURL);
  const { uuid } = await newPictures(guest);
  const used = await bring(guest);
  await guest.call('sendMessage', {
    session_id: uuid,
    format: 1,
    msg: JSON.stringify({ type: 'img2img', prompt: '画成水彩', base_image: used }),
  });
  const unused = await bring(guest);
  const kept = await bring(person);
  await daysLater(2);
  const cleaner = await openCleaner();
  await cleaner.clean();
  await cleaner.close();
  const there = async (url: string) => (await fetch(baseURL + url)).status;
  expect(await there(unused)).toBe(404);
  expect([await there(used), await there(kept)]).toEqual([200, 200]);
});

test('copies with words go after a week and are made anew, and labels after years', async () => {
  const { baseURL } = here.server;
  const client = await TestClient.register(baseURL);
  const { message } = await paint(client, '湖上的月亮');
  const url = replyOf(message).images[0]?.url ?? '';
  const marked = async () => {
    const answer = await fetch(`${baseURL}${url}?marked=1`);
    return Buffer.from(await answer.arrayBuffer());
  };
  const name = path.basename(url).replace('.', '.marked.');
  const copy = () => existsSync(path.join(here.server.dataDir, 'files', name.slice(0, 2), name));
  const known = async (table: string) =>
    (await here.database.query(`SELECT 1 FROM ${table}`)).rowCount;
  const first = await marked();
  await expect.poll(copy).toBe(true);
  const labels = await known('labels');
  const cleaner = await openCleaner();
  try {
    await cleaner.dropMarked();
    expect(copy()).toBe(true);
    await here.database.query(`UPDATE marked_copies SET created_at = now() - interval '8 days'`);
    await cleaner.dropMarked();
    expect([copy(), await known('marked_copies')]).toEqual([false, 0]);
    expect((await marked()).equals(first)).toBe(true);
    await here.database.query(
      `INSERT INTO labels (id, kind, model, created_at) VALUES
       ('a', 'speech', 'm', now() - interval '13 months'), ('b', 'image', 'm', now() - interval '13 months'),
       ('c', 'image', 'm', now() - interval '37 months')`,
    );
    await cleaner.dropLabels();
    expect(await known('labels')).toBe((labels ?? 0) + 1);
  } finally {
    await cleaner.close();
  }
});
