import { fileURLToPath } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { build } from 'esbuild';

/** What the virtual screen reader does within the page; a bundle puts it there under this name. */
interface Virtual {
  start: (where: { container: Node }) => Promise<void>;
  stop: () => Promise<void>;
  next: () => Promise<void>;
  act: () => Promise<void>;
  type: (text: string) => Promise<void>;
  lastSpokenPhrase: () => Promise<string>;
  spokenPhraseLog: () => Promise<string[]>;
  clearSpokenPhraseLog: () => Promise<void>;
}

const source = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve('@guidepup/virtual-screen-reader/browser.js'))],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    globalName: 'screenReader',
    footer: { js: 'window.screenReader = screenReader;' },
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
      const { virtual } = (window as unknown as { screenReader: { virtual: Virtual } })
        .screenReader;
      await virtual.stop();
      await virtual.start({ container: document.body });
    });
  }

  /** Goes on from item to item until one is said like this; gives the words. */
  async find(what: RegExp): Promise<string> {
    const { found, heard } = await this.#page.evaluate(
      async ({ pattern, limit }) => {
        const { virtual } = (window as unknown as { screenReader: { virtual: Virtual } })
          .screenReader;
        const wanted = new RegExp(pattern);
        const heard: string[] = [];
        for (let at = 0; at < limit; at += 1) {
          const said = await virtual.lastSpokenPhrase();
          heard.push(said);
          if (wanted.test(said)) return { found: said, heard };
          await virtual.next();
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
    await this.#do('act');
  }

  /** Types into the field that is said like this. */
  async type(what: RegExp, text: string): Promise<void> {
    await this.find(what);
    await this.#page.evaluate(async (words) => {
      const { virtual } = (window as unknown as { screenReader: { virtual: Virtual } })
        .screenReader;
      await virtual.act();
      await virtual.type(words);
    }, text);
  }

  /** All that was said since it was asked last, announcements among them. */
  async heard(): Promise<string[]> {
    return this.#page.evaluate(async () => {
      const { virtual } = (window as unknown as { screenReader: { virtual: Virtual } })
        .screenReader;
      const said = await virtual.spokenPhraseLog();
      await virtual.clearSpokenPhraseLog();
      return said;
    });
  }

  async #do(act: 'act' | 'next'): Promise<void> {
    await this.#page.evaluate(async (name) => {
      const { virtual } = (window as unknown as { screenReader: { virtual: Virtual } })
        .screenReader;
      await virtual[name]();
    }, act);
  }
}
