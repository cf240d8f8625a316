import type { HLJSApi } from 'highlight.js';
import { aliases, languages } from './languages.ts';

/** A stretch of one line in one colour; `scope` is a class of the highlighter, or empty. */
export interface Stretch {
  scope: string;
  text: string;
}

/** Longer code stays plain: nobody reads it for its colours. */
const mostCharacters = 30_000;

const languageOf = (label: string): string | null => {
  const name = (/^[^\s{,:]+/.exec(label)?.[0] ?? '').toLowerCase();
  const language = aliases[name] ?? name;
  return Object.hasOwn(languages, language) ? language : null;
};

const ready = new Set<string>();

const loadHighlighter = async (language: string): Promise<HLJSApi> => {
  const hljs = (await import('highlight.js/lib/core')).default;
  const load = languages[language];
  if (load && !ready.has(language)) {
    hljs.registerLanguage(language, (await load()).default);
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

/**
 * The coloured lines of a code, or null where it stays plain. Rejects while the highlighter or the
 * language can not be loaded.
 * @param label what stands behind the opening fence
 */
export const colour = async (code: string, label: string): Promise<Stretch[][] | null> => {
  const language = languageOf(label);
  if (language === null || code.length > mostCharacters) return null;
  const hljs = await loadHighlighter(language);
  return readHighlighted(hljs.highlight(code, { language, ignoreIllegals: true }).value);
};
