import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { PhotoSlider } from 'react-photo-view';
import 'react-photo-view/dist/react-photo-view.css';
import { toast } from './toast.ts';
import { Icon, PathIcon } from './icon.tsx';
import { useModal } from './modal.ts';
import type { PhotoViewerProps } from './photo-viewer.tsx';
import './photo-viewer.css';

const downloadPath = 'M12 4v11M7 10.5l5 5 5-5M5 19.5h14';
/** Of opening, closing and going on, ms. */
const speed = 180;

const nameOf = (address: string, type: string): string => {
  const last = address.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
  if (/^[\w.-]{1,100}\.\w{2,4}$/.test(last)) return last;
  return `图片.${type.split('/')[1]?.replace('jpeg', 'jpg') ?? 'jpg'}`;
};

/** Saves a picture; one of another site that forbids reading opens in a tab of its own instead. */
const download = async (address: string) => {
  let blob: Blob;
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(String(response.status));
    blob = await response.blob();
  } catch {
    if (/^https?:/.test(address) && new URL(address).origin !== location.origin)
      open(address, '_blank', 'noopener,noreferrer');
    else toast('图片没有下载成功，请稍后再试', 'error');
    return;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = nameOf(address, blob.type);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

const PhotoViewerView = ({ images, index, onClose }: PhotoViewerProps) => {
  const [at, setAt] = useState(index);
  const [shown, setShown] = useState(true);
  const [panel, setPanel] = useState<HTMLDivElement | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const close = () => setShown(false);
  useModal(true, close, box);
  useEffect(() => setPanel(box.current), []);
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const turn = (to: number, label: string, icon: 'back' | 'forward') => (
    <button
      type="button"
      className={`photo-act photo-${icon}`}
      aria-label={label}
      disabled={to < 0 || to >= images.length}
      onClick={() => setAt(to)}
    >
      <Icon name={icon} size={24} />
    </button>
  );
  return createPortal(
    <div
      className="photo"
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
          brokenElement={<p className="photo-broken">图片打不开，可能已被删除</p>}
        />
      )}
      {shown && (
        <>
          <div className="photo-bar">
            <span className="photo-count" role="status">
              {at + 1} / {images.length}
            </span>
            <button
              type="button"
              className="photo-act"
              aria-label="下载图片"
              onClick={() => void download(images[at] ?? '')}
            >
              <PathIcon path={downloadPath} size={22} />
            </button>
            <button type="button" className="photo-act" aria-label="关闭" onClick={close}>
              <Icon name="close" size={22} />
            </button>
          </div>
          {images.length > 1 && turn(at - 1, '上一张', 'back')}
          {images.length > 1 && turn(at + 1, '下一张', 'forward')}
        </>
      )}
    </div>,
    document.body,
  );
};

export default PhotoViewerView;
