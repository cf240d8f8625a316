import { useEffect, useLayoutEffect, useRef, useState, type PointerEvent } from 'react';
import { smallImage, wholeSources } from '#src/widgets/image/image-sources.ts';
import type { ViewedImage, ViewedTile } from './image-viewer-props.ts';
import { useZoom } from './use-zoom.ts';
import styles from './viewer.module.css';

/** px that a finger must go to turn the page or close. */
const far = 64;
/** Two taps within this time and distance are one double tap, ms and px. */
const double = { ms: 300, px: 30 };
/** Of turning and growing, ms. */
const quick = 160;

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Small images to begin with: that of the tile is there already. */
const smallOnes = (url: string, tile: ViewedTile | null): string[] => [
  ...(tile && url !== '' && tile.src.includes(url) ? [tile.src] : []),
  ...([640, 320, 180] as const).map((side) => smallImage(url, side)),
];

/** An image: its small one at once, and as sharp as the screen is when that is there. */
const Photo = ({
  image,
  alt,
  tile,
  scale,
}: {
  image: ViewedImage;
  alt: string;
  tile: ViewedTile | null;
  scale: number;
}) => {
  const [sharp, setSharp] = useState(false);
  const [tried, setTried] = useState(0);
  const [smalls] = useState(() => smallOnes(image.url, tile));
  const box = useRef<HTMLSpanElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(box.current?.offsetWidth ?? 0), []);
  const small = smalls[tried];
  return (
    <span
      ref={box}
      className={styles['photo']}
      style={{ '--shape': image.width / Math.max(1, image.height) } as React.CSSProperties}
    >
      {!sharp && small !== undefined && (
        <img
          src={small}
          alt=""
          aria-hidden="true"
          // Without a network there is the one of its tile, if any.
          onError={() => setTried(tried + 1)}
        />
      )}
      <img
        src={image.url}
        srcSet={wholeSources(image)}
        sizes={width > 0 ? `${Math.ceil(width * scale)}px` : '100vw'}
        alt={alt}
        draggable={false}
        decoding="async"
        style={{ opacity: sharp ? 1 : 0 }}
        onLoad={() => setSharp(true)}
      />
    </span>
  );
};

/** Shows one image; a swipe turns to the next, two fingers zoom, a pull down closes. */
export const Stage = ({
  image,
  alt,
  from,
  onTurn,
  onClose,
}: {
  image: ViewedImage;
  alt: string;
  from: ViewedTile | null;
  /** Absent: there is none in that direction. */
  onTurn: { back?: () => void; forward?: () => void };
  onClose: () => void;
}) => {
  const box = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const zoom = useZoom(box);
  const [drag, setDrag] = useState<{ x: number; y: number } | null>(null);
  const start = useRef<{ x: number; y: number; last: { x: number; y: number } } | null>(null);
  const tapped = useRef({ at: 0, x: 0, y: 0 });
  const { reset } = zoom;
  useEffect(reset, [image.id, reset]);

  const first = useRef(from);
  const [tile] = useState(from);
  useLayoutEffect(() => {
    const rect = first.current?.rect;
    const photo = frame.current?.querySelector(`.${styles['photo']}`);
    first.current = null;
    if (!rect || !photo || still() || typeof photo.animate !== 'function') return;
    const to = photo.getBoundingClientRect();
    if (to.width === 0) return;
    const scale = rect.width / to.width;
    const x = rect.left + rect.width / 2 - to.left - to.width / 2;
    const y = rect.top + rect.height / 2 - to.top - to.height / 2;
    photo.animate(
      [{ transform: `translate(${x}px, ${y}px) scale(${scale})` }, { transform: 'none' }],
      { duration: quick, easing: 'ease-out' },
    );
  }, []);

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const count = zoom.down(event);
    const here = { x: event.clientX, y: event.clientY };
    start.current = count === 1 ? { ...here, last: here } : null;
    if (count > 1) setDrag(null);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (zoom.move(event) || !start.current) return;
    const { last, x, y } = start.current;
    const here = { x: event.clientX, y: event.clientY };
    start.current.last = here;
    if (zoom.view.scale > 1) zoom.pan(here.x - last.x, here.y - last.y);
    else setDrag({ x: here.x - x, y: here.y - y });
  };
  const onPointerUp = (event: PointerEvent) => {
    zoom.up(event);
    const { current } = start;
    start.current = null;
    setDrag(null);
    if (!current || event.type === 'pointercancel') return;
    const gone = { x: event.clientX - current.x, y: event.clientY - current.y };
    if (Math.hypot(gone.x, gone.y) < 8) {
      const now = performance.now();
      const { at, x, y } = tapped.current;
      const twice =
        now - at < double.ms && Math.hypot(event.clientX - x, event.clientY - y) < double.px;
      tapped.current = { at: twice ? 0 : now, x: event.clientX, y: event.clientY };
      if (twice && zoom.view.scale > 1) zoom.reset();
      else if (twice) zoom.zoomAt({ x: event.clientX, y: event.clientY }, 2.5);
      return;
    }
    if (zoom.view.scale > 1) return;
    if (Math.abs(gone.x) > far && Math.abs(gone.x) > Math.abs(gone.y))
      (gone.x < 0 ? onTurn.forward : onTurn.back)?.();
    else if (gone.y > far * 1.5 && event.pointerType !== 'mouse') onClose();
  };
  const pulled = drag && Math.abs(drag.y) > Math.abs(drag.x) ? Math.max(0, drag.y) : 0;
  return (
    <div
      ref={box}
      className={styles['stage']}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={onPointerUp}
    >
      <div
        ref={frame}
        className={styles['frame']}
        style={
          drag
            ? { transform: pulled > 0 ? `translateY(${pulled}px)` : `translateX(${drag.x}px)` }
            : zoom.style
        }
      >
        {image.url === '' ? (
          <p className={styles['gone']}>图片已删除</p>
        ) : (
          <Photo key={image.id} image={image} alt={alt} tile={tile} scale={zoom.view.scale} />
        )}
      </div>
    </div>
  );
};
