import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { inIdleTime } from '#src/platform/idle.ts';
import { maskName } from '#src/platform/format.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import { useImageMark, voteOnImage } from '#src/widgets/image/image-marks.ts';
import { MadeTag } from '#src/widgets/image/made-mark.tsx';
import { imageSources } from '#src/widgets/image/image-sources.ts';
import type { ViewedImage, ViewedTile } from '#src/widgets/viewer/image-viewer-props.ts';
import { ImageViewer, tileOf, warmViewer } from '#src/widgets/viewer/image-viewer.tsx';
import { Button } from '#src/ui/button.tsx';
import { LoadedImage } from '#src/ui/loaded-image.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { LoadFailed, QueryFailed } from '#src/ui/load-failed.tsx';
import { Waterfall } from '#src/ui/waterfall.tsx';
import styles from './gallery.module.css';
import type { GalleryImage, useGallery } from './use-gallery.ts';

/** px that a column is wide at least: two stand side by side on a phone. */
const column = { narrow: 150, own: 180, others: 256 };

const keyOf = ({ uuid }: GalleryImage): string => uuid;
const shapeOf = (image: GalleryImage): GalleryImage => image;
const nameOf = (image: GalleryImage, at: number): string =>
  image.prompt ? image.prompt.slice(0, 60) : `第 ${at + 1} 张，${image.size}`;

const Like = ({ image }: { image: GalleryImage }) => {
  const mark = useImageMark(image);
  return (
    <button
      type="button"
      className={styles['like']}
      aria-pressed={mark.like === 1}
      aria-label={`赞，${mark.liked_count} 人`}
      onClick={() => void voteOnImage(image, 1)}
    >
      <Icon name="like" size={18} />
      {mark.liked_count > 0 && mark.liked_count}
    </button>
  );
};

const Places = ({ wide }: { wide: boolean }) => (
  <ul className={styles['wait']} aria-hidden="true">
    {Array.from({ length: wide ? 12 : 6 }, (_, at) => (
      <li key={at} style={{ aspectRatio: at % 3 === 1 ? '3 / 4' : '1' }} />
    ))}
  </ul>
);

const Tile = ({
  image,
  at,
  width,
  others,
  chosen,
  onPress,
}: {
  image: GalleryImage;
  at: number;
  width: number;
  /** It stands among those of many people. */
  others: boolean;
  /** Null: a press opens it. */
  chosen: boolean | null;
  onPress: (image: GalleryImage, tile: HTMLElement) => void;
}) => (
  <div className={styles['tile']} data-hidden={image.hidden || undefined}>
    <button
      type="button"
      className={styles['open']}
      aria-label={nameOf(image, at)}
      aria-pressed={chosen ?? undefined}
      onClick={(event) => onPress(image, event.currentTarget)}
    >
      <LoadedImage
        {...imageSources(image)}
        sizes={`${Math.round(width)}px`}
        alt=""
        decoding="async"
      />
      {chosen === null && image.prompt !== '' && (
        <span className={styles['words']} aria-hidden="true">
          {others && <b>{maskName(image.user_name)}</b>}
          {image.prompt}
        </span>
      )}
      {chosen !== null && (
        <span className={styles['check']} aria-hidden="true">
          {chosen && <Icon name="check" size={18} />}
        </span>
      )}
    </button>
    {image.hidden && (
      <span className={styles['hidden']} title="已隐藏">
        <Icon name="lock" size={14} />
        <span className="sr-only">已隐藏</span>
      </span>
    )}
    {image.made && <MadeTag made={image.made} />}
    {chosen === null && <Like image={image} />}
  </div>
);

/** Tells how far the list has been read; an address that is right is left alone: setting it would lose the place to come back to. */
const useReadSoFar = (
  { all, read }: ReturnType<typeof useGallery>,
  page: number,
  onPage: (page: number) => void,
) => {
  const told = useRef({ onPage, page });
  useEffect(() => {
    told.current = { onPage, page };
  });
  useEffect(() => {
    if (all.data && read !== told.current.page) told.current.onPage(read);
  }, [all.data, read]);
};

