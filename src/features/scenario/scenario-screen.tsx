import rowCss from '#src/ui/chip-row.module.css';
import { Chip, Tag } from '#src/ui/chip.tsx';
import { sessionTypes } from '#contract/kinds.ts';
import type { Scenario } from './scenario.ts';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { keepLast, useCall } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { compactNumber } from '#common/compact-number.ts';
import { maskName } from '#src/platform/format.ts';
import { useMe } from '#src/platform/queries.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { PagedList } from '#src/ui/paged-list.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { FillSheet } from '#src/widgets/template/fill-sheet.tsx';
import { varsOf } from '#src/widgets/template/template-vars.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useState } from 'react';
import css from './scenario.module.css';

const route = getRouteApi('/scenario');
const ScenarioEditor = lazyAsked(() => import('./scenario-editor.tsx'));
const ScenarioDetail = lazyAsked(() => import('./scenario-detail.tsx'));
const CategorySheet = lazyAsked(() => import('./category-sheet.tsx'));

/** Makes a session for a scenario, or for a text alone, and goes there. */
const useStartScenario = () => {
  const navigate = useNavigate();
  const refuse = useRefusal();
  const { busy, run } = useAct(refuse);
  /** @param text sent at once, as it is; undefined: the chat waits for a question */
  const start = async (scenario: number | undefined, text: string | undefined) => {
    await run(async () => {
      const { uuid } = await api.newSession(
        { type: sessionTypes.chat, ...(scenario === undefined ? {} : { scenario_id: scenario }) },
        { quiet: true },
      );
      if (text !== undefined) {
        // The scenario's words are in the text already.
        writeDraft(`choices:${uuid}`, JSON.stringify({ withTemplate: false }));
        writeDraft(uuid, text);
      }
      await navigate({
        to: '/chat',
        search: { uuid, prompt: text, send: text === undefined ? undefined : 1 },
        state: { sends: true },
      });
    });
  };
  return { start, busy };
};

/** A scenario to begin with: it is only put into the form. */
const example = {
  name: '周报',
  desc_: '把流水账写成三段周报',
  prompt:
    '请把下面的流水账写成周报，分“本周完成”“遇到的问题”“下周计划”三段，每段用列表，不要编造：\n\n{{input}}',
};

const stateWords = { private: '仅自己', pending: '等待审核', public: '' } as const;

const Card = ({
  scenario,
  busy,
  editable,
  onStart,
  onOpen,
  onEdit,
}: {
  scenario: Scenario;
  busy: boolean;
  editable: boolean;
  onStart: () => void;
  onOpen: () => void;
  onEdit: () => void;
}) => (
  <li className={css.card}>
    <h3>
      <span className={css.mark} style={{ background: scenario.color }} aria-hidden="true">
        {Array.from(scenario.name)[0]}
      </span>
      <button type="button" className={css.name} onClick={onOpen}>
        {scenario.name}
      </button>
      {stateWords[scenario.state] !== '' && <Tag>{stateWords[scenario.state]}</Tag>}
      {scenario.display === 0 && scenario.state === 'public' && <Tag>未展示</Tag>}
      {editable && (
        <Button kind="ghost" size="icon" aria-label={`修改场景${scenario.name}`} onClick={onEdit}>
          <Icon name="edit" size={18} />
        </Button>
      )}
    </h3>
    <p className={css.about}>{scenario.desc_ || scenario.prompt}</p>
    {scenario.rejection !== '' && <p className={css.rejection}>被退回：{scenario.rejection}</p>}
    <p className={css.foot}>
      <span>
        {scenario.rating !== null && `★ ${scenario.rating.toFixed(1)} · `}
        {compactNumber(scenario.session_count)} 次会话
        {scenario.user_name !== '' && ` · ${maskName(scenario.user_name)}`}
      </span>
      <Button size="small" busy={busy} onClick={onStart}>
        开始
      </Button>
    </p>
  </li>
);

type Search = ReturnType<typeof route.useSearch>;

