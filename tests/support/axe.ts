import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type Axe from 'axe-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Levels A and AA of WCAG 2.0 to 2.2; `color-contrast` is the only one of them that a theme can break. */
const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export interface Look {
  theme: 'wechat' | 'telegram';
  dark: boolean;
}
export const looks: readonly Look[] = [
  { theme: 'wechat', dark: false },
  { theme: 'wechat', dark: true },
  { theme: 'telegram', dark: false },
  { theme: 'telegram', dark: true },
];

/**
 * What axe finds on what is shown now, a line each: the rule, where, and why. In the first look with all
 * rules, in the others for colours, which is all that a theme changes.
 * @param within a selector: looks at nothing else
 */
export const audit = async (
  page: Page,
  inLooks: readonly Look[] = looks,
  within?: string,
): Promise<string[]> => {
  // It is half a megabyte: once for as long as the page lives.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  return page.evaluate(
    async ({ all, tags, inside }) => {
      const { axe } = window as unknown as { axe: typeof Axe };
      const root = document.documentElement;
      const before = { theme: root.dataset['theme'], dark: root.dataset['dark'] };
      const put = (to: { theme?: string | undefined; dark?: string | undefined }) => {
        root.dataset['theme'] = to.theme;
        root.dataset['dark'] = to.dark;
      };
      const found = new Set<string>();
      for (const [at, { theme, dark }] of all.entries()) {
        put({ theme, dark: dark ? '1' : '0' });
        // A menu that closed by itself meanwhile, as when its table was read again.
        if (inside && !document.querySelector(inside)) break;
        const { violations } = await axe.run(inside ?? document, {
          runOnly:
            at === 0 ? { type: 'tag', values: tags } : { type: 'rule', values: ['color-contrast'] },
          resultTypes: ['violations'],
        });
        for (const { id, nodes } of violations)
          for (const { target, failureSummary = '', html } of nodes)
            found.add(
              [
                `${id} in ${theme}${dark ? ', dark' : ''}: ${target.join(' ')}`,
                failureSummary.split('\n').slice(1, 2).join('').trim(),
                html.slice(0, 160),
              ].join(' | '),
            );
      }
      put(before);
      return [...found];
    },
    { all: inLooks, tags: levels, inside: within },
  );
};

/** Acts that end the walk, cost something or change what others see: not pressed. */
const notPressed =
  /退出|注销|登录|发送|生成|支付|付款|充值|停止|重试|重新|清空|清除|朗读|说话|录|下载|收起|返回|通过|退回|采纳|赞|喜欢|安装|卸载|立即|运行|检查|备份|同步|恢复|保存|上一|下一|加载|不再|不收|收款|沙箱|自己的网络|就用/;

export const dialogs = '[role="dialog"], [role="alertdialog"]';

/**
 * Presses the buttons of the screen, one of a name, and calls `seen` with the name of each that opened a
 * dialog or a menu, while it stands open; then closes it. Ends where a press led to another address.
 * @param pressed names that were pressed elsewhere already, and are not again
 */
export const openDialogs = async (
  page: Page,
  seen: (name: string) => Promise<void>,
  { pressed = new Set<string>(), most = 12 } = {},
): Promise<void> => {
  const before = page.url();
  const buttons = await page.evaluate((not) => {
    const found: { at: string; kind: string; name: string }[] = [];
    for (const [at, button] of [
      ...document.querySelectorAll<HTMLElement>('#root button'),
    ].entries()) {
      const name = (button.ariaLabel ?? button.innerText).trim();
      const kind = name.replaceAll(/[\d\s]+|“.*”|[：·].*/gs, '');
      if (button.matches(':disabled, [role=tab], [role=radio], [aria-pressed]')) continue;
      if (!button.checkVisibility() || kind === '' || new RegExp(not).test(name)) continue;
      button.dataset['press'] = String(at);
      found.push({ at: String(at), kind, name: name.slice(0, 20) });
    }
    return found;
  }, notPressed.source);
  let done = 0;
  for (const { at, kind, name } of buttons) {
    if (done >= most) return;
    if (pressed.has(kind)) continue;
    const button = page.locator(`#root [data-press="${at}"]`);
    if ((await button.count()) !== 1 || !(await button.isVisible())) continue;
    pressed.add(kind);
    done += 1;
    // Not by the mouse: a head or a bar may stand over it.
    await button.evaluate((element: HTMLElement) => element.click());
    const dialog = page.locator(dialogs).last();
    const opened = await dialog.waitFor({ state: 'visible', timeout: 400 }).then(
      () => true,
      () => false,
    );
    if (page.url() !== before && !opened) return;
    if (!opened) continue;
    await seen(name);
    for (let times = 0; times < 4 && (await page.locator(dialogs).count()) > 0; times += 1) {
      await page.keyboard.press('Escape');
      await page.waitForTimeout(60);
    }
    if (page.url() !== before || (await page.locator(dialogs).count()) > 0) return;
  }
};
