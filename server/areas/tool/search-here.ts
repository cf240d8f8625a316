import type { KnowledgeService } from '../embedding/embedding.service.ts';
import { help } from '../help/help.service.ts';
import { findSessions, snippetsOf, wordsOf } from '../session/search.service.ts';
import { inSearchTurn } from '../session/search-turns.ts';
import { textOf, texts, type Tool, type ToolContext } from './tool.ts';
import { sessionNames } from './tool.store.ts';

/** So many of each kind are told, with so many letters of each. */
const most = 5;
const letters = 300;
/** So many knowledge bases of one's own are looked into. */
const mostBases = 3;

const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[[\]]/g, ' ').trim().slice(0, letters);

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`**${title}**\n\n${lines.join('\n')}`];

const inSessions = async (
  { db, user, sessionId }: ToolContext,
  query: string,
  scope: { in: 'own'; userId: number } | { in: 'forum' },
): Promise<string[]> => {
  const words = wordsOf(query);
  if (words.length === 0 || (scope.in === 'own' && scope.userId !== user.id)) return [];
  const all = await inSearchTurn(query, user, () => findSessions(db, words, scope, {}));
  const found = all.filter(({ id }) => id !== sessionId).slice(0, most);
  const ids = found.map(({ id }) => id);
  const names = await sessionNames(db, ids);
  const snippets = await snippetsOf(
    db,
    found.map(({ historyId }) => historyId),
    words,
  );
  return found.flatMap(({ id, historyId }) => {
    const name = names.get(id);
    if (!name) return [];
    const address = `/chat?uuid=${name.uuid}&history_id=${historyId}`;
    const around = oneLine(snippets.get(historyId)?.snippet ?? '');
    return `- [${oneLine(name.title).slice(0, 60) || '会话'}](${address})：${around}`;
  });
};

/** Looks through what its person has here, with the searches that the pages have. */
export const createSearchHere = (
  knowledge: Pick<KnowledgeService, 'list' | 'tryOut' | 'mayAsk'>,
): Tool => ({
  label: '站内搜索',
  seconds: 15,
  own: true,
  spec: {
    name: 'search_here',
    description: '查找用户自己的会话、知识库，和本站的论坛与帮助',
    parameters: texts({ query: '词，以空格分开' }),
  },
  // What it finds is its person's alone, and the answer that tells of it is not.
  asks: (given, { open }) =>
    open
      ? `在您自己的会话和知识库里查找“${textOf(given, 'query', 100)}”？\n这个会话是公开的，写进回答的内容别人也看得到。`
      : null,
  run: async (given, context) => {
    const query = textOf(given, 'query', 100);
    const { db, user } = context;
    const bases = (await knowledge.list(db, user.id)).filter(({ mine }) => mine);
    const passages = [];
    for (const base of bases.slice(0, mostBases)) {
      const mayAsk = knowledge.mayAsk(user);
      const list = await knowledge.tryOut(db, base.key, query, user.id, mayAsk);
      passages.push(
        ...list
          .filter(({ fits, used }) => fits || used)
          .slice(0, 2)
          .map(({ title, text }) => `- 知识库「${base.name}」${oneLine(title)}：${oneLine(text)}`),
      );
    }
    const pages = help()
      .search(query, 3)
      .filter(({ coverage }) => coverage >= 0.5)
      .map(
        ({ item: { page, text } }) =>
          `- [${page.title}](/help?page=${page.slug})：${oneLine(text).slice(0, 120)}`,
      );
    const text = [
      ...section('我的会话', await inSessions(context, query, { in: 'own', userId: user.id })),
      ...section('知识库', passages),
      ...section('论坛', await inSessions(context, query, { in: 'forum' })),
      ...section('帮助', pages),
    ].join('\n\n');
    return { text: text === '' ? `没有找到“${query}”` : text };
  },
});
