import { feel } from '#src/platform/haptics.ts';
import type { GestureActs } from './gesture-acts.ts';
import css from './home.module.css';

/** How far a finger goes before it is known where, px. */
const slop = 10;
/** Beyond this a card stays aside, px. */
const sweep = 56;
/** How wide what is behind a card is, px for each of its acts. */
const actWidth = 88;
/** A finger that rests on a card this long opens its menu, ms. */
const pressTime = 480;
/** The list is read anew when pulled at least this far, px on the screen. */
const pull = 64;

interface Touching {
  x: number;
  y: number;
  card: HTMLElement | null;
  /** Where the card stood when the finger came, px. */
  from: number;
  kind: 'unknown' | 'swipe' | 'pull' | 'other';
}

const frontOf = (card: HTMLElement) => card.querySelector<HTMLElement>(`.${css.sessionFront}`);

const makePuller = () => {
  const puller = document.createElement('p');
  puller.className = css.pull ?? '';
  puller.dataset['pull'] = '';
  puller.setAttribute('role', 'status');
  return puller;
};

/**
 * Follows fingers on the home screen until the returned function is called. Scrolling stays the
 * browser's: a card takes horizontal movements alone (`touch-action: pan-y`), and pulling counts
 * only where the page is at its top.
 */
export const watchGestures = (
  root: HTMLElement,
  acts: { readonly current: GestureActs },
  /** Null: its finger has left. */
  first: TouchEvent | null,
): (() => void) => {
  const abort = new AbortController();
  const { signal } = abort;
  const puller = makePuller();
  root.prepend(puller);
  let touching: Touching | null = null;
  let aside: HTMLElement | null = null;
  let pulled = 0;
  let refreshing = false;

  const place = (card: HTMLElement, x: number, gliding: boolean) => {
    const front = frontOf(card);
    if (!front) return;
    front.style.transition = gliding ? '' : 'none';
    front.style.transform = x === 0 ? '' : `translateX(${x}px)`;
  };
  const widthOf = (card: HTMLElement) =>
    (card.querySelectorAll(`.${css.sessionActs} button`).length || 1) * actWidth;
  const putBack = () => {
    if (!aside) return;
    place(aside, 0, true);
    aside = null;
    acts.current.onSwipe('');
  };
  const showPull = (distance: number, text: string) => {
    pulled = distance;
    puller.textContent = text;
    puller.style.height = `${distance}px`;
  };

  let pressing: ReturnType<typeof setTimeout> | undefined;
  let pressed = false;
  const endPress = () => clearTimeout(pressing);
  const press = (card: HTMLElement) => {
    const menu = card.querySelector<HTMLElement>(`.${css.sessionMenu}`);
    if (!menu) return;
    pressed = true;
    touching = null;
    feel('tick');
    menu.click();
  };

  const begin = (event: TouchEvent) => {
    const [touch] = event.touches;
    endPress();
    pressed = false;
    if (!touch || event.touches.length > 1) {
      touching = null;
      return;
    }
    const target = event.target instanceof Element ? event.target : null;
    const card = target?.closest<HTMLElement>('[data-swipe]') ?? null;
    if (aside && card !== aside) putBack();
    if (card && !aside) pressing = setTimeout(() => press(card), pressTime);
    touching = {
      x: touch.clientX,
      y: touch.clientY,
      card,
      from: card !== null && card === aside ? -widthOf(card) : 0,
      kind: 'unknown',
    };
  };

  const decide = (now: Touching, dx: number, dy: number): Touching['kind'] => {
    if (Math.abs(dx) < slop && Math.abs(dy) < slop) return 'unknown';
    if (Math.abs(dx) > Math.abs(dy))
      return now.card && (dx < 0 || now.from < 0) ? 'swipe' : 'other';
    return dy > 0 && scrollY <= 0 && !refreshing ? 'pull' : 'other';
  };

  const move = (event: TouchEvent) => {
    const [touch] = event.touches;
    if (!touching || !touch) return;
    const dx = touch.clientX - touching.x;
    const dy = touch.clientY - touching.y;
    if (touching.kind === 'unknown') {
      touching.kind = decide(touching, dx, dy);
      if (touching.kind !== 'unknown') endPress();
      if (touching.kind === 'swipe' && touching.card && touching.card !== aside) {
        aside = touching.card;
        acts.current.onSwipe(touching.card.dataset['swipe'] ?? '');
      }
    }
    if (touching.kind === 'swipe' && touching.card)
      place(touching.card, Math.min(0, Math.max(touching.from + dx, -220)), false);
    if (touching.kind === 'pull') {
      const distance = Math.min(96, Math.max(0, dy - slop) * 0.5);
      if (distance >= pull && pulled < pull) feel('tick');
      showPull(distance, distance >= pull ? '松开刷新' : '下拉刷新');
    }
  };

  const refresh = async () => {
    refreshing = true;
    showPull(pull, '正在刷新…');
    // Long enough to be read.
    const seen = new Promise((resolve) => {
      setTimeout(resolve, 400);
    });
    await Promise.allSettled([acts.current.onRefresh(), seen]);
    refreshing = false;
    showPull(0, '');
  };

  const finish = () => {
    endPress();
    const now = touching;
    touching = null;
    if (now?.kind === 'pull') {
      if (pulled >= pull) void refresh();
      else showPull(0, '');
    }
    if (now?.kind !== 'swipe' || !now.card) return;
    const front = frontOf(now.card);
    const x = front ? new DOMMatrix(getComputedStyle(front).transform).m41 : 0;
    if (now.from === 0 ? x < -sweep : x < -widthOf(now.card) + sweep / 2) {
      place(now.card, -widthOf(now.card), true);
      feel('tick');
    } else putBack();
  };

  root.addEventListener('touchstart', begin, { passive: true, signal });
  root.addEventListener('touchmove', move, { passive: true, signal });
  root.addEventListener('touchend', finish, { signal });
  root.addEventListener('touchcancel', finish, { signal });
  // The browser's own menu of a link must not lie over the card's.
  root.addEventListener(
    'contextmenu',
    (event) => {
      if (
        pressing !== undefined &&
        event.target instanceof Element &&
        event.target.closest('[data-swipe]')
      )
        event.preventDefault();
    },
    { signal },
  );
  // The finger that opened a menu opens nothing else when it leaves.
  root.addEventListener(
    'touchend',
    (event) => {
      if (pressed && event.cancelable) event.preventDefault();
    },
    { passive: false, signal },
  );
  // A tap on what was swept aside brings it back instead of opening it.
  root.addEventListener(
    'click',
    (event) => {
      if (!aside || !(event.target instanceof Element)) return;
      if (event.target.closest(`.${css.sessionActs}`)) {
        place(aside, 0, true);
        aside = null;
        return;
      }
      if (event.target.closest(`.${css.sessionFront}`)) {
        event.preventDefault();
        event.stopPropagation();
        putBack();
      }
    },
    { capture: true, signal },
  );
  if (first) begin(first);
  return () => {
    abort.abort();
    puller.remove();
  };
};
