import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { withoutMarks } from '#common/markdown/plain.ts';
import { withFacts } from './facts.ts';
import { createSearch, type Hit } from './search.ts';

export interface HelpPage {
  slug: string;
  title: string;
  summary: string;
  /** Markdown without the title. */
  content: string;
  order: number;
}

export interface HelpSection {
  page: HelpPage;
  /** Empty for what stands before the first heading. */
  heading: string;
  /** Markdown below the heading. */
  text: string;
}

export interface HelpService {
  /** In the order of the contents. */
  pages: readonly HelpPage[];
  page: (slug: string) => HelpPage | null;
  /** The sections that answer a question best, best first. Empty: nothing on it. */
  search: (query: string, most: number) => Hit<HelpSection>[];
}

/** Beside this module in development, in help/pages beside the bundle in production. */
const pagesFolder = (): string => {
  const here = path.join(import.meta.dirname, 'pages');
  return existsSync(here) ? here : path.join(import.meta.dirname, 'help', 'pages');
};

/** A picture of the product: shown on the page, not searched and not quoted. */
const picture = /^!\[[^\]]*\]\([^)]*\)\n*/gm;

/**
 * A page begins with `---`, lines of `name: value` (title, order, keywords), `---`; its first
 * paragraph is its summary. `{{name}}` stands for a number of the contract (facts.ts). Words that people ask with and that the text does not hold stand in
 * keywords: those of the page in its head, those of a section in `<!-- keywords: … -->` below its
 * heading.
 */
const keywordsOf = /<!--\s*keywords:(.*?)-->\n?/s;

const readPage = (slug: string, source: string): { page: HelpPage; keywords: string } => {
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(source) ?? [];
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(head)?.[1]?.trim() ?? '';
  const title = field('title');
  if (title === '') throw new Error(`the help page ${slug} has no title`);
  const content = body.trim();
  return {
    page: {
      slug,
      title,
      summary: withoutMarks(content.split('\n\n')[0] ?? '').replaceAll('\n', ''),
      content,
      order: Number(field('order')) || 1000,
    },
    keywords: field('keywords'),
  };
};

const load = (): HelpService => {
  const folder = pagesFolder();
  const read = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) =>
      readPage(
        name.slice(0, -'.md'.length),
        withFacts(readFileSync(path.join(folder, name), 'utf8')),
      ),
    )
    .sort((a, b) => a.page.order - b.page.order);
  const sections = read.flatMap(({ page, keywords }) =>
    page.content
      .replaceAll(picture, '')
      .split(/^(?=## )/m)
      .map((part) => {
        const heading = /^## (.*)\n/.exec(part);
        const text = heading ? part.slice(heading[0].length) : part;
        return {
          item: { page, heading: heading?.[1] ?? '', text: text.replace(keywordsOf, '').trim() },
          fields: {
            title: page.title,
            heading: heading?.[1] ?? '',
            keywords: keywordsOf.exec(text)?.[1] ?? '',
            /** Of the page: weaker, as they stand for all its sections. */
            topic: keywords,
            text: text.replace(keywordsOf, ''),
          },
        };
      }),
  );
  const search = createSearch(sections);
  const pages = read.map(({ page }) => ({
    ...page,
    content: page.content.replaceAll(new RegExp(keywordsOf, 'gs'), ''),
  }));
  return {
    pages,
    page: (slug) => pages.find((page) => page.slug === slug) ?? null,
    search,
  };
};

let loaded: HelpService | undefined;

/** The product's help. The pages are part of the program: read once, on the first call. */
export const help = (): HelpService => {
  loaded ??= load();
  return loaded;
};
