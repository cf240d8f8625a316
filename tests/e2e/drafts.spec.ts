import { App, expect, foreignServer, test } from '../support/app.ts';
import sharp from 'sharp';
import { TestClient } from '../support/client.ts';
import { openLine } from '../support/faulty-line.ts';
import { keptIn, startPhone } from '../support/phone.ts';
import { ADMIN_PASSWORD } from '../support/server.ts';
import { shellComplete } from '../support/shell.ts';

test.skip(foreignServer, 'kills browsers of its own');

/** What the chat's box held in each frame in which it was to be seen; more than once the same is told once. */
const watchBox = () => {
  const seen: string[] = [];
  Object.assign(window, { seenInBox: seen });
  const look = () => {
    // What stands before the app lies over it.
    const box =
      document.querySelector<HTMLTextAreaElement>('#first [data-writer=chat] textarea') ??
      document.querySelector<HTMLTextAreaElement>('#root [data-writer=chat] textarea');
    if (box && box.style.opacity !== '0' && box.value !== seen.at(-1)) seen.push(box.value);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

test('a notice, a form and a message outlast a kill; the box has its words in its first frame @O3 @G5', async ({
  baseURL,
}) => {
  const owner = new TestClient(baseURL ?? '');
  await owner.login('admin', ADMIN_PASSWORD);
  const { uuid, id } = await owner.ask('26.2 英里是多少公里？');
  await owner.read(uuid, id);
  const phone = await startPhone(owner);
  try {
    let { page } = phone;
    const kept = () => keptIn(page, 'queqiao-outbox', 'drafts');
    await page.goto(`${baseURL}/manager/notice`);
    // As an earlier version of the page left it.
    await page.evaluate(() => localStorage.setItem('queqiao.form-draft.key', '{"name":"旧草稿"}'));
    await page.getByRole('button', { name: '写公告' }).click();
    await page.getByRole('dialog').getByLabel('公告内容').fill('明天停机维护');
    await expect.poll(kept).toContain('明天停机维护');
    await page.goto(`${baseURL}/train`);
    await page.getByRole('button', { name: '新建' }).first().click();
    await page.getByRole('dialog').getByLabel('描述').fill('祖母的菜谱');
    await expect.poll(kept).toContain('祖母的菜谱');
    await page.goto(`${baseURL}/account?tab=profile`);
    await page.getByLabel('名称').fill('新的名字');
    await expect.poll(kept).toContain('新的名字');
    const rename = async () => {
      await page.goto(`${baseURL}/?channel=private`);
      await page.locator('[data-session]').first().getByRole('button').last().click();
      await page.getByRole('button', { name: '重命名' }).click();
      return page.getByRole('textbox', { name: '会话的名字' });
    };
    await (await rename()).fill('长跑的距离');
    await expect.poll(kept).toContain('长跑的距离');
    await page.goto(`${baseURL}/chat?uuid=${uuid}`);
    await page.getByRole('textbox', { name: '输入消息' }).fill('写到一半的问题');
    await expect.poll(kept).toContain('写到一半的问题');

    await phone.crash();
    ({ page } = phone);
    await phone.context.addInitScript(watchBox);
    await page.goto(`${baseURL}/chat?uuid=${uuid}`);
    await expect(page.locator('#first')).toHaveCount(0);
    await expect(page.getByRole('textbox', { name: '输入消息' })).toHaveValue('写到一半的问题');
    expect(await page.evaluate('seenInBox')).toEqual(['写到一半的问题']);
    await page.goto(`${baseURL}/manager/notice`);
    await page.getByRole('button', { name: '写公告' }).click();
    await expect(page.getByRole('dialog').getByLabel('公告内容')).toHaveValue('明天停机维护');
    await page.goto(`${baseURL}/train`);
    await page.getByRole('button', { name: '新建' }).first().click();
    await expect(page.getByRole('dialog').getByLabel('描述')).toHaveValue('祖母的菜谱');
    await page.goto(`${baseURL}/account?tab=profile`);
    await expect(page.getByLabel('名称')).toHaveValue('新的名字');
    await expect(await rename()).toHaveValue('长跑的距离');
    expect(await kept()).toContain('旧草稿');
  } finally {
    await phone.end();
  }
});

test('words that were typed before the page’s own code was there outlast a kill @O3', async ({
  baseURL,
}) => {
  const client = await TestClient.register(baseURL ?? '');
  const { uuid, id } = await client.ask('第一个问题', { model: 'mock-chat' });
  await client.read(uuid, id);
  const phone = await startPhone(client);
  try {
    await phone.page.goto(`${baseURL}/chat?uuid=${uuid}`);
    await new App(phone.page).question.fill('以前的话');
    await expect.poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts')).toContain('以前的话');
    for (const address of [`/chat?uuid=${uuid}`, '/']) {
      const devtools = await phone.context.newCDPSession(phone.page);
      await devtools.send('Network.enable');
      await devtools.send('Network.setBlockedURLs', { urls: ['*.js'] });
      await phone.page.goto(baseURL + address, { waitUntil: 'commit' });
      await phone.page
        .locator(`#first [data-writer=${address === '/' ? 'home' : 'chat'}] textarea`)
        .fill(`在 ${address} 写到一半`);
      await expect
        .poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts'))
        .toContain(`在 ${address} 写到一半`);
      await phone.crash();
      await phone.page.goto(baseURL + address);
      await expect(phone.page.locator('[data-writer] textarea').last()).toHaveValue(
        `在 ${address} 写到一半`,
      );
    }
  } finally {
    await phone.end();
  }
});

test('what was typed to register and to sign in comes back after a kill, the invitation with it, and no password @O3 @A2', async ({
  baseURL,
}) => {
  const friend = await TestClient.register(baseURL ?? '');
  const { code } = await friend.call('newInvite', {});
  const phone = await startPhone();
  try {
    let { page } = phone;
    const kept = () => keptIn(page, 'queqiao-outbox', 'drafts');
    const account = `e2e${Date.now().toString(36)}`;
    await page.goto(`${baseURL}/register?invite=${code}`);
    await page.getByLabel('名称').fill('小鹊');
    await page.getByRole('textbox', { name: '用户名' }).fill(account);
    await page.getByLabel('密码', { exact: true }).fill('mima-12345-qiao');
    await expect.poll(kept).toContain(account);
    await page.goto(`${baseURL}/login`);
    await page.getByRole('textbox', { name: '用户名' }).fill('jiude');
    await expect.poll(kept).toContain('jiude');
    expect(await kept()).not.toContain('mima');

    await phone.crash();
    ({ page } = phone);
    await page.goto(`${baseURL}/login`);
    await expect(page.getByRole('textbox', { name: '用户名' })).toHaveValue('jiude');
    // Opened from home, not from the link.
    await page.goto(`${baseURL}/register`);
    await expect(page.getByLabel('名称')).toHaveValue('小鹊');
    await expect(page.getByRole('textbox', { name: '用户名' })).toHaveValue(account);
    await expect(page.getByLabel('密码', { exact: true })).toHaveValue('');
    await page.getByLabel('密码', { exact: true }).fill('mima-12345-qiao');
    await page.getByLabel('再次输入密码', { exact: true }).fill('mima-12345-qiao');
    await page.getByRole('button', { name: '注册', exact: true }).click();
    await expect(page).toHaveURL(`${baseURL}/`);
    expect((await friend.call('inviteInfo', {})).total).toBe(1);
    await expect.poll(kept).not.toContain(account);
  } finally {
    await phone.end();
  }
});

test('in the viewer words outlast a kill, a silent line is said above it, and what was begun unheard is begun once @O3 @I14', async ({
  baseURL,
}) => {
  test.setTimeout(120_000);
  const client = await TestClient.register(baseURL ?? '');
  const photo = await sharp({
    create: { width: 320, height: 240, channels: 3, background: '#eee' },
  })
    .png()
    .toBuffer();
  const { image } = await client.upload('uploadImage', new Blob([new Uint8Array(photo)]), 'a.png');
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client);
  await phone.page.goto(`${line.baseURL}/`);
  await shellComplete(phone.page);
  const open = async () => {
    await phone.page.goto(`${line.baseURL}/image/private?rank=upload&image_id=${image.id}`);
    const viewer = phone.page.getByRole('dialog', { name: '修改图片' });
    await viewer.getByRole('button', { name: '再来几张', exact: true }).click();
    return phone.page.getByRole('dialog', { name: '再来几张', exact: true });
  };
  const begun = async () => (await client.call('jobList', {})).list.length;
  const words = { name: '再来几张的提示词' };
  const draw = { name: /^再来几张/ };
  await (await open()).getByRole('textbox', words).fill('雪山上的月亮');
  await expect.poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts')).toContain('雪山上的月亮');
  await phone.crash();
  // The server does it, and nobody hears of that.
  line.state = 'deaf';
  let panel = await open();
  await expect(panel.getByRole('textbox', words)).toHaveValue('雪山上的月亮');
  await panel.getByRole('button', draw).click();
  await expect.poll(begun).toBe(1);
  await expect(phone.page.getByText('网络不通，请检查网络后再试')).toBeVisible();
  await phone.crash();
  // Known words of a picture are there on a line that answers nothing, which is said above them.
  line.state = 'hangs';
  panel = await open();
  await panel.getByRole('button', draw).click();
  const said = phone.page.getByRole('status').filter({ hasText: '网络没有回应' });
  await expect(said).toBeVisible();
  const head = panel.getByRole('button', { name: '返回' });
  const [over, below] = await Promise.all([said.boundingBox(), head.boundingBox()]);
  expect(below!.y).toBeGreaterThanOrEqual(over!.y + over!.height);
  await phone.crash();
  line.state = 'well';
  panel = await open();
  await panel.getByRole('button', draw).click();
  await expect(panel.getByRole('textbox', words)).toBeHidden();
  expect(await begun()).toBe(1);
  await phone.end();
  await line.close();
});

/** So many times it is killed at a random moment after sending. */
const kills = process.env['HEAVY'] === undefined ? 2 : 40;

test('a text that is sent is in its box or on its way, never in both and never in neither, whenever it is killed @O3', async ({
  baseURL,
}) => {
  test.setTimeout(60_000 + kills * 15_000);
  const client = await TestClient.register(baseURL ?? '');
  const { uuid, id } = await client.ask('第一个问题', { model: 'mock-chat' });
  await client.read(uuid, id);
  const phone = await startPhone(client);
  try {
    await phone.page.goto(`${baseURL}/chat?uuid=${uuid}`);
    for (let round = 0; round < kills; round++) {
      const app = new App(phone.page);
      const text = `第 ${round} 次要发出的话`;
      await app.question.fill(text);
      await expect.poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts')).toContain(text);
      const wait = Math.random() * 150;
      await phone.page.evaluate((ms) => {
        document.querySelector<HTMLElement>('[data-send-box] [data-sender]')?.click();
        return new Promise((resolve) => {
          setTimeout(resolve, ms);
        });
      }, wait);
      await phone.crash();
      await phone.page.goto(`${baseURL}/chat?uuid=${uuid}`);
      const again = new App(phone.page);
      const sent = async () =>
        (await client.call('historyList', { session_id: uuid, newest: 0 })).list.filter(
          ({ human }) => human === text,
        ).length;
      const inBox = () => again.question.inputValue();
      // What was on its way arrives by itself.
      await expect
        .poll(async () => ((await inBox()) === text ? 1 : 0) + (await sent()), {
          message: `killed ${wait} ms after it was sent`,
          timeout: 20_000,
        })
        .toBe(1);
      await again.settled();
    }
  } finally {
    await phone.end();
  }
});

test('a question to people is in its editor or on its way, never in both and never in neither, whenever it is killed @O3 @F2', async ({
  baseURL,
}) => {
  test.setTimeout(60_000 + kills * 30_000);
  const client = await TestClient.register(baseURL ?? '');
  const phone = await startPhone(client);
  const form = `${baseURL}/forum?show-create-dialog=1`;
  const box = () => phone.page.getByRole('textbox', { name: '内容' });
  try {
    await phone.page.goto(form);
    for (let round = 0; round < kills; round++) {
      const text = `第 ${round} 个要问大家的问题 ${Date.now()}`;
      await phone.page.getByRole('textbox', { name: '标题' }).fill('请教');
      await box().fill(text);
      await expect.poll(() => keptIn(phone.page, 'queqiao-outbox', 'drafts')).toContain(text);
      const publish = phone.page.getByRole('button', { name: '发表', exact: true });
      const wait = Math.random() * 400;
      await publish.evaluate((button: HTMLElement, ms) => {
        button.click();
        return new Promise((resolve) => {
          setTimeout(resolve, ms);
        });
      }, wait);
      await phone.crash();
      await phone.page.goto(form);
      await expect(box()).toBeVisible();
      const sent = async () => {
        const { list } = await client.call('sessionList', { channel: 'forum' });
        const mine = await Promise.all(
          list.map(({ uuid }) => client.call('historyList', { session_id: uuid, newest: 0 })),
        );
        return mine.flatMap((each) => each.list).filter(({ human }) => human === text).length;
      };
      // What was on its way arrives by itself.
      await expect
        .poll(async () => ((await box().inputValue()) === text ? 1 : 0) + (await sent()), {
          message: `killed ${wait} ms after it was sent`,
          timeout: 20_000,
        })
        .toBe(1);
    }
  } finally {
    await phone.end();
  }
});

test('two tabs on one conversation write one draft; signing out says how many there are @O3', async ({
  person,
  context,
  baseURL,
}) => {
  const { uuid, id } = await person.client.ask('12 × 12 等于多少？');
  await person.client.read(uuid, id);
  const open = async () => {
    const page = await context.newPage();
    const app = new App(page);
    await app.enterAs(person);
    await page.goto(`${baseURL}/chat?uuid=${uuid}`);
    await expect(app.log).toContainText('您说');
    return app;
  };
  const [one, two] = [await open(), await open()];
  await one.question.fill('左边写的');
  await expect(two.question).toHaveValue('左边写的');
  await two.question.press('End');
  await two.question.pressSequentially('，右边接着写');
  await expect(one.question).toHaveValue('左边写的，右边接着写');
  await two.page.reload();
  await expect(two.question).toHaveValue('左边写的，右边接着写');

  await one.walk('/account');
  await one.page.getByRole('button', { name: '退出登录' }).click();
  await expect(one.page.getByRole('alertdialog')).toContainText('1 份草稿');
  await one.page.getByRole('alertdialog').getByRole('button', { name: '取消' }).click();
  await one.walk(`/chat?uuid=${uuid}`);
  await one.sendButton.click();
  await expect(two.question).toHaveValue('');
});