/** The images of a gallery, the one that is open, and what stands there while there are none. */
export const GalleryList = ({
  gallery,
  label,
  kind,
  opened,
  onOpen,
  page,
  onPage,
  chosen = null,
  onChoose,
  empty,
}: {
  gallery: ReturnType<typeof useGallery>;
  label: string;
  kind: 'public' | 'private' | 'explore';
  /** Number of the image that is open. */
  opened: number | undefined;
  onOpen: (id: number | undefined) => void;
  /** What the address says of how far it is read. */
  page: number;
  /** So far the list has been read. */
  onPage: (page: number) => void;
  /** A press chooses instead of opening. */
  chosen?: ReadonlySet<number> | null;
  onChoose?: (image: GalleryImage) => void;
  empty: ReactNode;
}) => {
  const { all, images, total, enabled } = gallery;
  const wide = useMedia(wideEnoughForMenu);
  const [from, setFrom] = useState<ViewedTile | null>(null);
  useEffect(() => inIdleTime(warmViewer), []);
  useReadSoFar(gallery, page, onPage);

  const latest = useRef({ onOpen, onChoose });
  useEffect(() => {
    latest.current = { onOpen, onChoose };
  });
  const choosing = chosen !== null;
  const tile = useCallback(
    (image: GalleryImage, at: number, width: number) => (
      <Tile
        image={image}
        at={at}
        width={width}
        others={kind !== 'private'}
        chosen={chosen && chosen.has(image.id)}
        onPress={(pressed, element) => {
          if (choosing) latest.current.onChoose?.(pressed);
          else {
            setFrom(tileOf(element));
            latest.current.onOpen(pressed.id);
          }
        }}
      />
    ),
    [chosen, choosing, kind],
  );

  const at = images.findIndex(({ id }) => id === opened);
  // By an address from outside, or no longer in the list: it is shown all the same.
  const viewed: readonly ViewedImage[] = useMemo(
    () =>
      at >= 0 || opened === undefined ? images : [{ id: opened, url: '', width: 1, height: 1 }],
    [images, at, opened],
  );
  const viewer = opened !== undefined && (
    <ImageViewer
      images={viewed}
      at={Math.max(0, at)}
      from={from}
      explore={kind === 'explore'}
      onTurn={(to) => {
        setFrom(null);
        const next = viewed[to];
        if (next) onOpen(next.id);
        if (to >= viewed.length - 3 && all.hasNextPage && !all.isFetchingNextPage)
          void all.fetchNextPage();
      }}
      onClose={() => onOpen(undefined)}
    />
  );

  if (!enabled) return empty;
  if (all.isError && !all.data) return <QueryFailed query={all} />;
  if (!all.data) return <Places wide={wide} />;
  const { hasNextPage, hasPreviousPage, isFetchingNextPage, isFetchNextPageError } = all;
  const more = () => void all.fetchNextPage();
  return (
    <>
      {hasPreviousPage && (
        <Button
          className={styles['before'] ?? ''}
          busy={all.isFetchingPreviousPage}
          onClick={() => void all.fetchPreviousPage()}
        >
          前面的图片
        </Button>
      )}
      {images.length === 0 && !hasNextPage ? (
        empty
      ) : (
        <Waterfall
          items={images}
          total={total}
          shapeOf={shapeOf}
          keyOf={keyOf}
          label={label}
          least={wide ? (kind === 'private' ? column.own : column.others) : column.narrow}
          render={tile}
          more={hasNextPage && !isFetchingNextPage && !isFetchNextPageError}
          onMore={more}
        />
      )}
      {isFetchNextPageError && (
        <LoadFailed error={all.error} busy={isFetchingNextPage} onRetry={more} />
      )}
      {viewer}
    </>
  );
};
