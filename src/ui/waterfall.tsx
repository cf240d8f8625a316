import {
  Fragment,
  memo,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { layWaterfall, placesWithin, type Shape } from './waterfall-layout.ts';
import css from './waterfall.module.css';

/**
 * So far around the window tiles are made beforehand, in windows: a little behind, more ahead. Of a
 * quick move every tile is a cost and none is looked at.
 */
const around = { calm: { behind: 0.25, ahead: 1.25 }, swift: { behind: 0.05, ahead: 0.75 } };
/** So far it may be scrolled before other tiles are made, px: a few in every frame, never many. */
const step = 128;
/** Who scrolls through a window in less time than this sees no images: they are not asked for, ms. */
const glimpse = 300;
/** So long after the last quick move it counts as over, ms. */
const settling = 120;

interface Part {
  /** The part that tiles are made for, px from the head of the list. */
  from: number;
  to: number;
}

interface Seen extends Part {
  /** It is moving so fast that new tiles stay empty. */
  swift: boolean;
}

/** How much of the list is to be there, as it stands in a page that scrolls as a whole. */
const look = (list: HTMLElement, upwards: boolean, swift: boolean): Part => {
  const { top } = list.getBoundingClientRect();
  const { behind, ahead } = around[swift ? 'swift' : 'calm'];
  const high = window.innerHeight;
  const from = Math.floor((-top - high * (upwards ? ahead : behind)) / step) * step;
  return { from, to: from + step + Math.ceil((high * (1 + ahead + behind)) / step) * step };
};

/** Which element shows which place: one that is free takes what comes next. */
class Elements {
  private readonly taken = new Map<number, number>();
  private free: number[] = [];
  private made = 0;

  /** For each place the number of its element. The same again for the same places. */
  of(places: readonly number[]): number[] {
    const wanted = new Set(places);
    for (const [place, element] of this.taken)
      if (!wanted.has(place)) {
        this.taken.delete(place);
        this.free.push(element);
      }
    return places.map((place) => {
      const known = this.taken.get(place);
      if (known !== undefined) return known;
      const element = this.free.pop() ?? this.made++;
      this.taken.set(place, element);
      return element;
    });
  }
}

interface TileProps<T> {
  item: T;
  /** Names the item. */
  name: string;
  at: number;
  count: number;
  left: number;
  top: number;
  width: number;
  height: number;
  swift: boolean;
  render: (item: T, at: number, width: number) => ReactNode;
}

const Placed = <T,>(props: TileProps<T>) => {
  const { item, name, at, count, left, top, width, height, swift, render } = props;
  const [filled, setFilled] = useState(swift ? '' : name);
  if (!swift && filled !== name) setFilled(name);
  return (
    <li
      aria-posinset={at + 1}
      aria-setsize={count}
      style={{ transform: `translate(${left}px, ${top}px)`, width, height }}
    >
      {filled === name && <Fragment key={name}>{render(item, at, width)}</Fragment>}
    </li>
  );
};
const Tile = memo(Placed) as typeof Placed;

/**
 * Images of known sizes in columns, of which only those near the window exist; it stands in a page
 * that scrolls as a whole. What is there never moves when more are added behind it.
 */
export const Waterfall = <T,>({
  items,
  total = items.length,
  shapeOf,
  keyOf,
  label,
  least,
  gap = 8,
  render,
  more,
  onMore,
}: {
  /** The same array as long as nothing has changed. */
  items: readonly T[];
  /** How many there are when all are read. */
  total?: number;
  shapeOf: (item: T) => Shape;
  keyOf: (item: T) => string;
  label: string;
  /** px that a column is wide at least. */
  least: number;
  gap?: number;
  /** What stands in a tile of this width, px. The same function as long as nothing has changed. */
  render: (item: T, at: number, width: number) => ReactNode;
  /** There is more than these, and it is not on its way. */
  more: boolean;
  /** The end of what is there has come near. */
  onMore: () => void;
}) => {
  const list = useRef<HTMLUListElement>(null);
  const [room, setRoom] = useState(0);
  const [seen, setSeen] = useState<Seen>({ from: 0, to: 0, swift: false });
  const laid = useMemo(
    () => layWaterfall(items.map(shapeOf), { room, least, gap }),
    [items, shapeOf, room, least, gap],
  );
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    let last = { y: window.scrollY, time: performance.now() };
    let upwards = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let swift = false;
    const see = (quick = swift) => {
      swift = quick;
      const part = look(element, upwards, swift);
      setSeen((before) =>
        part.from === before.from && part.to === before.to && swift === before.swift
          ? before
          : { ...part, swift },
      );
    };
    const onScroll = () => {
      const now = { y: window.scrollY, time: performance.now() };
      const speed = Math.abs(now.y - last.y) / Math.max(1, now.time - last.time);
      if (now.y !== last.y) upwards = now.y < last.y;
      last = now;
      const quick = speed * glimpse > window.innerHeight;
      if (quick) {
        clearTimeout(timer);
        timer = setTimeout(() => see(false), settling);
      }
      see(quick || swift);
    };
    const onResize = () => see();
    const measure = () => {
      setRoom(element.clientWidth);
      see();
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    window.addEventListener('scroll', onScroll, { passive: true });
    window.addEventListener('resize', onResize);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
      window.removeEventListener('scroll', onScroll);
      window.removeEventListener('resize', onResize);
    };
  }, []);
  const near = room > 0 && seen.to > 0 && laid.height < seen.to + window.innerHeight * 2;
  const latest = useRef(onMore);
  useEffect(() => {
    latest.current = onMore;
  });
  useEffect(() => {
    if (near && more) latest.current();
  }, [near, more]);
  const [elements] = useState(() => new Elements());
  const places = room > 0 ? placesWithin(laid, seen.from, seen.to) : [];
  const numbers = elements.of(places);
  const tiles = places.flatMap((at, nth) => {
    const item = items[at];
    return item === undefined ? [] : [{ item, at, element: numbers[nth] ?? 0 }];
  });
  // Elements stay where they are while it moves quickly; who reads or tabs meets them in their order.
  if (seen.swift) tiles.sort((one, other) => one.element - other.element);
  return (
    <ul
      className={css.waterfall}
      data-waterfall
      ref={list}
      aria-label={label}
      style={{ height: laid.height }}
    >
      {tiles.map(({ item, at, element }) => (
        <Tile
          key={element}
          item={item}
          name={keyOf(item)}
          at={at}
          count={total}
          left={laid.lefts[at] ?? 0}
          top={laid.tops[at] ?? 0}
          width={laid.width}
          height={laid.heights[at] ?? 0}
          swift={seen.swift}
          render={render}
        />
      ))}
    </ul>
  );
};
