import type { Handlers } from '#server/http/handlers.ts';
import { Refusal } from '#server/http/handlers.ts';
import { help, type HelpPage } from './help.service.ts';

const present = ({ slug, title, summary }: HelpPage) => ({ slug, title, summary });

export const createHelpHandlers = (): Pick<Handlers, 'helpList' | 'helpPage'> => ({
  helpList: ({ query = '' }) => {
    const { pages, search } = help();
    if (query.trim() === '') return { list: pages.map(present) };
    const found = new Set(search(query, 20).map((hit) => hit.item.page));
    return { list: [...found].map(present) };
  },
  helpPage: ({ slug }) => {
    const page = help().page(slug);
    if (!page) throw new Refusal('not_found', '没有这一页帮助');
    return { slug: page.slug, title: page.title, content: page.content };
  },
});
