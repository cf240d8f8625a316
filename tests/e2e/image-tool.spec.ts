import type { FileChooser, Locator, Page } from '@playwright/test';
import sharp from 'sharp';
import type { Out } from '#contract/calls.ts';
import type { ImageModel } from '#contract/image.ts';
import { type App, expect, foreignServer, type Person, test } from '../support/app.ts';

const canvas = 'builtin-canvas';

/** The tool: a sheet on phones, beside the conversation on wide screens. */
const toolOf = (page: Page): Locator =>
  page
    .getByRole('dialog', { name: '画图工具' })
    .or(page.getByRole('complementary', { name: '画图工具' }));

const openTool = async (
  { app, page, person }: { app: App; page: Page; person: Person },
  search: Record<string, string>,
): Promise<{ tool: Locator; uuid: string }> => {
  await app.enterAs(person);
  const { uuid } = await person.client.call('newSession', { type: 1, model: canvas });
  await page.goto(`/chat?${new URLSearchParams({ uuid, open: 'img-tool', ...search }).toString()}`);
  const tool = toolOf(page);
  await expect(tool).toBeVisible();
  return { tool, uuid };
};

const goTo = (tool: Locator, name: string) => tool.getByRole('tab', { name, exact: true }).click();

/** What the page is told of the model: the tool is the same for services that no test connects. */
const asModel = (page: Page, change: Partial<ImageModel>) =>
  page.route('**/api/models', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: Out<'models'> };
    for (const model of body.data.models)
      if (model.name === canvas && model.image) Object.assign(model.image, change);
    await route.fulfill({ json: body });
  });

const askedFor = async (person: Person, uuid: string) => {
  const { list } = await person.client.call('historyList', { session_id: uuid });
  return list.map(({ human }) => JSON.parse(human) as Record<string, unknown>);
};

/** Brings pictures from this device into the selector that is open. */
const bring = async (page: Page, files: Parameters<FileChooser['setFiles']>[0]) => {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: /^(相册|上传图片)$/ }).click();
  await (await chooser).setFiles(files);
};

const slide = async (tool: Locator, name: string, value: number) => {
  await tool.getByRole('slider', { name }).fill(String(value));
};

