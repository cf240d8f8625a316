import { maskName } from '#src/platform/format.ts';
import { LoadedImage } from '#src/ui/loaded-image.tsx';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { createStore, useStore } from '#src/platform/store.ts';
import { useMedia } from '#src/platform/use-media.ts';
import type { ListedVideo } from '#contract/video.ts';
import { Link } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import css from './video.module.css';

const stillness = '(prefers-reduced-motion: reduce)';
const pointer = '(hover: hover)';

/** Whoever saves data is shown posters alone. */
const savesData = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

/** Tiles across the middle of the screen, by id: on a phone two stand side by side. One alone plays. */
const across = new Map<string, Element>();
const chosen = createStore('');

const fromMiddle = (tile: Element): number => {
  const { top, height } = tile.getBoundingClientRect();
  return Math.abs(top + height / 2 - innerHeight / 2);
};

/** The one that plays goes on until it leaves the middle. */
const choose = (): void => {
  if (across.has(chosen.get())) return;
  const [next] = [...across].toSorted(([, a], [, b]) => fromMiddle(a) - fromMiddle(b));
  chosen.set(next?.[0] ?? '');
};

/** Whether a tile is the one in the middle of the screen. */
const useInMiddle = (wanted: boolean) => {
  const id = useId();
  const tile = useRef<HTMLAnchorElement>(null);
  const middle = useStore(chosen) === id;
  useEffect(() => {
    const element = tile.current;
    if (!wanted || !element) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting === true) across.set(id, element);
        else across.delete(id);
        choose();
      },
      { rootMargin: '-42% 0px -42% 0px' },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      across.delete(id);
      choose();
    };
  }, [wanted, id]);
  return { tile, middle: wanted && middle };
};

/** The poster; the film, muted and over again, under a mouse or in the middle of a phone's screen. */
export const VideoTile = ({ video, width }: { video: ListedVideo; width: number }) => {
  const quiet = useMedia(stillness) || savesData();
  const mouse = useMedia(pointer);
  const { tile, middle } = useInMiddle(!mouse && !quiet);
  const [over, setOver] = useState(false);
  const [playing, setPlaying] = useState(false);
  const active = !quiet && (mouse ? over : middle);
  if (!active && playing) setPlaying(false);
  const name = video.prompt.trim() || '图生视频';
  return (
    <Link
      ref={tile}
      className={css.tile}
      to="/chat"
      search={{ uuid: video.session_uuid, history_id: video.history_id, back: '/video' }}
      aria-label={`${name.slice(0, 60)}，${Math.round(video.duration)} 秒，${maskName(video.user_name)}`}
      onPointerEnter={() => setOver(true)}
      onPointerLeave={() => setOver(false)}
      onFocus={() => setOver(true)}
      onBlur={() => setOver(false)}
    >
      <LoadedImage
        src={smallImage(video.poster, width > 320 ? 640 : 320)}
        alt=""
        decoding="async"
      />
      {active && (
        <video
          src={video.url}
          muted
          loop
          autoPlay
          playsInline
          preload="auto"
          data-playing={playing || undefined}
          onPlaying={() => setPlaying(true)}
        />
      )}
      <span className={css.words}>
        <span>{name}</span>
        <small>AI 生成 · {Math.round(video.duration)} 秒</small>
      </span>
    </Link>
  );
};