const Categories = ({
  categories,
  manager,
  onChoose,
}: {
  categories: readonly { id: number; name: string }[];
  manager: boolean;
  onChoose: (change: Partial<Search>) => void;
}) => {
  const { category, scope, sort } = route.useSearch();
  const { signedIn } = useAuth();
  return (
    <nav className={rowCss.chipRow} aria-label="分类">
      <Chip
        aria-pressed={category === undefined && scope === undefined && sort === undefined}
        onClick={() => onChoose({})}
      >
        最热
      </Chip>
      <Chip aria-pressed={sort === 'new'} onClick={() => onChoose({ sort: 'new' })}>
        最新
      </Chip>
      {signedIn && (
        <Chip aria-pressed={scope === 'mine'} onClick={() => onChoose({ scope: 'mine' })}>
          我的
        </Chip>
      )}
      {manager && (
        <Chip aria-pressed={scope === 'pending'} onClick={() => onChoose({ scope: 'pending' })}>
          待审核
        </Chip>
      )}
      {categories.map((each) => (
        <Chip
          key={each.id}
          aria-pressed={category === each.id}
          onClick={() => onChoose({ category: each.id })}
        >
          {each.name}
        </Chip>
      ))}
    </nav>
  );
};

/** The scenarios of one page, or why there are none. */
const Scenarios = ({
  list,
  manager,
  busy,
  onStart,
  onOpen,
  onEdit,
  onMake,
}: {
  list: ReturnType<typeof useScenarios>;
  manager: boolean;
  busy: boolean;
  onStart: (scenario: Scenario) => void;
  onOpen: (scenario: Scenario) => void;
  onEdit: (scenario: Scenario) => void;
  /** With what it begins. */
  onMake: (begun: Partial<Scenario>) => void;
}) => {
  const { page = 1, scope } = route.useSearch();
  const navigate = route.useNavigate();
  const { user } = useAuth();
  const tried = { label: example.name, onTry: () => onMake(example) };
  return (
    <PagedList
      query={list}
      waiting={
        <ul className={css.cards} aria-label="正在加载" aria-busy="true">
          {[0, 1, 2, 3, 4, 5].map((each) => (
            <li key={each} className={css.card}>
              <Skeleton lines={5} />
            </li>
          ))}
        </ul>
      }
      empty={
        scope === 'mine' ? (
          <EmptyPlace
            drawing="lotus"
            text="还没有自己的场景。把常用的提问存下来，下次填空就行。"
            action={
              <Button kind="primary" onClick={() => onMake({})}>
                新建场景
              </Button>
            }
            example={tried}
          />
        ) : (
          <EmptyPlace
            drawing="lotus"
            text="没有这样的场景，换个词或者换个分类试试。"
            action={
              <ButtonLink to="/scenario" search={{}}>
                看全部
              </ButtonLink>
            }
            example={tried}
          />
        )
      }
      page={page}
      onPage={(next, replace) =>
        void navigate({ search: (old) => ({ ...old, page: next }), replace })
      }
    >
      {(scenarios) => (
        <ul className={css.cards} aria-label="场景">
          {scenarios.map((scenario) => (
            <Card
              key={scenario.id}
              scenario={scenario}
              busy={busy}
              editable={manager || (user !== null && scenario.user_id === user.id)}
              onStart={() => onStart(scenario)}
              onOpen={() => onOpen(scenario)}
              onEdit={() => onEdit(scenario)}
            />
          ))}
        </ul>
      )}
    </PagedList>
  );
};

/** What the address asks for; managers see all. */
const useScenarios = ({ page = 1, query, category, scope, sort }: Search, manager: boolean) =>
  useCall(
    'scenarioList',
    {
      page,
      query,
      sort,
      category: category === undefined ? undefined : String(category),
      scope: scope ?? (manager ? ('all' as const) : undefined),
    },
    keepLast,
  );

