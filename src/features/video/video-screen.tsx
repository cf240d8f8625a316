import { Chip } from '#src/ui/chip.tsx';
import { sessionTypes } from '#contract/kinds.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import { useAct } from '#src/platform/use-act.ts';
import { api } from '#src/platform/api.ts';
import { useCallPages } from '#src/platform/call-query.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { CreateHead, createAct, createPage } from '#src/widgets/create-head/create-head.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Waterfall } from '#src/ui/waterfall.tsx';
import type { ListedVideo } from '#contract/video.ts';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import css from './video.module.css';
import { VideoTile } from './video-tile.tsx';

const route = getRouteApi('/video');

/** px of a column at least; on phones two stand side by side. */
const column = { narrow: 150, wide: 260 };
const shelves = [
  { own: 0, label: '公共' },
  { own: 1, label: '我的视频' },
] as const;

const keyOf = ({ uuid: key }: ListedVideo): string => key;
const shapeOf = (video: ListedVideo): ListedVideo => video;

/** Begins a session of films; its dialog asks for the image. */
const useNewVideo = () => {
  const navigate = useNavigate();
  const refuse = useRefusal();
  const { busy, run } = useAct(refuse);
  const begin = async () => {
    await run(async () => {
      const session = await api.newSession({ type: sessionTypes.video }, { quiet: true });
      await navigate({ to: '/chat', search: { uuid: session.uuid, open: 'img-video' } });
    });
  };
  return { busy, begin: () => void begin() };
};

const Places = ({ wide }: { wide: boolean }) => (
  <ul className={css.places} aria-hidden="true">
    {Array.from({ length: wide ? 8 : 6 }, (_, at) => (
      <li key={at} />
    ))}
  </ul>
);

const Shelf = ({ own, onNew }: { own: 0 | 1; onNew: () => void }) => {
  const wide = useMedia(wideEnoughForMenu);
  const { token } = useAuth();
  const readable = own === 0 || token !== '';
  const all = useCallPages('videoIndex', { private: own }, { enabled: readable });
  const pages = all.data?.pages;
  const videos = useMemo(() => {
    const found = new Map<string, ListedVideo>();
    // Pages move on when something new comes before them: each film is shown once.
    for (const video of (pages ?? []).flatMap(({ list }) => list)) found.set(video.uuid, video);
    return [...found.values()];
  }, [pages]);
  const tile = useCallback(
    (video: ListedVideo, _at: number, width: number) => <VideoTile video={video} width={width} />,
    [],
  );
  if (!readable)
    return (
      <EmptyPlace
        drawing="balloon"
        text="登录后，您做的视频都在这里"
        action={
          <ButtonLink kind="primary" to="/login">
            登录
          </ButtonLink>
        }
      />
    );
  if (all.isError && !all.data) return <QueryFailed query={all} />;
  if (!all.data) return <Places wide={wide} />;
  if (videos.length === 0)
    return (
      <EmptyPlace
        drawing="balloon"
        text={own === 1 ? '还没有视频。选一张图片，让它动起来' : '还没有公开的视频'}
        action={
          <Button kind="primary" onClick={onNew}>
            新建视频
          </Button>
        }
        example={{ label: '先画一张能动的', prompt: '海浪拍打沙滩，夕阳', draws: true }}
      />
    );
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError } = all;
  const more = () => void all.fetchNextPage();
  return (
    <>
      <Waterfall
        items={videos}
        total={Math.max(pages?.at(-1)?.total ?? 0, videos.length)}
        shapeOf={shapeOf}
        keyOf={keyOf}
        label={own === 1 ? '我的视频' : '公共视频'}
        least={wide ? column.wide : column.narrow}
        render={tile}
        more={hasNextPage && !isFetchingNextPage && !isFetchNextPageError}
        onMore={more}
      />
      {hasNextPage && (
        <div className={css.more}>
          <Button busy={isFetchingNextPage} onClick={more}>
            加载更多
          </Button>
        </div>
      )}
    </>
  );
};

/** Films that people made: public ones, or one's own. */
export const VideoScreen = () => {
  usePageTitle('视频');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const own = search.private === 1 ? 1 : 0;
  const fresh = useNewVideo();
  return (
    <div className={createPage}>
      <CreateHead title="视频">
        <Button
          kind="primary"
          size="small"
          className={createAct}
          busy={fresh.busy}
          onClick={fresh.begin}
        >
          <Icon name="plus" size={16} />
          <span>新建视频</span>
        </Button>
      </CreateHead>
      <div className={css.shelves} role="group" aria-label="看哪些">
        {shelves.map((shelf) => (
          <Chip
            key={shelf.own}
            aria-pressed={own === shelf.own}
            onClick={() =>
              void navigate({ search: shelf.own === 1 ? { private: 1 } : {}, replace: true })
            }
          >
            {shelf.label}
          </Chip>
        ))}
      </div>
      <Shelf key={own} own={own} onNew={fresh.begin} />
    </div>
  );
};
