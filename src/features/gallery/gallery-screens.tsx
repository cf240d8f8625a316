import { ChipLink } from '#src/ui/chip.tsx';
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { CreateHead, createAct, createPage } from '#src/widgets/create-head/create-head.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { BatchBar } from './batch-bar.tsx';
import { GalleryExamples } from './gallery-examples.tsx';
import { GalleryList } from './gallery-list.tsx';
import styles from './gallery.module.css';
import type { ExploreSearch, GallerySearch } from './gallery-search.ts';
import { UploadSheet } from './upload-sheet.tsx';
import { useGallery, type GalleryImage, type Shelf } from './use-gallery.ts';

const explore = getRouteApi('/image/explore');
const open = getRouteApi('/image/public');
const mine = getRouteApi('/image/private');

/** A search without result: what was looked for can be drawn. */
const NotFound = ({ query }: { query: string }) => (
  <EmptyPlace
    drawing="snow"
    text={`没有找到“${query}”的图片，换个词试试。`}
    action={drawOne}
    example={{ label: `画“${query}”`, prompt: query, draws: true }}
  />
);

const ranks = [
  { rank: undefined, name: '最新' },
  { rank: 'day', name: '今日最佳' },
  { rank: 'week', name: '本周最佳' },
  { rank: 'month', name: '本月最佳' },
  { rank: 'all', name: '历史最佳' },
] as const;
const ownRanks = [ranks[0], { rank: 'upload', name: '我的上传' }, ...ranks.slice(1)] as const;

const SearchBox = ({ query, onQuery }: { query: string; onQuery: (query: string) => void }) => {
  const [text, setText] = useState(query);
  return (
    <form
      role="search"
      className={styles['search']}
      onSubmit={(event) => {
        event.preventDefault();
        onQuery(text.trim());
      }}
    >
      <Icon name="search" size={18} />
      <input
        type="search"
        value={text}
        placeholder="按提示词找"
        aria-label="按提示词找图片"
        enterKeyHint="search"
        onChange={(event) => {
          setText(event.target.value);
          if (event.target.value === '') onQuery('');
        }}
      />
    </form>
  );
};

/** What a gallery's address says, and the list that it asks for. */
const usePlace = <Search extends { page?: number | undefined; image_id?: number | undefined }>(
  search: Search,
  shelf: Shelf,
  navigate: (to: {
    search: (before: Search) => Search;
    replace: boolean;
    state: true | { viewing: true };
    resetScroll: false;
  }) => Promise<void>,
) => {
  const { history } = useRouter();
  const { page = 1, image_id: opened } = search;
  const change = (next: Partial<Search>, opens = false) =>
    void navigate({
      search: (old) => ({ ...old, ...next }),
      replace: !opens,
      state: opens ? { viewing: true } : true,
      resetScroll: false,
    });
  return {
    change,
    list: {
      kind: shelf.kind,
      gallery: useGallery(shelf, page),
      opened,
      page,
      onPage: (next: number) => change({ page: next > 1 ? next : undefined } as Partial<Search>),
      /** The large image is an entry of its own in the history: going back closes it. */
      onOpen: (id: number | undefined) => {
        if (id === undefined && history.location.state.viewing === true) history.back();
        else change({ image_id: id } as Partial<Search>, opened === undefined && id !== undefined);
      },
    },
  };
};

const drawOne = (
  <ButtonLink kind="primary" to="/" search={{ tab: 'imagine', new: 1 }}>
    画一张
  </ButtonLink>
);

const Page = ({ name, children }: { name: string; children: ReactNode }) => {
  usePageTitle(name);
  return (
    <div className={createPage}>
      <CreateHead title={name}>
        <ButtonLink
          kind="primary"
          size="small"
          className={createAct}
          to="/"
          search={{ tab: 'imagine', new: 1 }}
        >
          <Icon name="spark" size={16} />
          <span>画图</span>
        </ButtonLink>
      </CreateHead>
      {children}
    </div>
  );
};

interface Order {
  name: string;
  to: '/image/explore' | '/image/public' | '/image/private';
  search: ExploreSearch & GallerySearch;
}

/** The ways a gallery can be put into order. */
const Orders = ({ orders }: { orders: readonly Order[] }) => (
  <div className={styles['ranks']} role="group" aria-label="排序">
    {orders.map(({ name, to, search }) => (
      <ChipLink key={name} to={to} search={search} activeOptions={{ explicitUndefined: true }}>
        {name}
      </ChipLink>
    ))}
  </div>
);

/**
 * What everybody shows: by likes and age, by the clock, or the best of a time. Words lead to the
 * gallery that is searched.
 */
const Discover = ({
  query,
  onQuery,
  children,
}: {
  query: string;
  onQuery: (query: string) => void;
  children: ReactNode;
}) => {
  const words = query || undefined;
  const best = ranks.map(({ name, rank }): Order => ({
    name,
    to: '/image/public',
    search: { rank, query: words },
  }));
  const usual: Order = { name: '推荐', to: '/image/explore', search: { sort: undefined } };
  return (
    <Page name="发现">
      <SearchBox key={query} query={query} onQuery={onQuery} />
      <Orders orders={words === undefined ? [usual, ...best] : best} />
      {children}
    </Page>
  );
};