/** One scenario, looked at: begun, rated, and changed by whoever may. */
const Opened = ({
  scenario,
  category,
  busy,
  manager,
  onStart,
  onEdit,
  onClose,
}: {
  scenario: Scenario;
  category: string;
  busy: boolean;
  manager: boolean;
  onStart: (scenario: Scenario) => void;
  onEdit: (scenario: Scenario) => void;
  onClose: () => void;
}) => {
  const { signedIn, user } = useAuth();
  const rating = useAct();
  const own = user !== null && scenario.user_id === user.id;
  const leave = (then: (scenario: Scenario) => void) => () => {
    onClose();
    then(scenario);
  };
  const rate = (stars: number) =>
    void rating.run(async () => {
      await api.rateScenario({ scenario_id: scenario.id, stars });
      toast('已评分，谢谢', 'success');
    });
  return (
    <ScenarioDetail
      scenario={scenario}
      category={category}
      busy={busy}
      onStart={leave(onStart)}
      onEdit={manager || own ? leave(onEdit) : undefined}
      onRated={signedIn && !own ? rate : undefined}
      onClose={onClose}
    />
  );
};

/** Templates for questions: by category and words, one's own, and for managers what waits for them. */
export const ScenarioScreen = () => {
  usePageTitle('场景');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const go = useNavigate();
  const { signedIn, user } = useAuth();
  const manager = useMe().data?.admin === true;
  const { query } = search;
  const categories = useCall('scenarioCategory', {});
  const list = useScenarios(search, manager);
  const { start, busy } = useStartScenario();
  const [filling, setFilling] = useState<Scenario | null>(null);
  const [openedId, setOpened] = useState<number | null>(null);
  const opened = list.data?.list.find(({ id }) => id === openedId);
  const [editing, setEditing] = useState<Partial<Scenario> | null>(null);
  const [keeping, setKeeping] = useState(false);

  const choose = (change: Partial<Search>) =>
    void navigate({
      search: ({ query: words }) => ({ query: words, ...change }),
      resetScroll: false,
    });
  const begin = (scenario: Scenario) => {
    const more = varsOf(scenario.prompt).some((name) => name !== 'input');
    if (more) setFilling(scenario);
    else void start(scenario.id, undefined);
  };
  const make = (begun: Partial<Scenario>) => {
    if (signedIn) setEditing(begun);
    else void go({ to: '/login', search: { back: '/scenario' } });
  };
  return (
    <div className="page">
      <header className="page-head">
        <h1>场景</h1>
        {manager && (
          <Button size="small" onClick={() => setKeeping(true)}>
            管理分类
          </Button>
        )}
        <Button kind="primary" size="small" onClick={() => make({})}>
          <Icon name="plus" size={16} />
          新建场景
        </Button>
      </header>
      <div className={css.narrowing}>
        <Categories categories={categories.data?.list ?? []} manager={manager} onChoose={choose} />
        <FilterBar
          filters={[{ kind: 'text', name: 'query', label: '查找场景' }]}
          values={{ query }}
          onChange={({ query: words }) =>
            void navigate({
              search: (old) => ({ ...old, query: words, page: undefined }),
              replace: query !== undefined,
              resetScroll: false,
            })
          }
        />
      </div>
      <Scenarios
        list={list}
        manager={manager}
        busy={busy}
        onStart={begin}
        onOpen={({ id }) => setOpened(id)}
        onEdit={setEditing}
        onMake={make}
      />
      <FillSheet
        template={filling && { name: filling.name, text: filling.prompt }}
        action="开始"
        busy={busy}
        onClose={() => setFilling(null)}
        onDone={(filled) => void start(filling?.id, filled)}
      />
      {opened && (
        <Opened
          scenario={opened}
          category={categories.data?.list.find(({ id }) => id === opened.category)?.name ?? ''}
          busy={busy}
          manager={manager}
          onStart={begin}
          onEdit={setEditing}
          onClose={() => setOpened(null)}
        />
      )}
      {editing && (
        <ScenarioEditor
          scenario={editing}
          categories={categories.data?.list ?? []}
          manager={manager}
          me={user?.id}
          onTry={(filled) => void start(undefined, filled)}
          onClose={() => setEditing(null)}
        />
      )}
      {keeping && (
        <CategorySheet categories={categories.data?.list ?? []} onClose={() => setKeeping(false)} />
      )}
    </div>
  );
};
