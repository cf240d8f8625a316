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

/** What shows at the top while the list is pulled down, and reads it anew. */
const createPuller = (root: HTMLElement, acts: { readonly current: GestureActs }) => {
  const puller = document.createElement('p');
  puller.className = css.pull ?? '';
  puller.dataset['pull'] = '';
  puller.setAttribute('role', 'status');
  root.prepend(puller);
  let pulled = 0;
  let refreshing = false;
  const show = (distance: number, text: string) => {
    pulled = distance;
    puller.textContent = text;
    puller.style.height = `${distance}px`;
  };
  const refresh = async () => {
    refreshing = true;
    show(pull, '正在刷新…');
    // Long enough to be read.
    const seen = new Promise((resolve) => {
      setTimeout(resolve, 400);
    });
    await Promise.allSettled([acts.current.onRefresh(), seen]);
    refreshing = false;
    show(0, '');
  };
  return {
    isBusy: () => refreshing,
    /** @param far how far the finger went, px */
    follow: (far: number) => {
      const distance = Math.min(96, Math.max(0, far) * 0.5);
      if (distance >= pull && pulled < pull) feel('tick');
      show(distance, distance >= pull ? '松开刷新' : '下拉刷新');
    },
    leave: () => {
      if (pulled >= pull) void refresh();
      else show(0, '');
    },
    remove: () => puller.remove(),
  };
};

const place = (card: HTMLElement, x: number, gliding: boolean) => {
  const front = frontOf(card);
  if (!front) return;
  front.style.transition = gliding ? '' : 'none';
  front.style.transform = x === 0 ? '' : `translateX(${x}px)`;
};
const widthOf = (card: HTMLElement) =>
  (card.querySelectorAll(`.${css.sessionActs} button`).length || 1) * actWidth;

/** The one card that is swept aside, if any. */
const createAside = (acts: { readonly current: GestureActs }) => {
  let aside: HTMLElement | null = null;
  const putBack = () => {
    if (!aside) return;
    place(aside, 0, true);
    aside = null;
    acts.current.onSwipe('');
  };
  return {
    get: () => aside,
    putBack,
    sweep: (card: HTMLElement) => {
      if (card === aside) return;
      aside = card;
      acts.current.onSwipe(card.dataset['swipe'] ?? '');
    },
    /** Its finger left: far enough it stays aside, else it comes back. */
    leave: (card: HTMLElement, from: number) => {
      const front = frontOf(card);
      const x = front ? new DOMMatrix(getComputedStyle(front).transform).m41 : 0;
      if (from === 0 ? x < -sweep : x < -widthOf(card) + sweep / 2) {
        place(card, -widthOf(card), true);
        feel('tick');
      } else putBack();
    },
    /** A tap on what was swept aside brings it back instead of opening it. */
    onClick: (event: MouseEvent) => {
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
  };
};

/** A finger that rests on a card opens its menu. */
const createPress = (onPress: () => void) => {
  let pressing: ReturnType<typeof setTimeout> | undefined;
  let pressed = false;
  const open = (card: HTMLElement) => {
    const menu = card.querySelector<HTMLElement>(`.${css.sessionMenu}`);
    if (!menu) return;
    pressed = true;
    onPress();
    feel('tick');
    menu.click();
  };
  const end = () => clearTimeout(pressing);
  return {
    end,
    /** @param card null: the finger came to none */
    begin: (card: HTMLElement | null) => {
      end();
      pressed = false;
      if (card) pressing = setTimeout(() => open(card), pressTime);
    },
    /** The browser's own menu of a link must not lie over the card's. */
    onContextMenu: (event: MouseEvent) => {
      if (
        pressing !== undefined &&
        event.target instanceof Element &&
        event.target.closest('[data-swipe]')
      )
        event.preventDefault();
    },
    /** The finger that opened a menu opens nothing else when it leaves. */
    onTouchEnd: (event: TouchEvent) => {
      if (pressed && event.cancelable) event.preventDefault();
    },
  };
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
  const puller = createPuller(root, acts);
  const aside = createAside(acts);
  let touching: Touching | null = null;
  const press = createPress(() => (touching = null));

  const begin = (event: TouchEvent) => {
    const [touch] = event.touches;
    const target = event.target instanceof Element ? event.target : null;
    const several = !touch || event.touches.length > 1;
    const card = several ? null : (target?.closest<HTMLElement>('[data-swipe]') ?? null);
    if (!several && card !== aside.get()) aside.putBack();
    press.begin(aside.get() ? null : card);
    touching = several
      ? null
      : {
          x: touch.clientX,
          y: touch.clientY,
          card,
          from: card !== null && card === aside.get() ? -widthOf(card) : 0,
          kind: 'unknown',
        };
  };

  const decide = (now: Touching, dx: number, dy: number): Touching['kind'] => {
    if (Math.abs(dx) < slop && Math.abs(dy) < slop) return 'unknown';
    if (Math.abs(dx) > Math.abs(dy))
      return now.card && (dx < 0 || now.from < 0) ? 'swipe' : 'other';
    return dy > 0 && scrollY <= 0 && !puller.isBusy() ? 'pull' : 'other';
  };

  const move = (event: TouchEvent) => {
    const [touch] = event.touches;
    if (!touching || !touch) return;
    const { card } = touching;
    const dx = touch.clientX - touching.x;
    const dy = touch.clientY - touching.y;
    if (touching.kind === 'unknown') {
      touching.kind = decide(touching, dx, dy);
      if (touching.kind !== 'unknown') press.end();
      if (touching.kind === 'swipe' && card) aside.sweep(card);
    }
    if (touching.kind === 'swipe' && card)
      place(card, Math.min(0, Math.max(touching.from + dx, -220)), false);
    if (touching.kind === 'pull') puller.follow(dy - slop);
  };

  const finish = () => {
    press.end();
    const now = touching;
    touching = null;
    if (now?.kind === 'pull') puller.leave();
    if (now?.kind === 'swipe' && now.card) aside.leave(now.card, now.from);
  };

  root.addEventListener('touchstart', begin, { passive: true, signal });
  root.addEventListener('touchmove', move, { passive: true, signal });
  root.addEventListener('touchend', finish, { signal });
  root.addEventListener('touchcancel', finish, { signal });
  root.addEventListener('contextmenu', press.onContextMenu, { signal });
  root.addEventListener('touchend', press.onTouchEnd, { passive: false, signal });
  root.addEventListener('click', aside.onClick, { capture: true, signal });
  if (first) begin(first);
  return () => {
    abort.abort();
    puller.remove();
  };
};
