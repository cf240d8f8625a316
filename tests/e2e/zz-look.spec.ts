import { test } from '../support/app.ts';
import { paint } from '../support/pictures.ts';
for (const where of ['', ' on a desktop'])
  test(`look${where}`, async ({ app, page, person }, info) => {
    test.setTimeout(300_000);
    page.setDefaultTimeout(6000);
    await app.enterAs(person);
    const { sent } = await paint(
      person.client,
      '雪山上的大熊猫吃苹果，背景是远处连绵的山脉与晨雾',
      { image: { n: 2, size: 0 } },
    );
    const size = info.project.name;
    const step = async (name: string, act: () => Promise<unknown>) => {
      try {
        await act();
        for (const scheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: scheme });
          await page.waitForTimeout(250);
          await page.screenshot({ path: `/tmp/s24/${name}-${size}-${scheme}.png` });
        }
      } catch (error) {
        console.log('STEP', name, String(error).slice(0, 300));
      }
      await page.emulateMedia({ colorScheme: 'light' });
    };
    const { uuid } = await person.client
      .call('newSession', { type: 0, model: '内置助手' })
      .catch(() => ({ uuid: '' }));
    await step('home', async () => {
      await page.goto('/');
      await page.waitForTimeout(1500);
      await page.getByRole('textbox', { name: '输入问题' }).fill('写了一点');
    });
    await step('home-priced', async () => {
      await page.goto('/?tab=imagine&new=1');
      await page.waitForTimeout(1500);
    });
    await step('chat', async () => {
      await page.goto('/');
      await page.getByRole('textbox', { name: '输入问题' }).fill('用一张表比较三种排序算法');
      await page.keyboard.press('Control+Enter');
      await app.sendButton.click().catch(() => {});
      await page.waitForURL(/chat/);
      await page.waitForTimeout(4000);
    });
    await step('chat-up', async () => {
      await app.say('再写长一点，写一首诗');
      await page.waitForTimeout(4000);
      await app.log.hover();
      await page.mouse.wheel(0, -900);
      await page.waitForTimeout(700);
    });
    await step('image', async () => {
      await page.goto(`/chat?uuid=${sent.uuid}`);
      await page.waitForTimeout(2500);
    });
    await step('image-progress', async () => {
      await page
        .getByRole('textbox', { name: /描述|输入/ })
        .first()
        .fill('一只猫');
      await page.getByRole('button', { name: /^生成/ }).click();
      await page.waitForTimeout(1800);
    });
    await step('viewer', async () => {
      await page.waitForTimeout(5000);
      await app.log.locator('[data-message] button:has(img)').first().click();
      await page.waitForTimeout(1500);
    });
    await step('tasks', async () => {
      await page.goto('/tasks');
      await page.waitForTimeout(1500);
    });
    await step('tool', async () => {
      await page.goto(`/chat?uuid=${sent.uuid}&open=img-tool&tab=img2img`);
      await page.waitForTimeout(2500);
    });
    void uuid;
  });
