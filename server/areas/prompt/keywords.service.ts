import type { Out, Parsed } from '#contract/calls.ts';
import { type ManagedKeyword, mostKeywords } from '#contract/prompt.ts';
import type { Executor } from '#server/db/database.ts';
import { type ActNote, Refusal } from '#server/http/handlers.ts';
import { pageOf } from '#server/paging.ts';
import { type Keyword, keywordsOf } from './keywords.ts';
import * as store from './keywords.store.ts';

type Note = (act: ActNote) => void;

const ownWord = ({ id, type, word, langZh, dir, subDir }: store.KeywordRow): Keyword => ({
  id,
  type,
  text: word,
  langZh,
  dir,
  subDir,
});

/** The library as people are offered it: the program's words as managers changed them, and theirs. */
export const library = async (db: Executor, type?: Keyword['type']): Promise<Keyword[]> => {
  const rows = await store.keywordRows(db);
  if (rows.length === 0) return [...keywordsOf(type)];
  const instead = new Map(rows.map((row) => [row.id, row]));
  const words = keywordsOf().flatMap((word) => {
    const row = instead.get(word.id);
    if (!row) return [word];
    return row.removed ? [] : [ownWord(row)];
  });
  const added = rows.filter(({ id }) => id >= store.firstOwn).reverse();
  return [...words, ...added.map(ownWord)].filter(
    (word) => type === undefined || word.type === type,
  );
};

const viewOf = (word: Keyword, row: store.KeywordRow | undefined): ManagedKeyword => {
  const builtIn = word.id < store.firstOwn;
  const shown = row ? ownWord(row) : word;
  return {
    id: shown.id,
    text: shown.text,
    lang_zh: shown.langZh,
    type: shown.type,
    dir: shown.dir,
    sub_dir: shown.subDir,
    built_in: builtIn ? 1 : 0,
    changed: builtIn && row && !row.removed ? 1 : 0,
    removed: row?.removed ? 1 : 0,
  };
};

/** All of it for managers, their own words first. */
const everything = async (db: Executor): Promise<ManagedKeyword[]> => {
  const rows = await store.keywordRows(db);
  const known = new Map(rows.map((row) => [row.id, row]));
  return [
    ...rows.filter(({ id }) => id >= store.firstOwn).map((row) => viewOf(ownWord(row), row)),
    ...keywordsOf().map((word) => viewOf(word, known.get(word.id))),
  ];
};

export const keywordPage = async (
  db: Executor,
  { page, page_size: size, query, type, state }: Parsed<'manageKeywordList'>,
): Promise<Out<'manageKeywordList'>> => {
  const all = await everything(db);
  const wanted = (query ?? '').trim().toLowerCase();
  const fitting = all.filter(
    (word) =>
      (type === undefined || word.type === type) &&
      (state === undefined || (state === 'own' ? !word.built_in : word[state] === 1)) &&
      `${word.text}\n${word.lang_zh}\n${word.dir}\n${word.sub_dir}`.toLowerCase().includes(wanted),
  );
  return {
    list: fitting.slice((page - 1) * size, page * size),
    ...pageOf(fitting.length, page, size),
    dirs: [...new Set(all.map(({ dir, sub_dir }) => `${dir} · ${sub_dir}`))],
  };
};

const found = async (db: Executor, id: number): Promise<ManagedKeyword> => {
  const word = (await everything(db)).find((each) => each.id === id);
  if (!word) throw new Refusal('not_found', '没有这个关键词');
  return word;
};

/** @throws Refusal not_found, bad_input, manage_unsuitable */
export const saveKeyword = async (
  db: Executor,
  input: Parsed<'manageKeyword'>,
  note: Note,
): Promise<number> => {
  await store.lockKeywords(db);
  const before = input.id === undefined ? null : await found(db, input.id);
  const text = input.text.toLowerCase();
  if (
    (await library(db, input.type)).some(
      (word) => word.id !== input.id && word.text.toLowerCase() === text,
    )
  )
    throw new Refusal('bad_input', 'text 这一类里已经有这个词');
  if (!before && (await store.countOwn(db)) >= mostKeywords)
    throw new Refusal('manage_unsuitable', `最多添加 ${mostKeywords} 个关键词`);
  const values = {
    type: input.type,
    word: input.text,
    langZh: input.lang_zh,
    dir: input.dir,
    subDir: input.sub_dir,
    removed: false,
  };
  const id = before?.id ?? (await store.addKeyword(db, values));
  if (before) await store.putKeyword(db, { id, ...values });
  const { id: _id, ...to } = input;
  note({
    subject: `keyword:${id}`,
    ...(before && {
      from: {
        type: before.type,
        text: before.text,
        lang_zh: before.lang_zh,
        dir: before.dir,
        sub_dir: before.sub_dir,
      },
    }),
    to,
  });
  return id;
};

/** Takes a word away, or gives one of the program back as it came. @throws Refusal not_found */
export const removeKeyword = async (
  db: Executor,
  { id, restore }: Parsed<'removeKeyword'>,
  note: Note,
): Promise<void> => {
  await store.lockKeywords(db);
  const word = await found(db, id);
  if (restore === 1 || !word.built_in) await store.dropKeyword(db, id);
  else
    await store.putKeyword(db, {
      id,
      type: word.type,
      word: word.text,
      langZh: word.lang_zh,
      dir: word.dir,
      subDir: word.sub_dir,
      removed: true,
    });
  note({
    subject: `keyword:${id}`,
    from: { text: word.text, lang_zh: word.lang_zh },
    to: { removed: restore !== 1, restored: restore === 1 },
  });
};
