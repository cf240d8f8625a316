import sharp from 'sharp';
import { withPngText } from '#server/labels/png-text.ts';
import { expect, foreignServer, test } from '../support/app.ts';
import { docxOf, scanOf, wordXml, xlsxOf } from '../support/sample-files.ts';

const picture = async (
  width: number,
  height: number,
  kind: 'jpeg' | 'png' | 'gif',
  colour: string,
) =>
  sharp({ create: { width, height, channels: 3, background: colour } })
    .toFormat(kind)
    .toBuffer();

/** What the page gets when somebody pastes or drops a file. */
interface Given {
  name: string;
  type: string;
  base64: string;
}

test('pictures and texts go to the model: picked, pasted, dropped; wrong ones are refused @C12 @C16 @C18', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  await page.goto(`/chat?uuid=${uuid}`);
  const items = page.getByRole('list', { name: '要发送的附件' }).getByRole('listitem');
  const jpg = await picture(300, 200, 'jpeg', '#2266cc');

  // A model that does not see says so, and another one can be chosen.
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  const sheet = page.getByRole('dialog', { name: '添加' });
  await expect(sheet.getByText('「Mock Chat」看不了图片')).toBeVisible();
  await sheet.getByRole('button', { name: '换一个能看图片的模型' }).click();
  await page
    .getByRole('dialog', { name: '能看图片的模型' })
    .getByRole('radio', { name: /Mock Vision/ })
    .click();
  await expect(page.getByText('修改成功')).toBeVisible();
  await expect(sheet.getByText('看不了图片')).toBeHidden();
  await page.getByLabel('从相册选择图片').setInputFiles([
    { name: 'a.jpg', mimeType: 'image/jpeg', buffer: jpg },
    { name: '动图.gif', mimeType: 'image/gif', buffer: await picture(9, 9, 'gif', '#fff') },
    { name: '大.jpg', mimeType: 'image/jpeg', buffer: await picture(4200, 300, 'jpeg', '#cc2222') },
  ]);
  await expect(page.getByText('只能选择 jpg 或 png 图片')).toBeVisible();
  await expect(page.getByText(/照片较大，已缩小到 4096 × 29\d/)).toBeVisible();
  await expect(items).toHaveCount(2);

  const png = (await picture(40, 60, 'png', '#22aa44')).toString('base64');
  const given: Given = { name: 'c.png', type: 'image/png', base64: png };
  await app.question.evaluate((box, { name, type, base64 }) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], name, { type }));
    box.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, given);
  await expect(items).toHaveCount(3);

  const drop = (event: 'dragover' | 'drop') =>
    page.evaluate(
      ([{ name, type, base64 }, event]) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
        const dataTransfer = new DataTransfer();
        for (const at of [1, 2])
          dataTransfer.items.add(new File([bytes], `${at}${name}`, { type }));
        document.body.dispatchEvent(
          new DragEvent(event, { dataTransfer, bubbles: true, cancelable: true }),
        );
      },
      [given, event] as const,
    );
  await drop('dragover');
  await expect(page.getByText('松开即可添加图片或文件')).toBeVisible();
  await drop('drop');
  await expect(page.getByText('最多选择 4 张图片')).toBeVisible();
  await expect(page.getByText('松开即可添加图片或文件')).toBeHidden();
  await expect(items).toHaveCount(4);

  await page.getByLabel('选择文件').setInputFiles([
    { name: '记录.txt', mimeType: 'text/plain', buffer: Buffer.from('鹊桥计划在七月初七上线。') },
    { name: '程序.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') },
    { name: '坏.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 nothing') },
  ]);
  await expect(page.getByText('不支持这种文件：程序.exe')).toBeVisible();
  await expect(items.filter({ hasText: '记录.txt' })).toContainText('12 字');
  await expect(page.getByText(/文件已损坏、已加密或无法读取/)).toBeVisible();
  await page.getByRole('button', { name: '去掉文件 坏.pdf' }).click();

  // What it costs is said before, and all of it outlives the page.
  await expect(page.getByText(/约 \d00 tokens/)).toBeVisible();
  await page.getByRole('radio', { name: /高清/ }).click();
  await expect(page.getByText(/约 4\d00 tokens/)).toBeVisible();
  await page.reload();
  await expect(items).toHaveCount(5);
  await page.getByRole('button', { name: /查看图片 2/ }).click();
  const viewer = page.getByRole('dialog', { name: '看图' });
  await expect(viewer.getByText('2 / 4')).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await expect(viewer.getByText('3 / 4')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(viewer).toBeHidden();
  await page.getByRole('button', { name: '去掉图片 4' }).click();

  // An address that is not public: said why, tried again or taken away.
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await sheet.getByRole('textbox', { name: '图片网址' }).fill('http://127.0.0.1/a.jpg');
  await sheet.getByRole('button', { name: '添加', exact: true }).click();
  await expect(page.getByText(/上传失败：/)).toBeVisible();
  await expect(page.getByRole('button', { name: '重试' })).toBeVisible();
  await app.say('这些图片里有什么？');
  await expect(page.getByText('有附件没有传上去，请重试或去掉它再发送')).toBeVisible();
  await page.getByRole('button', { name: '去掉图片 4' }).click();
  await app.sendButton.click();
  await expect(app.log).toContainText('[picture high image/jpeg]');
  await expect(app.log).toContainText('[picture high image/png]');
  await expect(app.log).toContainText('七月初七上线');
  await app.settled();
  await expect(items).toHaveCount(0);
  const [message] = (await person.client.call('historyList', { session_id: uuid })).list;
  expect(JSON.parse(message?.human ?? '')).toMatchObject({
    type: 'chat-vision',
    prompt: '这些图片里有什么？',
    image_detail: 'high',
    files: [{ name: '记录.txt' }],
  });
});

