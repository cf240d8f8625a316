import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { PagedList } from '#src/ui/paged-list.tsx';
import { SearchField } from '#src/ui/search-field.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { getRouteApi } from '@tanstack/react-router';
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
const words = {
  train: {
    title: '知识库与画风',
    about: '把文件变成可以提问的知识库，或从图片学一种画风。',
    create: '新建',
    none: '还没有知识库。上传几个文件，就能向它们提问。',
    account:
      '登录之后可以新建自己的知识库和画风。公开的不登录也能问；只问一两个文件，在聊天里添加附件就行。',
  },
  translate: {
    title: '翻译',
    about: '整篇翻译文档，标题、表格、链接、代码和图片都留在原处。',
    create: '新建翻译',
    none: '还没有翻译项目。上传一个文档，就能得到对照的译文。',
    account: '登录之后可以整篇翻译文档。',
  },
} as const;

/** Told before anything is begun: what is made here belongs to an account. */
const AccountFirst = ({ place }: { place: Place }) => (
  <div className={css.accountFirst}>
    <p>{words[place].account}</p>
    <div className="row">
      <ButtonLink kind="primary" to="/register" search={{ back: `/${place}` }}>
        注册
      </ButtonLink>
      <ButtonLink to="/login" search={{ back: `/${place}` }}>
        去登录
      </ButtonLink>
    </div>
  </div>
);

type Navigate = (next: TrainSearch, options?: { replace: boolean }) => Promise<void>;

/** Why no project is shown, and what to do about it. */
const NoProjects = ({
  place,
  query,
  open,
  go,
  onCreate,
}: {
  place: Place;
  query: string | undefined;
  /** Those of everybody are asked for. */
  open: boolean;
  go: Navigate;
  onCreate: () => void;
}) => {
  const { signedIn } = useAuth();
  const told = words[place];
  if (query)
    return (
      <EmptyPlace
        drawing="lighthouse"
        text={`没有找到“${query}”，换个词试试。`}
        action={
          <Button onClick={() => void go({ tab: open ? 'public' : 'private' })}>看全部</Button>
        }
      />
    );
  const create = open ? undefined : (
    <Button kind="primary" onClick={onCreate}>
      {told.create}
    </Button>
  );
  return (
    <EmptyPlace
      drawing="lighthouse"
      text={open ? '还没有人公开自己的项目。' : told.none}
      action={signedIn ? create : undefined}
    />
  );
};

const Projects = ({ place, search, go }: { place: Place; search: TrainSearch; go: Navigate }) => {
  const { token, user, signedIn } = useAuth();
  const told = words[place];
  usePageTitle(told.title);
  const open = (search.tab ?? (signedIn ? 'private' : 'public')) === 'public';
  const { query, page = 1 } = search;
  const list = useCall(
    place === 'train' ? 'trainModelList' : 'translateModelList',
    { page, public: open ? 1 : 0, query },
    {
      ...keepLast,
      apart: token,
      refetchInterval: ({ state }) =>
        state.data?.list.some(({ job }) => job !== null) ? watchMs : false,
    },
  );
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
      {(token === '' || user?.guest) && <AccountFirst place={place} />}
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
              onClick={() => void go({ tab, query })}
            >
              {tab === 'private' ? '我的' : '公开的'}
            </button>
          ))}
        </div>
        <SearchField
          className={css.search}
          label="搜索项目"
          placeholder="名称或描述"
          words={query}
          onSearch={(sought) => void go({ ...search, query: sought, page: undefined })}
        />
      </div>
      <PagedList
        query={list}
        waiting={<Skeleton lines={6} />}
        empty={<NoProjects place={place} query={query} open={open} go={go} onCreate={create} />}
        page={page}
        onPage={(next, replace = false) => void go({ ...search, page: next }, { replace })}
      >
        {(projects) => (
          <ul className={css.cards}>
            {projects.map((model) => (
              <ProjectCard
                key={model.id}
                model={model}
                onOpen={() => void go({ ...search, model_id: model.id })}
              />
            ))}
          </ul>
        )}
      </PagedList>
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

const TrainPlace = ({ place, search, go }: { place: Place; search: TrainSearch; go: Navigate }) =>
  search.model_id === undefined || search.new === 1 ? (
    <Projects place={place} search={search} go={go} />
  ) : (
    <ProjectScreen
      key={search.model_id}
      id={search.model_id}
      place={place}
      onBack={() => void go({ tab: search.tab })}
    />
  );

const trainRoute = getRouteApi('/train');
const translateRoute = getRouteApi('/translate');

export const TrainScreen = () => {
  const navigate = trainRoute.useNavigate();
  return (
    <TrainPlace
      place="train"
      search={trainRoute.useSearch()}
      go={(next, options) => navigate({ search: next, ...options })}
    />
  );
};

export const TranslateScreen = () => {
  const navigate = translateRoute.useNavigate();
  return (
    <TrainPlace
      place="translate"
      search={translateRoute.useSearch()}
      go={(next, options) => navigate({ search: next, ...options })}
    />
  );
};
