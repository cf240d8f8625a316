import { ChipLink } from '#src/ui/chip.tsx';
import { getRouteApi, Link, useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Icon } from '#src/ui/icon.tsx';
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

const places = [
  { to: '/image/explore', name: '图片广场' },
  { to: '/image/public', name: '公共图片' },
  { to: '/image/private', name: '我的图片' },
  { to: '/video', name: '视频' },
] as const;

/** A search without result: what was looked for can be drawn. */
const NotFound = ({ query }: { query: string }) => (
  <EmptyPlace
    drawing="snow"
    text={`没有找到“${query}”的图片，换个词试试。`}
    action={drawOne}
    example={{ label: `画“${query}”`, prompt: query, draws: true }}
  />
);

/** The head that the galleries share: the way between them, and what one may do there. */
const Head = ({ here }: { here: string }) => (
  <header className={styles['head']}>
    <h1 className="sr-only">{here}</h1>
    <nav className={styles['places']} aria-label="图片">
      {places.map(({ to, name }) => (
        <Link key={to} to={to} aria-current={name === here ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
    <ButtonLink
      kind="primary"
      size="small"
      className={styles['draw']}
      to="/"
      search={{ tab: 'imagine', new: 1 }}
    >
      <Icon name="spark" size={16} />
      <span>画图</span>
    </ButtonLink>
  </header>
);

const ranks = [
  { rank: undefined, name: '最新' },
  { rank: 'day', name: '今日最佳' },
  { rank: 'week', name: '本周最佳' },
  { rank: 'month', name: '本月最佳' },
  { rank: 'all', name: '历史最佳' },
] as const;
const ownRanks = [ranks[0], { rank: 'upload', name: '我的上传' }, ...ranks.slice(1)] as const;

const sorts = [
  { sort: undefined, name: '综合排序' },
  { sort: 'newest', name: '最新创建' },
  { sort: 'most-popular', name: '最多点赞' },
] as const;

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

/** The large image is an entry of its own in the history: going back closes it. */
const useOpening = (
  opened: number | undefined,
  change: (next: { image_id?: number | undefined }, opens?: boolean) => void,
) => {
  const { history } = useRouter();
  return (id: number | undefined) => {
    if (id === undefined && history.location.state.viewing === true) history.back();
    else change({ image_id: id }, opened === undefined && id !== undefined);
  };
};

const drawOne = (
  <ButtonLink kind="primary" to="/" search={{ tab: 'imagine', new: 1 }}>
    画一张
  </ButtonLink>
);

export const ExploreScreen = () => {
  usePageTitle('图片广场');
  const { sort, page, image_id: opened } = explore.useSearch();
  const navigate = explore.useNavigate();
  const shelf: Shelf = { kind: 'explore', sort: sort ?? 'default' };
  const change = useCallback(
    (next: ExploreSearch, opens = false) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: !opens,
        state: opens ? { viewing: true } : true,
        resetScroll: false,
      }),
    [navigate],
  );
  const onOpen = useOpening(opened, change);
  const gallery = useGallery(shelf, page ?? 1);
  return (
    <div className={`page ${styles['page']}`}>
      <Head here="图片广场" />
      <div className={styles['ranks']} role="group" aria-label="排序">
        {sorts.map((each) => (
          <ChipLink
            key={each.name}
            to="/image/explore"
            search={{ sort: each.sort }}
            activeOptions={{ explicitUndefined: true }}
          >
            {each.name}
          </ChipLink>
        ))}
      </div>
      <GalleryList
        gallery={gallery}
        label="图片广场"
        kind="explore"
        opened={opened}
        onOpen={onOpen}
        page={page ?? 1}
        onPage={(next) => change({ page: next > 1 ? next : undefined })}
        empty={<GalleryExamples action={drawOne} />}
      />
    </div>
  );
};

export const PublicScreen = () => {
  usePageTitle('公共图片');
  const { rank, query = '', page, image_id: opened } = open.useSearch();
  const navigate = open.useNavigate();
  const change = useCallback(
    (next: GallerySearch, opens = false) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: !opens,
        state: opens ? { viewing: true } : true,
        resetScroll: false,
      }),
    [navigate],
  );
  const onOpen = useOpening(opened, change);
  const gallery = useGallery({ kind: 'public', rank: rank ?? '', query }, page ?? 1);
  return (
    <div className={`page ${styles['page']}`}>
      <Head here="公共图片" />
      <SearchBox
        key={query}
        query={query}
        onQuery={(next) => change({ query: next || undefined, page: undefined })}
      />
      <div className={styles['ranks']} role="group" aria-label="排行">
        {ranks.map((each) => (
          <ChipLink
            key={each.name}
            to="/image/public"
            search={{ rank: each.rank, query: query || undefined }}
            activeOptions={{ explicitUndefined: true }}
          >
            {each.name}
          </ChipLink>
        ))}
      </div>
      <GalleryList
        gallery={gallery}
        label="公共图片"
        kind="public"
        opened={opened}
        onOpen={onOpen}
        page={page ?? 1}
        onPage={(next) => change({ page: next > 1 ? next : undefined })}
        empty={query === '' ? <GalleryExamples action={drawOne} /> : <NotFound query={query} />}
      />
    </div>
  );
};