test('without any model a question about attached files is answered by their own sentences, from home and in a chat @C12', async ({
  app,
  page,
  person,
}) => {
  await app.enterAs(person);
  await person.client.call('saveSettings', { default_chat_model: 'builtin-assistant' });
  await page.goto('/');
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await page.getByLabel('选择文件').setInputFiles([
    {
      name: '合同.docx',
      mimeType: '',
      buffer: docxOf(
        wordXml(['租金每月一万二千元。押金为两个月租金。', '提前退租要提前六十天通知。']),
      ),
    },
    {
      name: '价目.xlsx',
      mimeType: '',
      buffer: xlsxOf('茶叶', [
        ['茶', '每斤', '产地'],
        ['龙井', 800, '杭州'],
        ['毛峰', 450, '黄山'],
      ]),
    },
  ]);
  await page.getByRole('textbox', { name: '输入问题' }).fill('毛峰每斤多少钱？');
  await app.sendButton.click();
  // Home gives its place at once, and the list of sessions is not seen again.
  await expect(page.getByRole('textbox', { name: '输入问题' })).toBeHidden();
  await page.waitForURL(/\/chat\?/);
  const reply = page.locator('[data-reply]').last();
  await expect(reply).toContainText('每斤：450', { timeout: 15_000 });
  await expect(reply).toContainText('《价目.xlsx》 · 表“茶叶” · 第 3 行');
  await app.settled();
  await app.say('押金是多少？');
  await expect(reply).toContainText('押金为两个月租金');
  await expect(reply).toContainText('《合同.docx》');
  await app.settled();
  await app.say('怎样给摩托车换轮胎？');
  await expect(reply).toContainText('附件里没有能回答这个问题的内容');
  await app.settled();
  // The help, as a knowledge base, is added to the same conversation.
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await page
    .getByRole('dialog', { name: '添加' })
    .getByRole('button', { name: /^知识库/ })
    .click();
  const sheet = page.getByRole('dialog', { name: '选择知识库' });
  await sheet.getByRole('button', { name: /帮助/ }).first().click();
  await sheet.getByRole('button', { name: '用这 1 个' }).click();
  await expect(page.getByText('接下来的问题会先查知识库')).toBeVisible();
  await app.say('怎么连接 DeepSeek？');
  await expect(reply).toContainText('以上是知识库');
});

