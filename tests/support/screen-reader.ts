import { fileURLToPath } from 'node:url';
import type { virtual } from '@guidepup/virtual-screen-reader';
import { expect, type Page } from '@playwright/test';
import { build } from 'esbuild';

declare global {
  interface Window {
    /** Put into the page by `start`. */
    screenReader: typeof virtual;
  }
}

const source = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve('@guidepup/virtual-screen-reader/browser.js'))],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    globalName: 'bundle',
    footer: { js: 'window.screenReader = bundle.virtual;' },
  });
  return outputFiles[0]?.text ?? '';
};

/** Items that are gone through before what is looked for counts as not there. */
const most = 250;

/** Somebody who sees nothing: hears one item after the other, presses what is named, and types. */
export class ScreenReader {
  readonly #page: Page;
  #code = '';

  constructor(page: Page) {
    this.#page = page;
  }

  /** Listens from the beginning of what the page is now. */
  async start(): Promise<void> {
    this.#code ||= await source();
    // The first HTML has a box of its own.
    await this.#page.locator('#root').getByRole('main').first().waitFor();
    const there = await this.#page.evaluate(() => 'screenReader' in window);
    // Evaluated by the browser's own tools: the page's content policy would let no script in.
    if (!there) await this.#page.evaluate(this.#code);
    await this.#page.evaluate(async () => {
      await window.screenReader.stop();
      await window.screenReader.start({ container: document.body });
    });
  }

  /** Goes on from item to item until one is said like this; gives the words. */
  async find(what: RegExp): Promise<string> {
    const { found, heard } = await this.#page.evaluate(
      async ({ pattern, limit }) => {
        const wanted = new RegExp(pattern);
        const heard: string[] = [];
        for (let at = 0; at < limit; at += 1) {
          const said = await window.screenReader.lastSpokenPhrase();
          heard.push(said);
          if (wanted.test(said)) return { found: said, heard };
          await window.screenReader.next();
        }
        return { found: '', heard };
      },
      { pattern: what.source, limit: most },
    );
    expect(found, `${what.source} among: ${heard.join(' | ')}`).not.toBe('');
    return found;
  }

  /** Presses an item that is said like this. */
  async press(what: RegExp): Promise<void> {
    await this.find(what);
    await this.#page.evaluate(() => window.screenReader.act());
  }

  /** Types into the field that is said like this. */
  async type(what: RegExp, text: string): Promise<void> {
    await this.find(what);
    await this.#page.evaluate(async (words) => {
      await window.screenReader.act();
      await window.screenReader.type(words);
    }, text);
  }

  /** All that was said since it was asked last, announcements among them. */
  async heard(): Promise<string[]> {
    return this.#page.evaluate(async () => {
      const said = await window.screenReader.spokenPhraseLog();
      await window.screenReader.clearSpokenPhraseLog();
      return said;
    });
  }
}
