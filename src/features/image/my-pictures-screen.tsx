import { BackHead } from '@/shared/ui/back-head.tsx';
import { api } from '@/shared/api.ts';
import { ApiError } from '@/shared/api-error.ts';
import { pictureTypes } from '@/shared/attach/file-kinds.ts';
import { useAuth } from '@/shared/auth-store.ts';
import { ComingTile } from '@/shared/image/coming-tile.tsx';
import { useIntake } from '@/shared/image/picker-intake.ts';
import { pictureSources } from '@/shared/image/picture-sources.ts';
import { shelves, type Shelf } from '@/shared/image/shelves.ts';
import { useChosenPainter } from '@/shared/queries.ts';
import { Button } from '@/shared/ui/button.tsx';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { LoadFailed } from '@/shared/ui/load-failed.tsx';
import { PhotoViewer } from '@/shared/ui/photo-viewer.tsx';
import { Waterfall } from '@/shared/ui/waterfall.tsx';
import { useMedia, wideEnoughForMenu } from '@/shared/use-media.ts';
import { usePageTitle } from '@/shared/use-page-title.ts';
import { uuid } from '@/shared/uuid.ts';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import './my-pictures.css';
import { useMyPictures, type MyPicture } from './my-pictures.ts';

const route = getRouteApi('/image/private');

const shelfOf = { made: '', uploaded: 'upload' } as const;
/** px of a column at least; on phones two stand side by side. */
const column = { narrow: 150, wide: 220 };

const keyOf = (picture: MyPicture): string => picture.uuid;
const shapeOf = (picture: MyPicture): MyPicture => picture;

const nameOf = (picture: MyPicture, at: number): string =>
  picture.prompt ? picture.prompt.slice(0, 60) : `第 ${at + 1} 张，${picture.size}`;

/** Begins a session of pictures that starts from one. */
const useDrawFrom = (): ((picture: MyPicture) => Promise<void>) => {
  const navigate = useNavigate();
  const painter = useChosenPainter();
  return async ({ url }) => {
    try {
      const session = await api.newSession(
        { type: 1, model: painter?.name },
        { idempotencyKey: uuid() },
      );
      await navigate({
        to: '/chat',
        search: { uuid: session.uuid, open: 'img-tool', tab: 'img2img', image_url: url },
      });
    } catch (error) {
      // The call has said why.
      if (!(error instanceof ApiError)) throw error;
    }
  };
};

const Places = ({ wide }: { wide: boolean }) => (
  <ul className="my-pictures-wait" aria-hidden="true">
    {Array.from({ length: wide ? 12 : 6 }, (_, at) => (
      <li key={at} style={{ aspectRatio: at % 3 === 1 ? '3 / 4' : '1' }} />
    ))}
  </ul>
);

const Pictures = ({ shelf, onUpload }: { shelf: Shelf; onUpload: () => void }) => {
  const { all, pictures, total } = useMyPictures(shelf);
  const wide = useMedia(wideEnoughForMenu);
  const [viewing, setViewing] = useState<number | null>(null);
  const drawFrom = useDrawFrom();
  const { token } = useAuth();
  const tile = useCallback(
    (picture: MyPicture, at: number, width: number) => (
      <button
        type="button"
        className="my-picture"
        aria-label={nameOf(picture, at)}
        onClick={() => setViewing(at)}
      >
        <img
          {...pictureSources(picture)}
          sizes={`${Math.round(width)}px`}
          alt=""
          decoding="async"
        />
      </button>
    ),
    [],
  );
  const addresses = useMemo(() => pictures.map(({ url }) => url), [pictures]);
  const words = useMemo(() => pictures.map(({ prompt }) => prompt), [pictures]);
  if (all.isError && !all.data)
    return (
      <LoadFailed error={all.error} busy={all.isFetching} onRetry={() => void all.refetch()} />
    );
  if (token === '' || (all.data && pictures.length === 0))
    return (
      <EmptyState
        icon="spark"
        text={shelves[shelf].none}
        action={
          shelf === 'uploaded' ? (
            <Button onClick={onUpload}>上传图片</Button>
          ) : (
            <Link className="button" to="/" search={{ tab: 'imagine', new: 1 }}>
              画一张
            </Link>
          )
        }
      />
    );
  if (!all.data) return <Places wide={wide} />;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError } = all;
  const more = () => void all.fetchNextPage();
  return (
    <>
      <Waterfall
        items={pictures}
        total={total}
        shapeOf={shapeOf}
        keyOf={keyOf}
        label={shelves[shelf].name}
        least={wide ? column.wide : column.narrow}
        render={tile}
        more={hasNextPage && !isFetchingNextPage && !isFetchNextPageError}
        onMore={more}
      />
      {isFetchNextPageError && (
        <LoadFailed error={all.error} busy={isFetchingNextPage} onRetry={more} />
      )}
      {viewing !== null && (
        <PhotoViewer
          images={addresses}
          index={viewing}
          words={words}
          acts={[
            {
              icon: 'spark',
              label: '以它画图',
              run: (at) => {
                const picture = pictures[at];
                if (picture) void drawFrom(picture);
              },
            },
          ]}
          onClose={() => setViewing(null)}
        />
      )}
    </>
  );
};

/** What a person drew and uploaded. */
export const MyPicturesScreen = () => {
  usePageTitle('我的图片');
  const { rank } = route.useSearch();
  const navigate = route.useNavigate();
  const shelf: Shelf = rank === 'upload' ? 'uploaded' : 'made';
  const album = useRef<HTMLInputElement>(null);
  const upload = () => album.current?.click();
  const show = (next: Shelf) =>
    void navigate({ search: { rank: shelfOf[next] || undefined }, replace: true });
  const intake = useIntake(() => show('uploaded'));
  return (
    <div className="page my-pictures">
      <BackHead to="/account" back="返回我的" title="我的图片">
        <Link className="button" to="/" search={{ tab: 'imagine', new: 1 }}>
          画图
        </Link>
        <Button onClick={upload}>上传图片</Button>
        <input
          ref={album}
          type="file"
          hidden
          accept={pictureTypes}
          multiple
          aria-label="选择要上传的图片"
          onChange={(event) => {
            const files = [...(event.target.files ?? [])];
            // The same file can be chosen again.
            event.target.value = '';
            intake.takeFiles(files);
          }}
        />
      </BackHead>
      <div className="my-pictures-shelves" role="group" aria-label="看哪些">
        {(['made', 'uploaded'] as const).map((each) => (
          <button
            key={each}
            type="button"
            className="chip"
            aria-pressed={each === shelf}
            onClick={() => show(each)}
          >
            {shelves[each].name}
          </button>
        ))}
      </div>
      {intake.coming.length > 0 && (
        <ul className="my-pictures-coming" aria-label="正在上传">
          {intake.coming.map((each) => (
            <ComingTile
              key={each.id}
              coming={each}
              onRetry={() => intake.retry(each.id)}
              onRemove={() => intake.remove(each.id)}
            />
          ))}
        </ul>
      )}
      <Pictures key={shelf} shelf={shelf} onUpload={upload} />
    </div>
  );
};