test('a picture for a model that sees none goes as the words on it', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-vision' });
  await page.goto(`/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  const buffer = await scanOf('餐费每天一百二十元');
  await page
    .getByLabel('从相册选择图片')
    .setInputFiles([{ name: '通知.jpg', mimeType: 'image/jpeg', buffer }]);
  const items = page.getByRole('list', { name: '要发送的附件' }).getByRole('listitem');
  await expect(items).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('radio', { name: /高清/ })).toBeVisible();
  // The model is another one by now.
  await person.client.call('setSession', { session_id: uuid, model: 'mock-chat' });
  await page.reload();
  await page.getByRole('button', { name: '认出图上的文字' }).click();
  await expect(items).toContainText('通知.jpg');
  await expect(items).toContainText(/\d+ 字/, { timeout: 60_000 });
  await app.question.fill('图上写了什么');
  await page.getByRole('button', { name: '发送', exact: true }).click();
  const reply = page.locator('[data-reply]').last();
  await expect(reply).toContainText('餐费每天一百二十元');
  await expect(reply).toContainText('从图片里认出的文字，可能有错字');
});

test('what is added at home goes along with the first message @C12', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await app.enterAs(person);
  await person.client.call('saveSettings', { default_chat_model: 'mock-vision' });
  // Slow enough that the message waits for it.
  await page.route('**/api/upload_file*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await page.goto('/');
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  await page.getByLabel('从相册选择图片').setInputFiles({
    name: 'a.jpg',
    mimeType: 'image/jpeg',
    buffer: await picture(300, 200, 'jpeg', '#2266cc'),
  });
  await page.getByLabel('选择文件').setInputFiles({
    name: '记录.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('鹊桥计划在七月初七上线。'),
  });
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: '输入问题' }).fill('这里面说了什么？');
  await app.sendButton.click();
  await page.waitForURL(/\/chat\?/);
  await expect(app.log).toContainText('七月初七上线', { timeout: 15_000 });
  await expect(app.log).toContainText('[picture low image/jpeg]');
  await app.settled();
  const { list } = await person.client.call('historyList', { session_id: app.uuid() });
  expect(list).toHaveLength(1);
});

test('a photo from the camera is taken along; one in a form that no browser here reads says what to do @C12 @C18', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await app.openNew(person, 'mock-vision');
  const items = page.getByRole('list', { name: '要发送的附件' }).getByRole('listitem');
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: '拍照', exact: true }).click();
  const camera = await chooser;
  expect(await camera.element().getAttribute('capture')).toBe('environment');
  // Lying on its side, with the place where it was taken.
  const photo = await sharp(await picture(400, 200, 'jpeg', '#884422'))
    .withExif({ IFD0: { Make: 'SECRET' }, IFD3: { GPSLatitude: '31/1 0/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  await camera.setFiles({ name: 'IMG_1.jpg', mimeType: 'image/jpeg', buffer: photo });
  await expect(items).toHaveCount(1);
  const heic = Buffer.concat([
    Buffer.from([0, 0, 0, 24]),
    Buffer.from('ftypheic'),
    Buffer.alloc(99),
  ]);
  const avif = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#f00' } })
    .avif()
    .toBuffer();
  await page.getByLabel('从相册选择图片').setInputFiles([
    { name: 'IMG_2.HEIC', mimeType: 'image/heic', buffer: heic },
    { name: 'b.avif', mimeType: 'image/avif', buffer: avif },
  ]);
  await expect(page.getByText(/这个浏览器打不开 HEIC 照片，请先存成 jpg/)).toBeVisible();
  // One that the browser reads becomes a jpg.
  await expect(items).toHaveCount(2);
  await app.say('这是什么照片？');
  await expect(app.log).toContainText('[picture low image/jpeg]');
  await app.settled();
  const { list } = await person.client.call('historyList', { session_id: app.uuid() });
  const { images } = JSON.parse(list[0]?.human ?? '') as { images: string[] };
  expect(images).toHaveLength(2);
  const kept = await fetch(new URL(images[0] ?? '', page.url()));
  const { width, height, exif } = await sharp(await kept.arrayBuffer()).metadata();
  expect([width, height, exif]).toEqual([200, 400, undefined]);
});

test('a file that is refused for what it is offers no second try @C12', async ({
  app,
  page,
  person,
}) => {
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-chat' });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await page.getByRole('button', { name: '添加图片或文件' }).click();
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('dialog', { name: '添加' }).getByRole('button', { name: /文件/ }).click();
  const broken = {
    name: '坏.pdf',
    mimeType: 'application/pdf',
    buffer: Buffer.from('%PDF-1.7 no'),
  };
  await (await choosing).setFiles(broken);
  // Files are read in turn, those of the other tests, too.
  await expect(page.getByText(/上传失败：.*(损坏|无法读取)/)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('button', { name: '重试' })).toHaveCount(0);
});

test('an image that another program drew says so in the chat and where it is shared @wide', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  const plain = sharp({ create: { width: 320, height: 200, channels: 3, background: '#6a9' } });
  const drawn = withPngText(await plain.png().toBuffer(), 'parameters', 'a tree\nSteps: 9, ');
  const { image } = await person.client.upload(
    'uploadImage',
    new Blob([new Uint8Array(drawn)]),
    'tree.png',
  );
  const { uuid } = await person.client.call('newSession', { type: 0, model: 'mock-vision' });
  const said = { type: 'chat-vision', prompt: '这是什么树？', images: [image.url] };
  await person.client.call('sendMessage', {
    session_id: uuid,
    msg: JSON.stringify(said),
    format: 1,
  });
  await app.enterAs(person);
  await page.goto(`/chat?uuid=${uuid}`);
  await expect(page.getByText('疑似 AI 生成')).toBeVisible();
  const { key } = await person.client.call('shareSession', { session_id: uuid });
  await page.goto(`/share?key=${key}`);
  await expect(page.getByText('疑似 AI 生成')).toBeVisible();
});
