import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { createPortal } from 'react-dom';

import { useCall } from '#src/platform/call-query.ts';

import { useDeletedImages } from '#src/widgets/image/image-marks.ts';

import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { useModal } from '#src/ui/modal.ts';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { ImageMethod } from '#contract/gallery.ts';

import type { ImageViewerProps, ViewedImage } from './image-viewer-props.ts';
import { InfoPanel, methodNames } from './info-panel.tsx';
import { noMask, type Mask } from './mask.ts';

import { Stage } from './stage.tsx';
import { mayDiscard } from './use-mask.ts';
import { ActBar, useViewerActs } from './viewer-acts.tsx';
import styles from './viewer.module.css';
import { Method, viewedOf } from './image-method.tsx';

type Mode = 'info' | ImageMethod;

/** Leads to the neighbours of an image; absent: there is none. */
interface Turns {
  back?: () => void;
  forward?: () => void;
}

const TurnButtons = ({ turns }: { turns: Turns }) => (
  <>
    {turns.back && (
      <button
        type="button"
        className={`round ${styles['turn']} ${styles['turnBack']}`}
        aria-label="上一张"
        onClick={turns.back}
      >
        <Icon name="back" size={24} />
      </button>
    )}
    {turns.forward && (
      <button
        type="button"
        className={`round ${styles['turn']} ${styles['turnForward']}`}
        aria-label="下一张"
        onClick={turns.forward}
      >
        <Icon name="forward" size={24} />
      </button>
    )}
  </>
);

/** The image that is looked at: of the list, or one that its panel led to; and what is known of it. */
const useViewed = ({
  images,
  at,
  explore = false,
}: Pick<ImageViewerProps, 'images' | 'at' | 'explore'>) => {
  const [visited, visit] = useState<ViewedImage | null>(null);
  const gone = useDeletedImages();
  const listed = images[at];
  const known = visited ?? listed;
  const image: ViewedImage = known ?? { id: 0, url: '', width: 1, height: 1 };
  const deleted = gone.has(image.id);
  const about = useCall(
    'imageInfo',
    { image_id: image.id, explore: explore ? 1 : 0 },
    {
      enabled: image.id > 0 && !deleted,
      placeholderData: (before, query) =>
        query?.queryKey[1]?.image_id === image.id ? before : undefined,
    },
  );
  const info = about.data?.info;
  const shown = deleted ? { ...image, url: '' } : image.url === '' && info ? viewedOf(info) : image;
  return { visited, visit, listed, image, deleted, about, info, shown };
};

/** What is known of the image, or why nothing is. */
const AboutPanel = ({
  viewed: { deleted, about, info },
  onView,
}: {
  viewed: ReturnType<typeof useViewed>;
  onView: (image: ViewedImage) => void;
}) => (
  <div className={styles['panel']}>
    {deleted ? (
      <p className={styles['note']}>图片已删除</p>
    ) : about.isError && !info ? (
      <QueryFailed query={about} />
    ) : info ? (
      info.url === '' ? (
        <p className={styles['note']}>图片已删除</p>
      ) : (
        <InfoPanel info={info} onView={onView} />
      )
    ) : (
      <Skeleton lines={5} />
    )}
  </div>
);

const ViewerHead = ({
  title,
  looking,
  place,
  onBack,
  onReturn,
}: {
  title: string;
  /** Nothing is being changed. */
  looking: boolean;
  /** Where it stands in its list; empty: in none. */
  place: string;
  onBack: () => void;
  /** Leads back to the image that another was reached from. */
  onReturn: (() => void) | undefined;
}) => (
  <div className={styles['top']}>
    <Button kind="ghost" size="icon" aria-label={looking ? '关闭' : '返回'} onClick={onBack}>
      <Icon name={looking ? 'close' : 'back'} size={24} />
    </Button>
    <h2>
      {title}
      {looking && place !== '' && <small>{place}</small>}
    </h2>
    {looking && onReturn && (
      <Button kind="ghost" size="small" onClick={onReturn}>
        返回原图
      </Button>
    )}
  </div>
);

const ImageViewerView = ({
  images,
  at,
  onTurn,
  onClose,
  explore = false,
  from = null,
  onBase,
}: ImageViewerProps) => {
  const box = useRef<HTMLDivElement>(null);
  const viewed = useViewed({ images, at, explore });
  const { visited, visit, listed, image, deleted, info, shown } = viewed;
  const [mode, setMode] = useState<Mode>('info');
  const [unused, setUnused] = useState<Mask>(noMask);
  const back = async () => {
    if (mode === 'info') onClose();
    else if (await mayDiscard(unused, shown)) setMode('info');
  };
  useModal(true, () => void back(), box);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);

  const view = (next: ViewedImage) => {
    setMode('info');
    visit(next.id === listed?.id ? null : next);
  };
  const turn = (to: number) => {
    visit(null);
    onTurn(to);
  };
  const onTurnBy: Turns = {
    ...(at > 0 ? { back: () => turn(at - 1) } : {}),
    ...(at < images.length - 1 ? { forward: () => turn(at + 1) } : {}),
  };
  const alive = info && !deleted && info.url !== '' ? info : undefined;
  const acts = useViewerActs({
    info: alive,
    image: shown,
    onMethod: setMode,
    onBase:
      onBase &&
      (() => {
        onClose();
        onBase(shown);
      }),
  });
  const onKey = (event: KeyboardEvent) => {
    if (mode !== 'info' || event.target instanceof HTMLInputElement) return;
    if (event.key === 'ArrowLeft') onTurnBy.back?.();
    else if (event.key === 'ArrowRight') onTurnBy.forward?.();
    else if (
      !event.ctrlKey &&
      !event.metaKey &&
      !event.altKey &&
      box.current?.contains(event.target as Node)
    )
      acts.all.find(({ key }) => key === event.key.toUpperCase())?.run();
  };
  const tool = mode === 'info' ? undefined : info?.tools.find(({ method }) => method === mode);
  const title =
    mode === 'info' ? (info?.own && !explore ? '修改图片' : '查看图片') : methodNames[mode];
  return createPortal(
    <div
      className={styles['viewer']}
      data-whole-window
      data-night
      role="dialog"
      aria-modal="true"
      aria-label={title}
      tabIndex={-1}
      ref={box}
      onKeyDown={onKey}
    >
      <ViewerHead
        title={title}
        looking={mode === 'info'}
        place={!visited && images.length > 1 ? `${at + 1} / ${images.length}` : ''}
        onBack={() => void back()}
        onReturn={visited && listed ? () => visit(null) : undefined}
      />
      {tool && info && shown.url !== '' ? (
        <Method
          key={`${tool.method}${image.id}`}
          info={info}
          image={shown}
          onMarked={setUnused}
          tool={tool}
          onView={view}
        />
      ) : (
        <>
          <Stage
            image={shown}
            alt={info?.prompt.slice(0, 200) || '图片'}
            from={from}
            onTurn={onTurnBy}
            onClose={onClose}
          />
          <TurnButtons turns={onTurnBy} />
          <AboutPanel viewed={viewed} onView={view} />
          {alive && <ActBar main={acts.main} rest={acts.rest} />}
        </>
      )}
    </div>,
    document.body,
  );
};

export default ImageViewerView;