export const ExploreScreen = () => {
  const search = explore.useSearch();
  const go = useNavigate();
  const { list } = usePlace<ExploreSearch>(
    search,
    { kind: 'explore', sort: search.sort ?? 'default' },
    explore.useNavigate(),
  );
  return (
    <Discover
      query=""
      onQuery={(query) => {
        if (query !== '') void go({ to: '/image/public', search: { query } });
      }}
    >
      <GalleryList {...list} label="发现" empty={<GalleryExamples action={drawOne} />} />
    </Discover>
  );
};

export const PublicScreen = () => {
  const search = open.useSearch();
  const { rank = '', query = '' } = search;
  const { list, change } = usePlace<GallerySearch>(
    search,
    { kind: 'public', rank, query },
    open.useNavigate(),
  );
  return (
    <Discover
      query={query}
      onQuery={(next) => change({ query: next || undefined, page: undefined })}
    >
      <GalleryList
        {...list}
        label="发现"
        empty={query === '' ? <GalleryExamples action={drawOne} /> : <NotFound query={query} />}
      />
    </Discover>
  );
};

const noneChosen: ReadonlySet<number> = new Set();

/** Several of a list of images, to do something with all of them. */
const useChosen = (images: readonly GalleryImage[], here: string) => {
  const [choosing, setChoosing] = useState(false);
  const [chosen, setChosen] = useState(noneChosen);
  const end = () => {
    setChoosing(false);
    setChosen(noneChosen);
  };
  // What was chosen belongs to its list.
  const [list, setList] = useState(here);
  if (list !== here) {
    setList(here);
    end();
  }
  const toggle = ({ id }: GalleryImage) =>
    setChosen((all) => {
      const next = new Set(all);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const all = images.length > 0 && chosen.size === images.length;
  return {
    choosing,
    chosen,
    toggle,
    turn: () => (choosing ? end() : setChoosing(true)),
    bar: choosing && (
      <BatchBar
        chosen={images.filter(({ id }) => chosen.has(id))}
        all={all}
        onAll={() => setChosen(all ? noneChosen : new Set(images.map(({ id }) => id)))}
        onEnd={end}
      />
    ),
  };
};

/** Nothing here yet: how images of one's own come about. */
const NoneYet = () => (
  <EmptyPlace
    drawing="snow"
    text={
      useAuth().token === ''
        ? '画好的图片都会在这里。不用注册，现在就可以画。'
        : '还没有画过图片，画好的都会在这里。'
    }
    action={drawOne}
    example={{
      label: '黄昏的雪山，湖面倒影',
      prompt: '黄昏的雪山，湖面倒影，几只飞鸟',
      draws: true,
    }}
  />
);

export const PrivateScreen = () => {
  const search = mine.useSearch();
  const { rank = '', query = '' } = search;
  const go = useNavigate();
  const wide = useMedia(wideEnoughForMenu);
  const [uploading, setUploading] = useState(false);
  const { list, change } = usePlace<GallerySearch>(
    search,
    { kind: 'private', rank, query },
    mine.useNavigate(),
  );
  const { images } = list.gallery;
  const { choosing, chosen, toggle, turn, bar } = useChosen(images, `${rank} ${query}`);
  const none =
    rank === 'upload' ? (
      <EmptyState
        icon="spark"
        text="还没有上传过图片。可以从相册选、拍一张，或者粘贴图片和网址。"
        action={<Button onClick={() => setUploading(true)}>上传图片</Button>}
      />
    ) : (
      <NoneYet />
    );
  return (
    <Page name="我的图片">
      <div className={styles['bar']}>
        <SearchBox
          key={query}
          query={query}
          onQuery={(next) => change({ query: next || undefined, page: undefined })}
        />
        <Button size="small" onClick={() => setUploading(true)}>
          {wide ? '上传图片' : '上传'}
        </Button>
        <Button kind="ghost" size="small" disabled={images.length === 0} onClick={turn}>
          {choosing ? '完成' : '选择'}
        </Button>
      </div>
      <Orders
        orders={ownRanks.map(({ name, rank }) => ({
          name,
          to: '/image/private',
          search: { rank, query: query || undefined },
        }))}
      />
      <GalleryList
        {...list}
        label={rank === 'upload' ? '我的上传' : '我的图片'}
        chosen={choosing ? chosen : null}
        onChoose={toggle}
        empty={query === '' ? none : <NotFound query={query} />}
      />
      {bar}
      <UploadSheet
        open={uploading}
        onClose={() => {
          setUploading(false);
          void go({ to: '/image/private', search: { rank: 'upload' }, replace: true });
        }}
      />
    </Page>
  );
};
