import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { createPortal } from 'react-dom';

import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';

import { refreshScreens } from '#src/platform/query-client.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useSite } from '#src/platform/site.ts';
import { toast } from '#src/platform/toast.ts';

import { deleteImage, useDeletedImages } from '#src/widgets/image/image-marks.ts';

import { Act } from '#src/ui/act.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Icon } from '#src/ui/icon.tsx';
import { LoadFailed } from '#src/ui/load-failed.tsx';
import { useModal } from '#src/ui/modal.ts';
import { saveImage, saveUnmarked, shareImage } from '#src/ui/save-image.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { ImageInfo, ImageMethod } from '#contract/gallery.ts';

import type { ImageViewerProps, ViewedImage } from './image-viewer-props.ts';
import { InfoPanel, methodNames } from './info-panel.tsx';
import { noMask, type Mask } from './mask.ts';

import { Stage } from './stage.tsx';
import { mayDiscard } from './use-mask.ts';
import styles from './viewer.module.css';
import { Method, viewedOf } from './image-method.tsx';

type Mode = 'info' | ImageMethod;

/** Where others find it: its page in the gallery. */
const share = (info: ImageInfo) =>
  info.public && !navigator.share ? `/image/public?image_id=${info.id}` : info.url;

/** Hides and deletes what is one's own. */
const OwnMenu = ({
  info,
  image,
  open,
  onClose,
}: {
  info: ImageInfo;
  image: ViewedImage;
  open: boolean;
  onClose: () => void;
}) => {
  const { guest } = useAuth();
  const { mark_images: marked, allow_unmarked: allowed } = useSite();
  const bare = marked && allowed && !guest;
  const remove = async () => {
    onClose();
    const sure = await confirmDialog({
      title: '删除图片',
      text: '确定要删除此图片?',
      ok: '删除',
      danger: true,
    });
    if (!sure) {
      toast('已取消删除');
      return;
    }
    await attempt(async () => {
      await deleteImage(image);
      toast('图片已删除', 'success');
    });
  };
  const hide = async (hidden: boolean) => {
    onClose();
    await attempt(async () => {
      await api.hideImage({ image_id: image.id, hidden: hidden ? 1 : 0 });
      toast(hidden ? '别人看不到这张图片了' : '跟随会话公开', 'success');
      await refreshScreens();
    });
  };
  return (
    <Sheet menu open={open} onClose={onClose} title="这张图片">
      {info.session && (
        <Act
          icon={info.hidden ? 'unlock' : 'lock'}
          label={info.hidden ? '不再隐藏' : '对别人隐藏'}
          onClick={() => void hide(!info.hidden)}
        />
      )}
      {bare && (
        <Act
          icon="download"
          label="下载没有标识的"
          onClick={() => {
            onClose();
            void attempt(() => saveUnmarked(image.url));
          }}
        />
      )}
      <Act icon="trash" label="删除" danger onClick={() => void remove()} />
    </Sheet>
  );
};

/** What is done with the image as it is. */
const TopActs = ({ info, image }: { info: ImageInfo; image: ViewedImage }) => {
  const [menu, setMenu] = useState(false);
  return (
    <>
      <Button
        kind="ghost"
        size="icon"
        aria-label="分享图片"
        onClick={() => void shareImage(share(info), info.prompt)}
      >
        <Icon name="share" size={22} />
      </Button>
      <Button
        kind="ghost"
        size="icon"
        aria-label="下载图片"
        onClick={() => void saveImage(image.url)}
      >
        <Icon name="download" size={22} />
      </Button>
      {info.own && (
        <Button kind="ghost" size="icon" aria-label="更多" onClick={() => setMenu(true)}>
          <Icon name="more" size={22} />
        </Button>
      )}
      {info.own && <OwnMenu info={info} image={image} open={menu} onClose={() => setMenu(false)} />}
    </>
  );
};

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
  explore,
  onMethod,
  onView,
  onBase,
}: {
  viewed: ReturnType<typeof useViewed>;
  explore: boolean;
  onMethod: (method: ImageMethod) => void;
  onView: (image: ViewedImage) => void;
  onBase: (() => void) | undefined;
}) => (
  <div className={styles['panel']}>
    {deleted ? (
      <p className={styles['note']}>图片已删除</p>
    ) : about.isError && !info ? (
      <LoadFailed
        error={about.error}
        busy={about.isFetching}
        onRetry={() => void about.refetch()}
      />
    ) : info ? (
      info.url === '' ? (
        <p className={styles['note']}>图片已删除</p>
      ) : (
        <InfoPanel
          info={info}
          explore={explore}
          onMethod={onMethod}
          onView={onView}
          onBase={onBase}
        />
      )
    ) : (
      <Skeleton lines={5} />
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
  const onKey = (event: KeyboardEvent) => {
    if (mode !== 'info' || event.target instanceof HTMLInputElement) return;
    if (event.key === 'ArrowLeft') onTurnBy.back?.();
    else if (event.key === 'ArrowRight') onTurnBy.forward?.();
  };
  const tool = mode === 'info' ? undefined : info?.tools.find(({ method }) => method === mode);
  const title =
    mode === 'info' ? (info?.own && !explore ? '修改图片' : '查看图片') : methodNames[mode];
  return createPortal(
    <div
      className={styles['viewer']}
      data-whole-window
      role="dialog"
      aria-modal="true"
      aria-label={title}
      tabIndex={-1}
      ref={box}
      onKeyDown={onKey}
    >
      <header className={styles['top']}>
        <Button
          kind="ghost"
          size="icon"
          aria-label={mode === 'info' ? '关闭' : '返回'}
          onClick={() => void back()}
        >
          <Icon name={mode === 'info' ? 'close' : 'back'} size={24} />
        </Button>
        <h2>
          {title}
          {mode === 'info' && !visited && images.length > 1 && (
            <small>
              {at + 1} / {images.length}
            </small>
          )}
        </h2>
        {visited && mode === 'info' && listed && (
          <Button kind="ghost" size="small" onClick={() => visit(null)}>
            回到原来那张
          </Button>
        )}
        {info && !deleted && mode === 'info' && <TopActs info={info} image={shown} />}
      </header>
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
          <AboutPanel
            viewed={viewed}
            explore={explore}
            onMethod={setMode}
            onView={view}
            onBase={
              onBase &&
              (() => {
                onClose();
                onBase(shown);
              })
            }
          />
        </>
      )}
    </div>,
    document.body,
  );
};

export default ImageViewerView;