const noneChosen: ReadonlySet<number> = new Set();

export const PrivateScreen = () => {
  usePageTitle('我的图片');
  const { rank, query = '', page, image_id: opened } = mine.useSearch();
  const navigate = mine.useNavigate();
  const go = useNavigate();
  const { token } = useAuth();
  const wide = useMedia(wideEnoughForMenu);
  const [uploading, setUploading] = useState(false);
  const [choosing, setChoosing] = useState(false);
  const [chosen, setChosen] = useState(noneChosen);
  const change = useCallback(
    (next: GallerySearch, opens = false) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: !opens,
        state: opens ? { viewing: true } : true,
        resetScroll: false,
      }),
    [navigate],
  );
  const onOpen = useOpening(opened, change);
  const gallery = useGallery({ kind: 'private', rank: rank ?? '', query }, page ?? 1);
  const { images } = gallery;
  const end = useCallback(() => {
    setChoosing(false);
    setChosen(noneChosen);
  }, []);
  // What was chosen belongs to its list.
  const here = `${rank} ${query}`;
  const [list, setList] = useState(here);
  if (list !== here) {
    setList(here);
    end();
  }
  const toggle = useCallback(
    ({ id }: GalleryImage) =>
      setChosen((all) => {
        const next = new Set(all);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [],
  );
  const allChosen = images.length > 0 && chosen.size === images.length;
  return (
    <div className={`page ${styles['page']}`}>
      <Head here="我的图片" />
      <div className={styles['bar']}>
        <SearchBox
          key={query}
          query={query}
          onQuery={(next) => change({ query: next || undefined, page: undefined })}
        />
        <Button size="small" onClick={() => setUploading(true)}>
          {wide ? '上传图片' : '上传'}
        </Button>
        <Button
          kind="ghost"
          size="small"
          disabled={images.length === 0}
          onClick={() => (choosing ? end() : setChoosing(true))}
        >
          {choosing ? '完成' : '选择'}
        </Button>
      </div>
      <div className={styles['ranks']} role="group" aria-label="排行">
        {ownRanks.map((each) => (
          <ChipLink
            key={each.name}
            to="/image/private"
            search={{ rank: each.rank, query: query || undefined }}
            activeOptions={{ explicitUndefined: true }}
          >
            {each.name}
          </ChipLink>
        ))}
      </div>
      <GalleryList
        gallery={gallery}
        label={rank === 'upload' ? '我的上传' : '我的图片'}
        kind="private"
        opened={opened}
        onOpen={onOpen}
        page={page ?? 1}
        onPage={(next) => change({ page: next > 1 ? next : undefined })}
        chosen={choosing ? chosen : null}
        onChoose={toggle}
        empty={
          query !== '' ? (
            <NotFound query={query} />
          ) : rank === 'upload' ? (
            <EmptyState
              icon="spark"
              text="还没有上传过图片。可以从相册选、拍一张，或者粘贴图片和网址。"
              action={<Button onClick={() => setUploading(true)}>上传图片</Button>}
            />
          ) : (
            <EmptyPlace
              drawing="snow"
              text={
                token === ''
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
          )
        }
      />
      {choosing && (
        <BatchBar
          chosen={images.filter(({ id }) => chosen.has(id))}
          all={allChosen}
          onAll={() => setChosen(allChosen ? noneChosen : new Set(images.map(({ id }) => id)))}
          onEnd={end}
        />
      )}
      <UploadSheet
        open={uploading}
        onClose={() => {
          setUploading(false);
          void go({ to: '/image/private', search: { rank: 'upload' }, replace: true });
        }}
      />
    </div>
  );
};
