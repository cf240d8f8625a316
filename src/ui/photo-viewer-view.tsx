import { useCallback, useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { PhotoSlider } from 'react-photo-view';
import 'react-photo-view/dist/react-photo-view.css';
import { copyText } from '#src/platform/copy.ts';
import { Icon, type IconName } from './icon.tsx';
import { useModal } from './modal.ts';
import type { PhotoAct, PhotoViewerProps } from './photo-viewer-props.ts';
import css from './photo-viewer.module.css';
import { saveImage, shareImage } from './save-image.ts';

/** Of opening, closing and going on, ms. */
const speed = 180;

/** In the place of an image that cannot be had. */
const Smaller = ({ images }: { images: readonly string[] }) => {
  const [tried, setTried] = useState(0);
  const image = images[tried];
  if (image === undefined)
    return <p className={css.photoBroken}>图片没有加载出来：网络不通，或者它已被删除</p>;
  return (
    <img
      className={css.photoSmall}
      data-smaller
      src={image}
      alt=""
      onError={() => setTried(tried + 1)}
    />
  );
};

const Act = ({ icon, label, act }: { icon: IconName; label: string; act: () => void }) => (
  <button
    type="button"
    className={`round ${css.photoAct}`}
    aria-label={label}
    title={label}
    onClick={act}
  >
    <Icon name={icon} size={22} />
  </button>
);

const noActs: readonly PhotoAct[] = [];

const PhotoViewerView = ({
  images,
  smallerOf,
  index,
  words: said = '',
  acts = noActs,
  mark,
  onClose,
}: PhotoViewerProps) => {
  const [at, setAt] = useState(index);
  const words = typeof said === 'string' ? said : (said[at] ?? '');
  const [shown, setShown] = useState(true);
  const [panel, setPanel] = useState<HTMLDivElement | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const close = () => setShown(false);
  useModal(true, close, box);
  useEffect(() => setPanel(box.current), []);
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const lost = useCallback(
    ({ src }: { src: string }) => <Smaller key={src} images={smallerOf?.(src) ?? []} />,
    [smallerOf],
  );
  const turn = (to: number, label: string, icon: 'back' | 'forward') => (
    <button
      type="button"
      className={`round ${css.photoAct} ${icon === 'back' ? css.photoBack : css.photoForward}`}
      aria-label={label}
      disabled={to < 0 || to >= images.length}
      onClick={() => setAt(to)}
    >
      <Icon name={icon} size={24} />
    </button>
  );
  return createPortal(
    <div
      className={css.photo}
      role="dialog"
      aria-modal="true"
      aria-label="看图"
      tabIndex={-1}
      ref={box}
    >
      {panel && (
        <PhotoSlider
          images={images.map((src, key) => ({ key, src }))}
          index={at}
          onIndexChange={setAt}
          visible={shown}
          onClose={close}
          afterClose={onClose}
          loop={false}
          speed={() => (still ? 0 : speed)}
          bannerVisible={false}
          portalContainer={panel}
          brokenElement={lost}
        />
      )}
      {shown && (
        <>
          <div className={css.photoBar}>
            <span className={css.photoCount} role="status">
              {at + 1} / {images.length}
            </span>
            {words !== '' && (
              <Act icon="copy" label="复制提示词" act={() => void copyText(words)} />
            )}
            {acts.map(({ icon, label, run }) => (
              <Act
                key={label}
                icon={icon}
                label={label}
                act={() => {
                  onClose();
                  run(at);
                }}
              />
            ))}
            <Act
              icon="share"
              label="分享图片"
              act={() => void shareImage(images[at] ?? '', words)}
            />
            <Act icon="download" label="下载图片" act={() => void saveImage(images[at] ?? '')} />
            <Act icon="close" label="关闭" act={close} />
          </div>
          {mark && <div className={css.photoMark}>{mark(images[at] ?? '')}</div>}
          {images.length > 1 && turn(at - 1, '上一张', 'back')}
          {images.length > 1 && turn(at + 1, '下一张', 'forward')}
        </>
      )}
    </div>,
    document.body,
  );
};

export default PhotoViewerView;
