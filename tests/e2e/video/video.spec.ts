import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { expect, test } from '#tests/support/app.ts';
import { TestClient } from '#tests/support/client.ts';
import { makeFilm, uploadBase } from '#tests/support/films.ts';
import { startMediaService } from '#tests/support/mock-media.ts';
import { startServer } from '#tests/support/server.ts';

/** A film takes its seconds, and on a busy machine some more. */
const soon = { timeout: 45_000 };

test('an image becomes a film with progress, and stands among one’s own', async ({
  app,
  page,
  person,
}) => {
  const image = await uploadBase(person.client, 480, 360);
  await app.enterAs(person);
  await page.goto('/video');
  await page.getByRole('button', { name: '新建视频' }).first().click();
  const dialog = page.getByRole('dialog', { name: '图生视频' });
  await dialog.getByRole('button', { name: /制作视频/ }).click();
  await expect(page.getByText('请填入图片')).toBeVisible();
  await page.goto(`/chat?uuid=${app.uuid()}&open=img-video&image_url=${encodeURIComponent(image)}`);
  await expect(dialog.getByRole('img', { name: '要动起来的图片' })).toBeVisible();
  await dialog.getByRole('radio', { name: '推近' }).click();
  await dialog.getByRole('radio', { name: '大动' }).click();
  await dialog.getByRole('button', { name: /制作视频/ }).click();
  const progress = page.getByRole('progressbar', { name: '制作进度' });
  await expect(progress).toBeVisible();
  await expect
    .poll(async () => Number(await progress.getAttribute('aria-valuenow').catch(() => 100)), soon)
    .toBeGreaterThan(0);
  const film = page.locator('video');
  await expect(film).toBeVisible(soon);
  await film.evaluate((video: HTMLVideoElement) => video.play());
  await expect
    .poll(() => film.evaluate((video: HTMLVideoElement) => video.currentTime), soon)
    .toBeGreaterThan(0);
  expect(await film.evaluate((video: HTMLVideoElement) => video.muted && video.loop)).toBe(true);
  // In words as it was asked, and the other way round by one press.
  await expect(app.log.getByText('推近 · 大动')).toBeVisible();
  await expect(page.getByRole('button', { name: /^反向/ })).toBeVisible();
  await page.goto('/video?private=1');
  await expect(page.getByRole('list', { name: '我的视频' }).getByRole('link')).toHaveCount(1);
});

