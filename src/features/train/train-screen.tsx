import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { DropStart } from './drop-start.tsx';
import { NewProject } from './new-project.tsx';
import { ProjectCard } from './project-card.tsx';
import { ProjectScreen } from './project-screen.tsx';
import type { Place } from './projects.ts';
import type { TrainSearch } from './train-search.ts';
import { TextTranslator } from './text-translator.tsx';
import css from './train.module.css';

/** How often projects that are worked on are read anew, ms. */
const watchMs = 3_000;
/** So long after the last letter is searched, ms. */
const restMs = 250;

const words = {
  train: {
    title: '知识库与画风',
    about: '把文件变成可以提问的知识库，或从图片学一种画风。',
    create: '新建',
    none: '还没有知识库。上传几个文件，就能向它们提问。',
  },
  translate: {
    title: '翻译',
    about: '整篇翻译文档，标题、表格、链接、代码和图片都留在原处。',
    create: '新建翻译',
    none: '还没有翻译项目。上传一个文档，就能得到对照的译文。',
  },
} as const;

type Navigate = (next: TrainSearch, options?: { replace: boolean }) => Promise<void>;

const Projects = ({ place, search, go }: { place: Place; search: TrainSearch; go: Navigate }) => {
  const { token, signedIn } = useAuth();
  const told = words[place];
  usePageTitle(told.title);
  const open = (search.tab ?? (signedIn ? 'private' : 'public')) === 'public';
  const page = search.page ?? 1;
  const [text, setText] = useState(search.query ?? '');
  useEffect(() => {
    if (text.trim() === (search.query ?? '')) return undefined;
    const timer = setTimeout(
      () => void go({ ...search, query: text.trim() || undefined, page: undefined }),
      restMs,
    );
    return () => clearTimeout(timer);
  }, [text, search, go]);
  const list = useCall(
    place === 'train' ? 'trainModelList' : 'translateModelList',
    { page, public: open ? 1 : 0, query: search.query },
    {
      ...keepLast,
      apart: token,
      refetchInterval: (query) =>
        query.state.data?.list.some(({ job }) => job !== null) ? watchMs : false,
    },
  );
  const projects = list.data?.list ?? [];
  const create = () => void go({ ...search, new: 1 });
  return (
    <div className={`page ${css.screen}`}>
      <header className="page-head">
        <h1>{told.title}</h1>
        {signedIn && (
          <Button kind="primary" onClick={create}>
            <Icon name="plus" size={18} />
            {told.create}
          </Button>
        )}
      </header>
      {place === 'translate' && <TextTranslator />}
      <p className={css.note}>{told.about}</p>
      {signedIn && search.new !== 1 && (
        <DropStart place={place} onMade={(id) => void go({ ...search, model_id: id })} />
      )}
      <div className={css.filters}>
        <div className="segments" role="group" aria-label="看哪些">
          {(['private', 'public'] as const).map((tab) => (
            <button
              key={tab}
              type="button"
              aria-pressed={(tab === 'public') === open}
              onClick={() => void go({ tab, query: search.query })}
            >
              {tab === 'private' ? '我的' : '公开的'}
            </button>
          ))}
        </div>
        <label className={css.search}>
          <Icon name="search" size={18} />
          <span className="sr-only">搜索项目</span>
          <input
            type="search"
            value={text}
            maxLength={100}
            placeholder="名称、Key 或描述"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      </div>
      {list.isPending && <Skeleton lines={6} />}
      {list.isError && !list.data && (
        <LoadFailed error={list.error} busy={list.isFetching} onRetry={() => void list.refetch()} />
      )}
      {list.data && projects.length === 0 && search.query && (
        <EmptyPlace
          drawing="lighthouse"
          text={`没有找到“${search.query}”，换个词试试。`}
          action={<Button onClick={() => setText('')}>看全部</Button>}
        />
      )}
      {list.data && projects.length === 0 && !search.query && (
        <EmptyPlace
          drawing="lighthouse"
          text={
            signedIn
              ? open
                ? '还没有人公开自己的项目。'
                : told.none
              : '登录后就能新建自己的项目。'
          }
          action={
            signedIn ? (
              !open ? (
                <Button kind="primary" onClick={create}>
                  {told.create}
                </Button>
              ) : undefined
            ) : (
              <Link className="button button-primary" to="/login" search={{ back: `/${place}` }}>
                去登录
              </Link>
            )
          }
        />
      )}
      <ul className={css.cards}>
        {projects.map((model) => (
          <ProjectCard
            key={model.id}
            model={model}
            onOpen={() => void go({ ...search, model_id: model.id })}
          />
        ))}
      </ul>
      <Pager
        page={page}
        count={list.data?.page_count ?? 0}
        isCounted={list.data !== undefined && !list.isPlaceholderData}
        onPage={(next, replace = false) => void go({ ...search, page: next }, { replace })}
      />
      <NewProject
        place={place}
        open={search.new === 1 && signedIn}
        id={search.model_id ?? null}
        step={search.step ?? 1}
        onStep={(id, step) => {
          // Whoever goes back from the files finds the project that they belong to.
          const begun = { ...search, new: 1, model_id: id };
          const there = search.model_id === id ? Promise.resolve() : go(begun, { replace: true });
          void there.then(() => void go({ ...begun, step }));
        }}
        onClose={() =>
          void go(
            { ...search, new: undefined, step: undefined, model_id: undefined },
            { replace: true },
          )
        }
        onOpen={(id) => void go({ model_id: id }, { replace: true })}
      />
    </div>
  );
};

const trainRoute = getRouteApi('/train');
const translateRoute = getRouteApi('/translate');

export const TrainScreen = () => {
  const search = trainRoute.useSearch();
  const navigate = trainRoute.useNavigate();
  const go: Navigate = (next, options) => navigate({ search: next, ...options });
  return search.model_id === undefined || search.new === 1 ? (
    <Projects place="train" search={search} go={go} />
  ) : (
    <ProjectScreen
      key={search.model_id}
      id={search.model_id}
      place="train"
      onBack={() => void go({ tab: search.tab })}
    />
  );
};

export const TranslateScreen = () => {
  const search = translateRoute.useSearch();
  const navigate = translateRoute.useNavigate();
  const go: Navigate = (next, options) => navigate({ search: next, ...options });
  return search.model_id === undefined || search.new === 1 ? (
    <Projects place="translate" search={search} go={go} />
  ) : (
    <ProjectScreen
      key={search.model_id}
      id={search.model_id}
      place="translate"
      onBack={() => void go({ tab: search.tab })}
    />
  );
};
