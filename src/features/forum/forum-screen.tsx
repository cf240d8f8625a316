import rowCss from '#src/ui/chip-row.module.css';
import { Chip, ChipLink } from '#src/ui/chip.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { maskName } from '#src/platform/format.ts';
import { useChatModels, useMe } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { FilterBar } from '#src/ui/filter-bar/filter-bar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { PagedList } from '#src/ui/paged-list.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useForumGroups } from '#src/widgets/editor/groups.ts';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import type { ForumCategory } from '#contract/forum.ts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useRef, useState } from 'react';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { ForumExamples } from './forum-examples.tsx';
import { isOwn, useForum, useNews } from './forum-queries.ts';
import css from './forum.module.css';
import { QuestionCard } from './question-card.tsx';

const route = getRouteApi('/forum');

const QuestionEditor = lazyAsked(async () => ({
  default: (await import('#src/widgets/editor/question-editor.tsx')).QuestionEditor,
}));
const GroupSheet = lazyAsked(() => import('./group-sheet.tsx'));

const others: readonly (readonly [ForumCategory, string])[] = [
  ['hot', '热门'],
  ['mine', '我的提问'],
  ['replied', '我的回答'],
  ['answered', '已解决'],
  ['unanswered', '未解决'],
  ['essence', '精华'],
  ['history', '浏览历史'],
];

const Loading = () => (
  <ul className={css.list} aria-label="正在加载" aria-busy="true">
    {[0, 1, 2, 3].map((each) => (
      <li key={each} className={css.question}>
        <div className={css.words}>
          <Skeleton lines={3} />
        </div>
      </li>
    ))}
  </ul>
);

/** The bell: what happened to what one wrote. */
const Bell = () => {
  const unread = useNews(1).data?.unread ?? 0;
  return (
    <ButtonLink
      to="/forum/news"
      kind="ghost"
      size="icon"
      aria-label={unread > 0 ? `消息，${unread} 条未读` : '消息'}
    >
      <span className={css.bell}>
        <Icon name="bell" size={22} />
        {unread > 0 && <span className={css.dot}>{unread > 99 ? '99+' : unread}</span>}
      </span>
    </ButtonLink>
  );
};

type Search = ReturnType<typeof route.useSearch>;
type ForumGroup = NonNullable<ReturnType<typeof useForumGroups>['data']>[number];

/** What is shown: one's own, one group's, or what one model answered. */
const Categories = ({
  search: { category, group_id, model },
  groups,
  onChoose,
  onSheet,
}: {
  search: Search;
  groups: readonly ForumGroup[];
  onChoose: (change: Partial<Search>) => void;
  onSheet: (sheet: 'groups' | 'models') => void;
}) => {
  const models = useChatModels().data ?? [];
  const plain = category === undefined && group_id === undefined && model === undefined;
  const group = groups.find(({ id }) => id === group_id);
  const modelName = models.find(({ name }) => name === model)?.label ?? model;
  return (
    <nav className={rowCss.chipRow} aria-label="分类">
      <Chip aria-pressed={plain} onClick={() => onChoose({})}>
        全部
      </Chip>
      <Chip
        aria-pressed={group_id !== undefined}
        aria-haspopup="dialog"
        onClick={() => onSheet('groups')}
      >
        {group ? group.name : '分组'}
        <Icon name="down" size={14} />
      </Chip>
      <Chip
        aria-pressed={model !== undefined}
        aria-haspopup="dialog"
        onClick={() => onSheet('models')}
      >
        {modelName ?? '模型'}
        <Icon name="down" size={14} />
      </Chip>
      {others.map(([key, label]) => (
        <Chip key={key} aria-pressed={category === key} onClick={() => onChoose({ category: key })}>
          {label}
        </Chip>
      ))}
    </nav>
  );
};

/** The words that are looked for, whose questions alone are shown, and what else can be begun. */
const Tools = ({ author }: { author: string | undefined }) => {
  const { user_id, query } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className={css.tools}>
      <FilterBar
        filters={[{ kind: 'text', name: 'query', label: '搜索问题' }]}
        values={{ query }}
        onChange={({ query: words }) =>
          void navigate({
            search: (old) => ({ ...old, query: words, page: undefined }),
            replace: query !== undefined,
            resetScroll: false,
          })
        }
      >
        {user_id !== undefined && (
          <Chip
            on
            aria-label="去掉筛选：提问者"
            onClick={() =>
              void navigate({
                search: (old) => ({ ...old, user_id: undefined, page: undefined }),
              })
            }
          >
            {author ? `提问者：${maskName(author)}` : '只看一位提问者'}
            <Icon name="close" size={14} />
          </Chip>
        )}
      </FilterBar>
      <span className={css.starts}>
        <ChipLink to="/" search={{ new: 1 }}>
          <Icon name="chat" size={16} />
          开始聊天
        </ChipLink>
        <ChipLink to="/" search={{ tab: 'imagine', new: 1 }}>
          <Icon name="spark" size={16} />
          开始画图
        </ChipLink>
      </span>
    </div>
  );
};

