import { Chip } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { useDeferredValue, useMemo, useState } from 'react';
import { toggleWord, wordsIn } from './prompt-words.ts';
import { useTool } from './tool-context.ts';
import css from './image-tool.module.css';

type Keyword = Out<'keywordList'>['keywords'][number];
type KeywordType = 'quality' | 'composition' | 'looks' | 'effect' | 'draw' | 'command';

const types: readonly { type: KeywordType; label: string }[] = [
  { type: 'quality', label: '画质' },
  { type: 'composition', label: '构图' },
  { type: 'looks', label: '外貌' },
  { type: 'effect', label: '效果' },
  { type: 'draw', label: '画风' },
  { type: 'command', label: '参数' },
];

const eye =
  'M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z';
const shutEye = `${eye}M4 4l16 16`;

const useLibrary = () => useCall('keywordList', {}, steady);

/** Shows the mark at once; the server's answer is what holds. */
const mark = async (word: Keyword, kind: 'top' | 'hidden') => {
  const put = (set: boolean) =>
    queryClient.setQueryData<Out<'keywordList'>>(
      ['keywordList'],
      (list) =>
        list && {
          keywords: list.keywords.map((each) =>
            each.id === word.id ? { ...each, [kind]: set } : each,
          ),
        },
    );
  put(!word[kind]);
  const input = { id: word.id, type: word.sub_type as KeywordType };
  try {
    const { set } = await (kind === 'top' ? api.topKeyword(input) : api.hideKeyword(input));
    put(set);
  } catch {
    // The call has said why.
    put(word[kind]);
  }
};

type Language = 'zh' | 'en';
const textOf = (word: Keyword, language: Language): string =>
  word.sub_type === 'command' || language === 'en' ? word.text : word.lang_zh;

const Word = ({
  word,
  language,
  on,
  onToggle,
}: {
  word: Keyword;
  language: Language;
  on: boolean;
  onToggle: () => void;
}) => (
  <button type="button" className={css.toolWord} aria-pressed={on} onClick={onToggle}>
    <span>{language === 'zh' ? word.lang_zh : word.text}</span>
    <small>{language === 'zh' ? word.text : word.lang_zh}</small>
  </button>
);

const Marks = ({ word }: { word: Keyword }) => (
  <div className={css.toolMarks} data-hidden={word.hidden || undefined}>
    <span>
      {word.lang_zh}
      <small>{word.text}</small>
    </span>
    <Button
      kind="ghost"
      size="icon"
      aria-pressed={word.top}
      aria-label={`置顶 ${word.lang_zh}`}
      onClick={() => void mark(word, 'top')}
    >
      <Icon name="star" />
    </Button>
    <Button
      kind="ghost"
      size="icon"
      aria-pressed={word.hidden}
      aria-label={`隐藏 ${word.lang_zh}`}
      onClick={() => void mark(word, 'hidden')}
    >
      <PathIcon path={word.hidden ? shutEye : eye} />
    </Button>
  </div>
);

/** The words as they are shown: put-first ones in a group of their own, the rest in theirs. */
const grouped = (words: readonly Keyword[]): { name: string; words: Keyword[] }[] => {
  const groups = new Map<string, Keyword[]>();
  const put = (name: string, word: Keyword) => {
    const group = groups.get(name);
    if (group) group.push(word);
    else groups.set(name, [word]);
  };
  for (const word of words) if (word.top) put('置顶', word);
  for (const word of words) if (!word.top) put(`${word.dir} · ${word.sub_dir}`, word);
  return [...groups].map(([name, list]) => ({ name, words: list }));
};

const Library = ({ words }: { words: readonly Keyword[] }) => {
  const { text, setText, image } = useTool();
  const [type, setType] = useState<KeywordType>('quality');
  const [query, setQuery] = useState('');
  const [arranging, setArranging] = useState(false);
  const [language, setLanguage] = useState<Language>(image.family === 'built-in' ? 'zh' : 'en');
  const wanted = useDeferredValue(query.trim().toLowerCase());
  const offered = types.filter((each) => each.type !== 'command' || image.family === 'midjourney');
  const shown = useMemo(
    () =>
      grouped(
        words.filter(
          (word) =>
            (arranging || !word.hidden) &&
            (word.sub_type !== 'command' || image.family === 'midjourney') &&
            (wanted === ''
              ? word.sub_type === type
              : `${word.lang_zh} ${word.text}`.toLowerCase().includes(wanted)),
        ),
      ),
    [words, wanted, type, arranging, image.family],
  );
  const isOn = useMemo(() => wordsIn(text, image.family), [text, image.family]);
  return (
    <>
      <div className={css.toolFind}>
        <input
          className="text-input"
          type="search"
          aria-label="搜索提示词"
          placeholder="搜索提示词，中文英文都可以"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <Button
          aria-label={language === 'zh' ? '填入中文，改为填入英文' : '填入英文，改为填入中文'}
          onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
        >
          {language === 'zh' ? '中文' : '英文'}
        </Button>
        <Button aria-pressed={arranging} onClick={() => setArranging(!arranging)}>
          {arranging ? '好了' : '整理'}
        </Button>
      </div>
      {wanted === '' && (
        <div className={`${css.toolChips} ${css.toolTypes}`} role="group" aria-label="分类">
          {offered.map((each) => (
            <Chip
              key={each.type}
              aria-pressed={each.type === type}
              onClick={() => setType(each.type)}
            >
              {each.label}
            </Chip>
          ))}
        </div>
      )}
      {shown.length === 0 && (
        <EmptyState
          icon="search"
          text={
            wanted === ''
              ? '这一类的提示词都隐藏了，点“整理”可以找回来。'
              : `没有找到“${query.trim()}”，换个词试试。`
          }
        />
      )}
      {shown.map((group) => (
        <section key={group.name} className={css.toolSection} aria-label={group.name}>
          <h3>{group.name}</h3>
          <div className={arranging ? css.toolArrange : css.toolWords}>
            {group.words.map((word) =>
              arranging ? (
                <Marks key={word.id} word={word} />
              ) : (
                <Word
                  key={word.id}
                  word={word}
                  language={language}
                  on={isOn(word.text) || isOn(word.lang_zh)}
                  onToggle={() => {
                    // One that stands there in the other language is taken out in that one.
                    const other = language === 'zh' ? word.text : word.lang_zh;
                    const there = isOn(other) ? other : textOf(word, language);
                    setText(toggleWord(text, image.family, there));
                  }}
                />
              ),
            )}
          </div>
        </section>
      ))}
    </>
  );
};

/** The library of keywords: a touch puts one into the prompt, another takes it out. */
export const TagsTab = () => {
  const library = useLibrary();
  if (library.data) return <Library words={library.data.keywords} />;
  if (library.isError) return <QueryFailed query={library} />;
  return <Skeleton lines={8} />;
};