test('the image tool: words from the library, the helper, sizes, a base image, a sketch @I2 @I3 @I4 @I5 @I8 @I9', async ({
  app,
  page,
  person,
}) => {
  test.skip(foreignServer, 'needs the service that the tests connect');
  await asModel(page, { sizes: ['1024x1024', '1024x576', '576x1024'] });
  await page.route('**/api/inscriptor', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 600));
    await route.continue();
  });
  const { tool, uuid } = await openTool({ app, page, person }, { tab: 'tags', prompt: '一只猫' });
  const box = page.getByLabel('画图提示词');

  // A touch puts a word behind the prompt, another takes it out; put-first ones come first.
  await expect(tool.getByRole('tab', { name: '标签', selected: true })).toBeVisible();
  // Beside the conversation of a small window it ends with its whole button.
  const phone = page.viewportSize();
  await page.setViewportSize({ width: 1024, height: 768 });
  await expect(tool.getByRole('button', { name: /^生成 ·/ })).toBeInViewport({ ratio: 1 });
  if (phone) await page.setViewportSize(phone);
  await tool.getByRole('button', { name: '杰作 masterpiece' }).click();
  await expect(box).toHaveValue('一只猫，杰作');
  const find = tool.getByRole('searchbox', { name: '搜索提示词' });
  await find.fill('neon');
  await tool.getByRole('button', { name: '霓虹灯光 neon light' }).click();
  await expect(box).toHaveValue('一只猫，杰作，霓虹灯光');
  await tool.getByRole('button', { name: '霓虹灯光 neon light' }).click();
  await find.fill('');
  await tool.getByRole('button', { name: '整理' }).click();
  await tool.getByRole('button', { name: '置顶 精致' }).click();
  await tool.getByRole('button', { name: '隐藏 高质量' }).click();
  await expect(tool.getByRole('button', { name: '隐藏 高质量' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await tool.getByRole('button', { name: '好了', exact: true }).click();
  await expect(tool.getByRole('region', { name: '置顶' }).getByRole('button')).toHaveText([/精致/]);
  await expect(tool.getByRole('button', { name: '高质量 high quality' })).toBeHidden();

  // The helper shows how far it is, and nothing is sent meanwhile.
  await goTo(tool, '提示助手');
  await tool.getByRole('button', { name: '翻译并扩写' }).click();
  await expect(tool.getByText('正在扩写…完成之前不能发送')).toBeVisible();
  await expect(tool.getByRole('button', { name: /^生成 ·/ })).toBeDisabled();
  const results = tool.getByRole('list', { name: '结果' });
  await expect(results.getByRole('listitem').first()).toContainText('您说：');
  await expect(tool.getByRole('button', { name: /^生成 ·/ })).toBeEnabled();
  await results.getByRole('button').first().click();
  await expect(box).toHaveValue(/^您说：您说：一只猫，杰作/);
  await tool.getByRole('button', { name: '恢复原来的描述' }).click();
  await expect(box).toHaveValue('一只猫，杰作');

  // What will be sent, flags and tags left out.
  await goTo(tool, '提示词');
  await tool.getByRole('textbox', { name: '画面描述' }).fill('一只猫 --ar 16:9 <lora:a:1> 看雪');
  await expect(tool.getByRole('region', { name: '将会发送' })).toContainText('一只猫 看雪');
  await expect(tool.getByRole('region', { name: '将会发送' })).not.toContainText('--ar');
  await tool.getByRole('textbox', { name: '不要出现' }).fill('文字');

  // A base image of another shape is cut to the nearest size.
  await goTo(tool, '参考图');
  await tool.getByRole('button', { name: /选一张参考图/ }).click();
  const picture = {
    create: { width: 300, height: 200, channels: 3, background: '#2266cc' },
  } as const;
  await bring(page, {
    name: 'a.jpg',
    mimeType: 'image/jpeg',
    buffer: await sharp(picture).jpeg().toBuffer(),
  });
  const crop = page.getByRole('dialog', { name: '裁剪图片' });
  await expect(crop.getByText('图片是 300×200')).toBeVisible();
  await expect(crop.getByRole('radio', { name: '1024×576' })).toBeChecked();
  await crop.getByRole('button', { name: '裁剪', exact: true }).click();
  await expect(crop).toBeHidden();
  await expect(tool.getByRole('img', { name: '参考图' })).toBeVisible();
  await slide(tool, '重绘幅度', 60);
  await tool.getByRole('radio', { name: '裁剪' }).check();
  await goTo(tool, '尺寸');
  await expect(tool.getByRole('radio', { name: '1024×576 横幅' })).toBeChecked();
  await slide(tool, '张数', 1);

  // A sketch guides it; without a kind of guidance nothing is sent.
  await goTo(tool, '构图控制');
  await tool.getByRole('button', { name: '选控制图' }).click();
  await page
    .getByRole('dialog', { name: '选择控制图' })
    .getByRole('list', { name: '上传的' })
    .getByRole('button')
    .first()
    .click();
  await expect(tool.getByText('请选择构图控制模型')).toBeVisible();
  await tool.getByRole('button', { name: /^生成 ·/ }).click();
  await expect(page.locator('.toast').filter({ hasText: '请选择构图控制模型' })).toBeVisible();
  await tool.getByRole('button', { name: '画草图' }).click();
  const pad = page.getByRole('dialog', { name: '画草图' });
  const paper = pad.getByRole('img', { name: '空白画板' });
  const area = await paper.boundingBox();
  if (!area) throw new Error('there is no paper');
  for (const part of [0.3, 0.6]) {
    await page.mouse.move(area.x + area.width * 0.2, area.y + area.height * part);
    await page.mouse.down();
    await page.mouse.move(area.x + area.width * 0.8, area.y + area.height * part, { steps: 4 });
    await page.mouse.up();
  }
  await expect(pad.getByRole('img', { name: '画了 2 笔' })).toBeVisible();
  await pad.getByRole('button', { name: '撤销' }).click();
  await expect(pad.getByRole('img', { name: '画了 1 笔' })).toBeVisible();
  await pad.getByRole('button', { name: '用这张草图' }).click();
  await expect(tool.getByRole('radio', { name: /Scribble/ })).toBeChecked();
  await expect(tool.getByRole('img', { name: '模型从控制图里看到的样子' })).toBeVisible();
  await tool.getByRole('radio', { name: '控制图优先' }).check();

  // All of it survives a reload, and is what is asked for.
  await page.reload();
  await page.getByRole('button', { name: '画图工具' }).click();
  await goTo(tool, '参考图');
  await expect(tool.getByRole('slider', { name: '重绘幅度' })).toHaveValue('60');
  await tool.getByRole('button', { name: /^生成 ·/ }).click();
  await expect.poll(async () => (await askedFor(person, uuid)).length).toBe(1);
  expect((await askedFor(person, uuid))[0]).toMatchObject({
    type: 'img2img',
    prompt: '一只猫 --ar 16:9 <lora:a:1> 看雪',
    image: {
      n: 1,
      size: 6,
      base_image: expect.stringMatching(/^\/files\//),
      strength: 60,
      resize_mode: 1,
      controlnet_image: expect.stringMatching(/^\/files\//),
      controlnet_module: 'scribble',
      controlnet_control_mode: 2,
      parameters: { negative_prompt: '文字' },
    },
  });
});

test('the image tool shows what the model takes: Midjourney, checkpoints and LoRAs, styles @I6 @I7 @I8 @I10', async ({
  app,
  page,
  person,
}) => {
  const change: Partial<ImageModel> = {
    family: 'midjourney',
    abilities: ['text-to-image', 'image-to-image', 'references'],
    default_count: 4,
    max_count: 4,
  };
  await asModel(page, change);
  const { tool } = await openTool({ app, page, person }, { tab: 'parameter', prompt: '一只猫' });
  const preview = tool.getByRole('region', { name: '将会发送' });
  const sent = async () => {
    await goTo(tool, '提示词');
    return (await preview.textContent())?.replace('将会发送', '') ?? '';
  };
  const again = async (next: Partial<ImageModel>) => {
    Object.assign(change, next);
    await page.reload();
    await page.getByRole('button', { name: '画图工具' }).click();
  };

  const tabs = () => tool.getByRole('tab').allTextContents();
  expect(await tabs()).toEqual(['提示助手', '提示词', '参数', '标签', '风格', '尺寸', '参考图']);
  const version = (name: string) => tool.getByRole('radio', { name, exact: true });
  await version('5.2').check();
  await slide(tool, '风格化', 750);
  await slide(tool, '变化', 20);
  await slide(tool, '奇异', 3000);
  await slide(tool, '提前停止', 10);
  await tool.getByRole('radio', { name: '.5', exact: true }).check();
  await tool.getByRole('switch', { name: '无缝平铺' }).check();
  await goTo(tool, '风格');
  await tool.getByRole('radio', { name: '原始' }).check();
  await goTo(tool, '尺寸');
  await tool.getByRole('radio', { name: '1.85:1 横幅' }).check();
  await expect(tool.getByText('每次画 4 张')).toBeVisible();
  expect(await sent()).toBe(
    '一只猫 --ar 37:20 --v 5.2 --style raw --stylize 750 --chaos 20 --weird 3000 --quality .5 --stop 10 --tile',
  );
  // The anime model has other versions and styles.
  await goTo(tool, '参数');
  await tool.getByRole('radio', { name: '动漫（niji）' }).check();
  await expect(version('6')).toBeChecked();
  await expect(version('5.1')).toBeDisabled();
  await expect(version('5.2')).toBeDisabled();
  await goTo(tool, '风格');
  await tool.getByRole('radio', { name: '场景' }).check();
  await expect(tool.getByRole('radio', { name: '原始' })).toBeHidden();
  expect(await sent()).toMatch(/^一只猫 --ar 37:20 --niji 6 --style scenic --stylize 750/);

  // At most three pictures of a style, each once.
  await goTo(tool, '参数');
  const files = await Promise.all(
    ['#a11', '#1a1', '#11a', '#aa1'].map(async (background, at) => ({
      name: `${at}.png`,
      mimeType: 'image/png',
      buffer: await sharp({ create: { width: 64, height: 64, channels: 3, background } })
        .png()
        .toBuffer(),
    })),
  );
  await tool.getByRole('button', { name: '添加风格参考图' }).click();
  await bring(page, files.slice(0, 3));
  await page.getByRole('button', { name: '选好了（3/3）' }).click();
  const styles = tool.getByRole('group', { name: '风格参考图' });
  await expect(styles.getByRole('img')).toHaveCount(3);
  await tool.getByRole('button', { name: '添加风格参考图' }).click();
  await expect(page.getByText('图片数量不能大于3张')).toBeVisible();
  await tool.getByRole('button', { name: '移除风格参考图 第 2 张' }).click();
  await expect(styles.getByRole('img')).toHaveCount(2);
  await slide(tool, '风格强度', 1000);
  await tool.getByRole('radio', { name: '版本 2' }).check();
  expect(await sent()).toMatch(/ --sw 1000 --sv 2 --sref \/files\/\S+ \/files\/\S+$/);

  // Stable Diffusion: checkpoints with their price, LoRAs with their weight; one picture of SD 3.
  await page.route('**/api/image/metadata*', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { data: Out<'imageMetadata'> };
    body.data.loras = [{ key: 'ink', label: '水墨' }];
    await route.fulfill({ json: body });
  });
  await again({
    family: 'stable-diffusion',
    abilities: ['text-to-image', 'image-to-image', 'lora', 'seed'],
    checkpoints: [
      { name: 'dream', label: '梦境', factor: null },
      { name: 'real', label: '写实', factor: 30 },
    ],
    default_checkpoint: 'dream',
    default_count: 2,
    max_count: 10,
  });
  await goTo(tool, '底模');
  await tool.getByRole('radio', { name: /写实/ }).check();
  await expect(tool.getByRole('button', { name: '生成 · 60 tokens' })).toBeVisible();
  await tool.getByRole('button', { name: '水墨' }).click();
  await expect(tool.getByRole('slider', { name: '水墨' })).toHaveValue('70');
  await slide(tool, '水墨', 40);
  expect(await sent()).toBe('一只猫 <lora:ink:0.4>');
  await goTo(tool, '参数');
  await expect(tool.getByRole('slider', { name: '步数' })).toHaveAttribute('max', '150');

  await again({ family: 'sd3', sizes: ['1024x1024'], checkpoints: [] });
  await goTo(tool, '参考图');
  await tool.getByRole('button', { name: /选一张参考图/ }).click();
  const uploaded = page.getByRole('list', { name: '上传的' });
  await uploaded.getByRole('button').first().click();
  await expect(page.getByText('用参考图时这个模型一次只画 1 张，张数已改为 1')).toBeVisible();
  await page
    .getByRole('dialog', { name: '裁剪图片' })
    .getByRole('button', { name: '关闭' })
    .click();
  await expect(tool.getByText(/图片是 64×64，不在这个模型的尺寸里/)).toBeVisible();
  await goTo(tool, '尺寸');
  await expect(tool.getByText('用参考图时这个模型一次画 1 张。')).toBeVisible();
  await expect(tool.getByRole('slider', { name: '张数' })).toHaveCount(0);

  // The cloud model has eighteen styles, DALL·E two.
  await again({ family: 'cloud', abilities: ['text-to-image'], sizes: [] });
  await goTo(tool, '风格');
  await expect(tool.getByRole('radio')).toHaveCount(19);
  await tool.getByRole('radio', { name: '青花瓷' }).check();
  await goTo(tool, '参数');
  await tool.getByRole('switch', { name: /标识/ }).check();
  await tool.getByRole('switch', { name: /润色/ }).uncheck();
  await again({ family: 'dalle', abilities: ['text-to-image'], max_count: 1 });
  await goTo(tool, '风格');
  await expect(tool.getByRole('radio')).toHaveCount(2);
  await expect(tool.getByRole('tab', { name: '参考图' })).toHaveCount(0);
});
