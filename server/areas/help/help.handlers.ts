import type { Handlers } from '#server/http/handlers.ts';
import { Refusal } from '#server/http/handlers.ts';
import { help, type HelpPage } from './help.service.ts';

const present = ({ slug, title, summary }: HelpPage, section = '') => ({
  slug,
  title,
  summary,
  section,
});

export const createHelpHandlers = (): Pick<Handlers, 'helpList' | 'helpPage'> => ({
  helpList: ({ query = '' }) => {
    const { pages, search } = help();
    if (query.trim() === '') return { list: pages.map((page) => present(page)) };
    // The best section of each page.
    const found = new Map<HelpPage, string>();
    for (const { item } of search(query, 20))
      if (!found.has(item.page)) found.set(item.page, item.heading);
    return { list: [...found].map(([page, section]) => present(page, section)) };
  },
  helpPage: ({ slug }) => {
    const page = help().page(slug);
    if (!page) throw new Refusal('not_found', '没有这一页帮助');
    return { slug: page.slug, title: page.title, content: page.content };
  },
});
