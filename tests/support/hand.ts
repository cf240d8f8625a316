import { expect } from 'vitest';
import type { Driven } from './engines.ts';

/** As long as something may take to be there, ms. */
const patience = 15_000;

/** In the page: what is to be seen and not behind something, by its role and the words it is named with. */
const inPage = `
  const named = {
    button: 'button, [role=button]',
    link: 'a[href]',
    textbox: 'input:not([type=hidden]), textarea, [role=textbox]',
    tab: '[role=tab]',
    dialog: '[role=dialog], [role=alertdialog]',
    log: '#root [role=log]',
    main: 'main',
    any: 'body *',
  };
  const nameOf = (each) =>
    (each.getAttribute('aria-label') ??
      ([...(each.labels ?? [])].map((label) => label.textContent).join(' ') ||
      each.textContent || each.placeholder || '')).trim();
  const isSeen = (each) => {
    const { width, height } = each.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(each).visibility !== 'hidden' &&
      !each.closest('[inert], [aria-hidden=true]');
  };
  const find = (role, name) => {
    const all = [...document.querySelectorAll(named[role])].filter(isSeen);
    return all.find((each) => nameOf(each) === name) ?? all.find((each) => nameOf(each).includes(name));
  };
`;

export type Role = 'button' | 'link' | 'textbox' | 'tab' | 'dialog' | 'log' | 'main' | 'any';

/** What a person's hand does in a page of any engine. */
export const handOn = (browser: Driven) => {
  const inside = <T>(expression: string): Promise<T> =>
    browser.read<T>(`(async () => { ${inPage} return ${expression}; })()`);
  const at = (role: Role, name: string) => `find(${JSON.stringify(role)}, ${JSON.stringify(name)})`;
  const poll = (read: () => Promise<unknown>, message: string, timeout = patience) =>
    expect.poll(() => read().catch((error: unknown) => String(error)), {
      timeout,
      message,
      // Each look runs a script in the page: the page is left some time between them.
      interval: 500,
    });
  /** Where it stands once it stands still, px. */
  const placeOf = async (role: Role, name: string): Promise<[number, number]> => {
    let place: [number, number] = [0, 0];
    const look = async () => {
      const found = await inside<[number, number] | string>(`(async () => {
        const it = ${at(role, name)};
        if (!it || it.disabled) return it ? 'is disabled' : 'is not there';
        it.scrollIntoView({ block: 'center', behavior: 'instant' });
        const before = it.getBoundingClientRect();
        await new Promise((resolve) => setTimeout(resolve, 60));
        const { left, top, width, height } = it.getBoundingClientRect();
        if (before.top !== top || before.left !== left) return 'moves';
        const [x, y] = [left + width / 2, top + height / 2];
        const hit = document.elementFromPoint(x, y);
        const isIt = hit && (it.contains(hit) || hit.contains(it) || hit.closest('label'));
        return isIt ? [x, y] : 'is behind ' + hit?.outerHTML.slice(0, 200);
      })()`);
      if (typeof found === 'string') return found;
      place = found;
      return 'is there';
    };
    await poll(look, `${role} ${name}`).toBe('is there');
    return place;
  };
  const press = async (role: Role, name: string) => browser.press(...(await placeOf(role, name)));
  return {
    goto: browser.goto,
    press,
    /** Presses a box and writes into it, in place of what it held. */
    write: async (name: string, text: string) => {
      await press('textbox', name);
      await inside(`(() => {
        const box = ${at('textbox', name)};
        box.focus();
        box.select();
        return document.execCommand('insertText', false, ${JSON.stringify(text)});
      })()`);
    },
    valueOf: (name: string) => inside<string>(`${at('textbox', name)}?.value ?? null`),
    /** Waits until something is to be seen. */
    see: async (role: Role, name: string, timeout = patience) => {
      await poll(() => inside(`${at(role, name)} !== undefined`), `${role} ${name}`, timeout).toBe(
        true,
      );
    },
    see_not: async (role: Role, name: string) => {
      await poll(() => inside(`${at(role, name)} === undefined`), `no ${role} ${name}`).toBe(true);
    },
    /** Waits until a place holds words. */
    reads: async (role: Role, name: string, words: string | RegExp, timeout = patience) => {
      await poll(
        () => inside<string>(`${at(role, name)}?.innerText ?? ''`),
        `${role} ${name}`,
        timeout,
      ).toMatch(words);
    },
    inside,
    poll,
  };
};