/** The questions of one page, or why there are none. */
const Questions = ({
  list,
  groups,
  needsAccount,
  plain,
  query,
  page,
  onAsk,
}: {
  list: ReturnType<typeof useForum>;
  groups: readonly ForumGroup[];
  /** One's own are asked for, and nobody has signed in. */
  needsAccount: boolean;
  /** All questions are asked for. */
  plain: boolean;
  query: string | undefined;
  page: number;
  onAsk: () => void;
}) => {
  const wide = useMedia(wideEnoughForMenu);
  const navigate = route.useNavigate();
  if (needsAccount)
    return (
      <EmptyPlace
        drawing="town"
        text="登录之后，这里是您自己的问题、回答与浏览历史"
        action={
          <ButtonLink kind="primary" to="/login" search={{ back: '/forum' }}>
            登录
          </ButtonLink>
        }
      />
    );
  return (
    <PagedList
      query={list}
      waiting={<Loading />}
      empty={
        plain ? (
          <ForumExamples onAsk={onAsk} />
        ) : (
          <EmptyPlace
            drawing="town"
            text="暂无数据"
            action={
              <Button kind="primary" onClick={onAsk}>
                提一个问题
              </Button>
            }
            {...(query && { example: { label: `问模型“${query}”`, prompt: query } })}
          />
        )
      }
      page={page}
      onPage={(next, replace) =>
        void navigate({ search: (old) => ({ ...old, page: next }), replace })
      }
    >
      {(questions) => (
        <ul className={css.list} aria-label="问题">
          {questions.map((question) => (
            <QuestionCard
              key={question.id}
              question={question}
              group={groups.find(({ id }) => id === question.group_id)}
              words={query}
              wide={wide}
            />
          ))}
        </ul>
      )}
    </PagedList>
  );
};

/** Questions to everybody, by category, group, model, person and words. */
export const ForumScreen = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const go = useNavigate();
  const { signedIn } = useAuth();
  const me = useMe().data;
  const groups = useForumGroups().data ?? [];
  const { category, group_id, model, user_id, query } = search;
  const page = search.page ?? 1;
  const list = useForum({ category, group_id, model, user_id, query, page });
  const [sheet, setSheet] = useState<'groups' | 'models'>();
  const [opened, setOpened] = useState(false);
  const left = useRef(false);
  const asking = search['show-create-dialog'] === 1;
  usePageTitle('问答社区');

  const author = list.data?.list.find((each) => each.user_id === user_id)?.user_name;

  const choose = (change: Partial<typeof search>) =>
    void navigate({
      search: ({ user_id: person, query: words }) => ({ user_id: person, query: words, ...change }),
      resetScroll: false,
    });
  const ask = () => {
    if (signedIn)
      void navigate({ search: (old) => ({ ...old, 'show-create-dialog': 1 }), resetScroll: false });
    else {
      toast('登录之后可以向大家提问');
      void go({ to: '/login', search: { back: '/forum?show-create-dialog=1' } });
    }
  };
  const closeDialog = () => {
    // What was asked is on screen already.
    if (left.current) return;
    void navigate({
      search: (old) => ({ ...old, 'show-create-dialog': undefined }),
      replace: true,
      resetScroll: false,
    });
  };

  return (
    <div className="page">
      <header className="page-head">
        <h1>问答社区</h1>
        {me?.admin && (
          <ButtonLink to="/manager/forum" kind="ghost" size="icon" aria-label="举报">
            <Icon name="warning" size={22} />
          </ButtonLink>
        )}
        {signedIn && <Bell />}
        <Button kind="primary" size="small" onClick={ask}>
          <Icon name="plus" size={16} />
          提问
        </Button>
      </header>
      <Categories
        search={search}
        groups={groups}
        onChoose={choose}
        onSheet={(next) => {
          if (next === 'groups') setOpened(true);
          setSheet(next);
        }}
      />
      <Tools author={author} />
      <Questions
        list={list}
        groups={groups}
        needsAccount={isOwn(category) && !signedIn}
        plain={[category, group_id, model, user_id, query].every((each) => each === undefined)}
        query={query}
        page={page}
        onAsk={ask}
      />
      <ModelSheet
        open={sheet === 'models'}
        value={model ?? ''}
        title="看哪个模型答过的"
        onClose={() => setSheet(undefined)}
        onChoose={(name) => choose({ model: name })}
      />
      {opened && (
        <GroupSheet
          open={sheet === 'groups'}
          value={group_id}
          manager={me?.admin === true}
          onClose={() => setSheet(undefined)}
          onChoose={(id) => choose({ group_id: id })}
        />
      )}
      {asking && signedIn && (
        <QuestionEditor
          groupId={group_id}
          onClose={closeDialog}
          onAsked={(uuid) => {
            left.current = true;
            void go({ to: '/chat', search: { uuid, back: '/forum' } });
          }}
        />
      )}
    </div>
  );
};
