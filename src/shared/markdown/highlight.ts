import type { HLJSApi } from 'highlight.js';
import { aliases, languages } from './languages.ts';
import { lazyChunk } from './lazy-chunk.ts';

/** A stretch of one line in one colour; `scope` is a class of the highlighter, or empty. */
export interface Stretch {
  scope: string;
  text: string;
}

/** Longer code stays plain: colouring it would hold up the page. */
const mostCharacters = 30_000;

const languageOf = (label: string): string | null => {
  const name = (/^[^\s{,:]+/.exec(label)?.[0] ?? '').toLowerCase();
  const language = aliases[name] ?? name;
  return Object.hasOwn(languages, language) ? language : null;
};

const loadCore = lazyChunk(() => import('highlight.js/lib/core').then((module) => module.default));
const ready = new Set<string>();

const loadHighlighter = async (language: string): Promise<HLJSApi> => {
  const hljs = await loadCore();
  const load = languages[language];
  if (load && !ready.has(language)) {
    hljs.registerLanguage(language, (await lazyChunk(load)()).default);
    ready.add(language);
  }
  return hljs;
};

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/**
 * Reads the highlighter's own output (escaped text in spans) into lines of stretches, so that
 * nothing a model wrote is ever parsed as HTML by the browser.
 */
export const readHighlighted = (html: string): Stretch[][] => {
  const lines: Stretch[][] = [[]];
  const scopes: string[] = [];
  for (const [part] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (part === '</span>') scopes.pop();
    else if (part.startsWith('<span')) scopes.push(part.slice(13, -2));
    else {
      const text = part.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? '');
      const pieces = text.split('\n');
      for (const [at, piece] of pieces.entries()) {
        if (at > 0) lines.push([]);
        if (piece !== '') lines.at(-1)?.push({ scope: scopes.at(-1) ?? '', text: piece });
      }
    }
  }
  return lines;
};

/** Gives the coloured lines of a code, or null where it stays plain. */
export type Colour = (code: string) => Stretch[][] | null;

/**
 * Loads the highlighter and the language.
 * @param label what stands behind the opening fence; of an unknown language all code stays plain
 */
export const loadColour = async (label: string): Promise<Colour> => {
  const language = languageOf(label);
  if (language === null) return () => null;
  const hljs = await loadHighlighter(language);
  return (code) =>
    code.length > mostCharacters
      ? null
      : readHighlighted(hljs.highlight(code, { language, ignoreIllegals: true }).value);
};