test('the dialog opens from a session of words too, in a session of films made for it', async ({
  app,
  page,
  person,
}) => {
  const image = await uploadBase(person.client, 480, 360);
  const { uuid } = await person.client.call('newSession', { type: 0 });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}&open=img-video&image_url=${encodeURIComponent(image)}`);
  const dialog = page.getByRole('dialog', { name: '图生视频' });
  await expect(dialog.getByRole('img', { name: '要动起来的图片' })).toBeVisible();
  expect(app.uuid()).not.toBe(uuid);
  const { list } = await person.client.call('sessionList', { channel: 'private' });
  expect(new Set(list.map((session) => session.type))).toEqual(new Set([0, 4]));
  // The dialog is a matter of the address once only.
  await page.reload();
  await expect(page.getByRole('textbox').first()).toBeVisible();
  await expect(dialog).toHaveCount(0);
});

test('the tool of pictures opens from a session of words, in a session of pictures made for it', async ({
  app,
  page,
  person,
}) => {
  const image = await uploadBase(person.client, 480, 360);
  const { uuid } = await person.client.call('newSession', { type: 0 });
  await app.enterAs(person);
  await page.goto(
    `/chat?uuid=${uuid}&open=img-tool&tab=img2img&image_url=${encodeURIComponent(image)}`,
  );
  await expect(page.getByRole('img', { name: '参考图' })).toBeVisible();
  expect(app.uuid()).not.toBe(uuid);
  expect(page.url()).not.toContain('open=');
  const made = await person.client.call('getSession', { uuid: app.uuid() });
  expect(made.type).toBe(1);
  const { list } = await person.client.call('sessionList', { channel: 'private' });
  expect(list).toHaveLength(2);
});

test('a model that takes three sizes alone has other images cropped to one of them', async ({
  app,
  page,
}) => {
  const service = await startMediaService();
  const server = await startServer({
    env: {
      STABILITY_BASE_URL: service.url,
      STABILITY_API_KEY: 'sk-stability',
      FILM_POLL_SECONDS: '0',
      SIGNUP_TOKENS: '1000000',
    },
  });
  try {
    const client = await TestClient.register(server.baseURL);
    const [film] = (await makeFilm(client, { model: 'builtin-film' })).films;
    const made = await fetch(server.baseURL + String(film?.url));
    service.film = Buffer.from(await made.arrayBuffer());
    const { uuid } = await client.call('newSession', { type: 4, model: 'stable-video-diffusion' });
    await app.enterAs({ account: '', password: '', client });
    await page.goto(`${server.baseURL}/chat?uuid=${uuid}&open=img-video`);
    const dialog = page.getByRole('dialog', { name: '图生视频' });
    const crop = page.getByRole('dialog', { name: '裁剪图片' });
    const choose = async (width: number, height: number) => {
      const files = page.getByLabel('从相册选择图片');
      // The one that was used before leaves with its sheet; one more may come a moment later.
      await expect(files).toHaveCount(1);
      await files.last().setInputFiles({
        name: `${width}.png`,
        mimeType: 'image/png',
        buffer: await sharp({ create: { width, height, channels: 3, background: '#357' } })
          .png()
          .toBuffer(),
      });
    };
    // One that fits is taken as it is.
    await dialog.getByRole('button', { name: /选一张图片/ }).click();
    await choose(768, 768);
    await expect(dialog.getByRole('img', { name: '要动起来的图片' })).toBeVisible();
    await expect(dialog.getByText(/这个模型只收/)).toHaveCount(0);
    await dialog.getByRole('button', { name: '换一张' }).click();
    await choose(500, 900);
    await expect(crop.getByText(/图片是 500×900/)).toBeVisible();
    await expect(crop.getByRole('radio')).toHaveText(['1024×576', '576×1024', '768×768']);
    // The nearest of them is chosen already.
    await expect(crop.getByRole('radio', { name: '576×1024' })).toBeChecked();
    await crop.getByRole('button', { name: '关闭' }).click();
    // Who does not crop is told, and not let past.
    await expect(dialog.getByText(/图片是 500×900，这个模型只收 1024×576/)).toBeVisible();
    await dialog.getByRole('button', { name: /制作视频/ }).click();
    await crop.getByRole('button', { name: '裁剪', exact: true }).click();
    await expect(crop).toBeHidden();
    await expect(dialog.getByText(/这个模型只收/)).toHaveCount(0);
    service.rounds = 1_000_000;
    await dialog.getByRole('button', { name: /制作视频 · 75000 tokens/ }).click();
    // It has gone out: the button says what stopping costs, and what is made is shown all the same.
    await page.getByRole('button', { name: '停止（已发出，仍需付费）' }).click();
    const sure = page.getByRole('alertdialog', { name: '停止吗？' });
    await expect(sure).toContainText('最多收 75000 tokens');
    await sure.getByRole('button', { name: '停止', exact: true }).click();
    await expect(page.getByText('已停止：已经发出的，做好后会放在这里')).toBeVisible();
    service.rounds = 1;
    await expect(page.locator('video')).toBeVisible(soon);
    const begun = service.asked.find(({ path }) => path === 'POST /v2beta/image-to-video');
    expect(await sharp(begun?.file ?? Buffer.alloc(0)).metadata()).toMatchObject({
      width: 576,
      height: 1024,
    });
  } finally {
    await server.stop();
    await service.close();
  }
});

test('on a phone the film in the middle of the screen plays muted, and no other', async ({
  app,
  page,
  person,
}) => {
  await makeFilm(person.client);
  const { list } = await person.client.call('videoIndex', { private: 1 });
  const films = Array.from({ length: 12 }, (_, at) => ({
    ...list[0]!,
    uuid: randomUUID(),
    prompt: `第 ${at + 1} 部`,
  }));
  await page.route('**/api/video/index*', (route) =>
    route.fulfill({
      json: {
        code: 0,
        message: '',
        data: { list: films, page: 1, page_count: 1, page_size: 20, total: films.length },
      },
    }),
  );
  await app.enterAs(person);
  await page.goto('/video?private=1');
  const tiles = page.getByRole('list', { name: '我的视频' }).getByRole('link');
  await expect(tiles.first()).toBeVisible();
  const playing = tiles.locator('video[data-playing]');
  await expect(playing).toHaveCount(1, soon);
  await expect(tiles.locator('video')).toHaveCount(1);
  const place = () =>
    playing.evaluate((video: HTMLVideoElement) => {
      const { top, bottom } = video.getBoundingClientRect();
      return {
        muted: video.muted && video.loop,
        middle: top < innerHeight * 0.58 && bottom > innerHeight * 0.42,
      };
    });
  expect(await place()).toEqual({ muted: true, middle: true });
  const name = () => tiles.filter({ has: page.locator('video') }).getAttribute('aria-label');
  const before = await name();
  await tiles.last().scrollIntoViewIfNeeded();
  await expect.poll(name).not.toBe(before);
  await expect(playing).toHaveCount(1, soon);
  await expect(tiles.locator('video')).toHaveCount(1);
  expect(await place()).toEqual({ muted: true, middle: true });
});

test('a film plays muted under the mouse and gives way to its poster on a desktop', async ({
  app,
  page,
  person,
}) => {
  await makeFilm(person.client);
  await app.enterAs(person);
  await page.goto('/video?private=1');
  const tile = page.getByRole('list', { name: '我的视频' }).getByRole('link');
  await expect(tile).toBeVisible();
  await expect(tile.locator('video')).toHaveCount(0);
  await tile.hover();
  await expect(tile.locator('video[data-playing]')).toHaveCount(1, soon);
  expect(
    await tile.locator('video').evaluate((video: HTMLVideoElement) => video.muted && video.loop),
  ).toBe(true);
  await page.mouse.move(2, 2);
  await expect(tile.locator('video')).toHaveCount(0);
});

test('who wants less motion is shown posters alone on a phone', async ({ app, page, person }) => {
  await makeFilm(person.client);
  await app.enterAs(person);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/video?private=1');
  const tile = page.getByRole('list', { name: '我的视频' }).getByRole('link');
  await expect(tile.getByRole('img').or(tile.locator('img'))).toBeVisible();
  await tile.hover();
  await page.waitForTimeout(400);
  await expect(tile.locator('video')).toHaveCount(0);
  // A sheet is where it belongs in its first frame.
  await page.goto('/forum');
  const opener = page.getByRole('button', { name: '分组' });
  await opener.click();
  await page.getByRole('button', { name: '关闭' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  const places = page.evaluate(async () => {
    const seen = new Set<string>();
    for (let frame = 0; frame < 60; frame += 1) {
      await new Promise(requestAnimationFrame);
      const body = document.querySelector('.adm-popup-body');
      if (body) seen.add(getComputedStyle(body).transform);
    }
    return [...seen];
  });
  await opener.click();
  expect(await places).toHaveLength(1);
});

test('a shared film is played, not told in brackets and quotes', async ({ page, person }) => {
  const { uuid } = (await makeFilm(person.client)).sent;
  const { key } = await person.client.call('shareSession', { session_id: uuid });
  await page.goto(`/share?key=${key}`);
  const log = page.getByRole('log', { name: '分享的对话' });
  await expect(log.locator('video')).toBeVisible();
  await expect(log.getByRole('img', { name: '消息里的图片' })).toBeVisible();
  await expect(log).not.toContainText('"url"');
});

test('a failed film begins again by its own call, and a failed change leads back to its picture @C2', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  const job = {
    state: 'error',
    progress: 0,
    position: 0,
    remaining: null,
    model: 'builtin-motion',
    engine: '',
    session_uuid: randomUUID(),
    history_id: 4711,
    error_code: 1,
    error_message: '服务没有回应',
    deduct_tokens: 0,
    held_tokens: 0,
    created_at: new Date().toISOString(),
    finished_at: new Date().toISOString(),
  };
  const film = {
    ...job,
    uuid: randomUUID(),
    kind: 'video',
    title: '动起来',
    subject_kind: 'message',
    subject_id: 4711,
  };
  const change = {
    ...job,
    uuid: randomUUID(),
    kind: 'image',
    title: '抠图',
    subject_kind: 'image',
    subject_id: 815,
  };
  const drawing = {
    ...job,
    uuid: randomUUID(),
    kind: 'image',
    title: '黄昏的雪山，湖面倒影',
    subject_kind: 'message',
    subject_id: 4712,
    held_tokens: 8000,
    translates: true,
  };
  // Another work on the same message came after it: what is older was retried.
  const before = { ...film, uuid: randomUUID(), title: '头一次' };
  const list = {
    list: [film, change, drawing, before],
    page: 1,
    page_count: 1,
    page_size: 20,
    total: 4,
    running: 0,
  };
  await page.route('**/api/job_list*', (route) =>
    route.fulfill({ json: { code: 0, message: '', data: list } }),
  );
  await page.goto('/tasks');
  const task = (title: string) => page.getByRole('listitem').filter({ hasText: title });
  await expect(task('抠图').getByRole('button', { name: /重试/ })).toHaveCount(0);
  await expect(task('抠图').getByRole('link', { name: '再改一次' })).toHaveAttribute(
    'href',
    '/image/private?image_id=815',
  );
  await expect(task('头一次')).toBeVisible();
  await expect(task('头一次').getByRole('button', { name: /重试/ })).toHaveCount(0);
  // Its price has the translation in it, and it is translated again.
  const again = task('黄昏的雪山').getByRole('button', { name: /^重试 · 约 8\d\d\d tokens$/ });
  await expect(again).toBeVisible();
  const drawn = page.waitForRequest(/generate/);
  await again.click();
  expect((await drawn).postDataJSON()).toMatchObject({ history_id: 4711, translate: 1 });
  const begun = page.waitForRequest(/generate/);
  await task('动起来').getByRole('button', { name: '重试' }).click();
  expect(new URL((await begun).url()).pathname).toBe('/api/video/generate_video');
  expect((await begun).postDataJSON()).toMatchObject({ history_id: 4711 });
});
