import { errorText } from '#src/platform/api-error.ts';
import { endFirstView, hasSnapshot } from '#src/platform/first-view.ts';
import { Icon } from '#src/ui/icon.tsx';
import { toast } from '#src/platform/toast.ts';
import { limits } from '#contract/limits.ts';
import {
  Fragment,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type Ref,
} from 'react';
import { Virtuoso, type VirtuosoHandle } from 'react-virtuoso';
import { RowView } from './row-view.tsx';
import type { Row } from '#src/widgets/conversation/rows.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

export interface ListHandle {
  toTop: () => void;
  toBottom: () => void;
  /** Goes to a message, wherever it is, and marks it for a moment. */
  show: (id: number, part?: 'human' | 'ai') => Promise<void>;
}

/** How long a message that was looked for stays marked, ms. */
const markTime = 2_400;
/** How long the list may take to bring it, ms. */
const patience = 3_000;
/** So many frames in its place, and it stays there. */
const calmFrames = 8;
const hands = ['wheel', 'touchmove', 'touchend', 'keydown', 'pointerdown'] as const;

/** A message counts as gone to when it begins between these, px below the top of the list. */
const place = { from: -8, to: 160 } as const;

/**
 * Marks a message once the list has put it on the page, and stays with it while what is around it
 * is measured, until somebody's hand moves the list.
 */
const settle = (
  scroller: () => HTMLElement | null,
  { id, part }: { id: number; part: 'human' | 'ai' | undefined },
  go: () => void,
) => {
  const started = performance.now();
  let held = false;
  const hold = () => {
    held = true;
  };
  const list = scroller();
  for (const name of hands) list?.addEventListener(name, hold, { passive: true, once: true });
  let calm = 0;
  let marked = false;
  const look = () => {
    const found = (of = '') =>
      scroller()?.querySelector<HTMLElement>(`${of}[data-message="${id}"]`) ?? null;
    // Its question is on the page before its reply is; some messages have no reply of their own.
    const waits = part === 'ai' && performance.now() - started < patience / 3;
    const element = (part === 'ai' ? found('[data-reply]') : null) ?? (waits ? null : found());
    if (element && !marked) {
      marked = true;
      element.dataset['found'] = '1';
      setTimeout(() => delete element.dataset['found'], markTime);
    }
    const box = list?.getBoundingClientRect();
    const top = element && box ? element.getBoundingClientRect().top - box.top : -Infinity;
    const atEnd = list !== null && list.scrollHeight - list.clientHeight - list.scrollTop < 2;
    const there = (top >= place.from && top <= place.to) || (element && atEnd);
    calm = there ? calm + 1 : 0;
    if (held || calm > calmFrames || performance.now() - started > patience) return;
    if (!there) go();
    requestAnimationFrame(look);
  };
  look();
};

const keyOf = (_index: number, row: Row) => row.key;
const contentOf = (_index: number, row: Row) => <RowView row={row} />;

interface ListContext {
  hasOlder: boolean;
  tail: readonly Row[];
  onTail: (element: HTMLElement | null) => void;
}

/** About as high as a row with images is: one that seems to fit the window is never scrolled to. */
const imageHeight = 560;

/** Where a message's rows begin, or those of its reply. */
const placeOf = (rows: readonly Row[], id: number, part?: 'human' | 'ai'): number => {
  const reply =
    part === 'ai' ? rows.findIndex((row) => row.kind === 'reply' && row.message.id === id) : -1;
  return reply >= 0
    ? reply
    : rows.findIndex(({ message }) => message.id === id || message.beside?.id === id);
};

const Space = () => <div className={rowCss.listSpace} />;
const Older = ({ context }: { context?: ListContext }) =>
  context?.hasOlder ? <p className={rowCss.listOlder}>正在读取更早的消息…</p> : <Space />;
const Tail = ({ context }: { context?: ListContext }) => {
  const { people } = useChatActs();
  return (
    <div className={rowCss.listTail} data-tail ref={context?.onTail}>
      {context?.tail.map((row, at) => (
        <Fragment key={row.key}>{contentOf(at, row)}</Fragment>
      ))}
      {!people && <p className={rowCss.listMade}>回复由人工智能生成，重要的请核实</p>}
    </div>
  );
};

/** Whether the list follows its end; no state of React's, for nothing is drawn by it. */
const createStick = () => {
  let on = true;
  return {
    get: () => on,
    set: (next: boolean) => {
      on = next;
    },
  };
};

/** How often the list hears that it follows its end, ms. */
const tellInterval = 250;
/** How long the list runs on after a flick, ms. */
const handTime = 1_500;

/**
 * Keeps a list at its end while it grows, until the person scrolls up; then again once they are
 * back within 100 px. Watches the height after layout, so that it costs no layout of its own.
 */
const useStick = (
  scroller: HTMLElement | null,
  tail: HTMLElement | null,
  enabled: boolean,
  atEnd: boolean,
) => {
  const [stick] = useState(createStick);
  // A list that is opened at a message begins where that is.
  const begins = useRef(atEnd);
  useEffect(() => {
    begins.current = atEnd;
  }, [atEnd]);
  useEffect(() => {
    stick.set(enabled && begins.current);
    if (!scroller) return undefined;
    let lastTop = scroller.scrollTop;
    let lastHeight = scroller.scrollHeight;
    // The list moves itself when rows above are measured, and its height changes with that; a hand
    // on it, or a move without another height, means to leave the end.
    let handAt = -Infinity;
    const onHand = () => {
      handAt = performance.now();
    };
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = scroller;
      const distance = scrollHeight - clientHeight - scrollTop;
      const byHand = performance.now() - handAt < handTime;
      if (scrollTop < lastTop - 1 && (byHand || scrollHeight === lastHeight)) {
        if (distance > 2) stick.set(false);
      } else if (enabled && distance <= limits.bottomDistance) stick.set(true);
      lastTop = scrollTop;
      lastHeight = scrollHeight;
    };
    let own = false;
    let toldAt = 0;
    let telling: ReturnType<typeof setTimeout> | undefined;
    let soon = false;
    const tell = () => {
      telling = undefined;
      soon = false;
      toldAt = performance.now();
      scroller.dispatchEvent(new Event('scroll'));
    };
    // The list hears of a scroll behind the frame that shows it: the rows that it adds beyond the
    // screen, and their layout, delay no frame. While nothing but the tail grows the rows are the
    // same, and it hears seldom.
    const hold = (event: Event) => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      onScroll();
      const spare = own && performance.now() - handAt >= handTime;
      own = false;
      if (soon || (spare && telling !== undefined)) return;
      clearTimeout(telling);
      soon = !spare;
      const wait = spare ? Math.max(0, toldAt + tellInterval - performance.now()) : 0;
      telling = setTimeout(tell, wait);
    };
    const follow = (changes: ResizeObserverEntry[]) => {
      lastHeight = scroller.scrollHeight;
      if (!stick.get()) return;
      const before = scroller.scrollTop;
      scroller.scrollTop = lastHeight;
      lastTop = scroller.scrollTop;
      own ||= lastTop !== before && changes.every(({ target }) => target === tail);
    };
    const observer = new ResizeObserver(follow);
    observer.observe(scroller);
    for (const child of scroller.querySelectorAll('[data-testid="virtuoso-item-list"]'))
      observer.observe(child, { box: 'border-box' });
    if (tail) observer.observe(tail, { box: 'border-box' });
    scroller.addEventListener('scroll', hold, { passive: true, capture: true });
    for (const name of hands) scroller.addEventListener(name, onHand, { passive: true });
    return () => {
      observer.disconnect();
      clearTimeout(telling);
      scroller.removeEventListener('scroll', hold, { capture: true });
      for (const name of hands) scroller.removeEventListener(name, onHand);
    };
  }, [scroller, tail, enabled, stick]);
  return stick;
};

/** Tells once something of the list can be seen, or it has taken too long; gives what ends the wait. */
const whenSeen = (
  scroller: HTMLElement,
  selector: string,
  onSeen: () => void,
  most = Infinity,
): (() => void) => {
  const started = performance.now();
  const look = () => {
    const row = scroller.querySelector(selector);
    const seen =
      row !== null &&
      row.getClientRects().length > 0 &&
      getComputedStyle(row).visibility !== 'hidden';
    if (seen || performance.now() - started > most) onSeen();
    else frame = requestAnimationFrame(look);
  };
  let frame = requestAnimationFrame(look);
  return () => cancelAnimationFrame(frame);
};

/** How long a list may take to show its first row before its cover goes all the same, ms. */
const coverPatience = 1_500;

/**
 * Whether the first rows stand before the list: it needs a few frames to measure itself, in which
 * it would be blank.
 */
const useCover = (
  scroller: HTMLElement | null,
  begins: boolean,
  filled: boolean,
  hasRows: boolean,
): boolean => {
  const [waits, setWaits] = useState(begins);
  useEffect(() => {
    if (!waits || !filled || !scroller) return undefined;
    // What stands behind the rows is there before they are.
    const first = hasRows ? '[data-item-index]' : '[data-tail] > *';
    return whenSeen(scroller, first, () => setWaits(false), coverPatience);
  }, [scroller, waits, filled, hasRows]);
  return waits && filled;
};

/** Ends the first view once a row is seen, and tells the thread which messages are on the screen. */
const useSeenScreen = (thread: Thread, scroller: HTMLElement | null) => {
  useEffect(
    () =>
      scroller && hasSnapshot() ? whenSeen(scroller, '[data-item-index]', endFirstView) : undefined,
    [scroller],
  );
  useEffect(
    () =>
      scroller
        ? thread.loader.watchScreen(() =>
            [...scroller.querySelectorAll<HTMLElement>('[data-message]')].map(({ dataset }) =>
              Number(dataset['message']),
            ),
          )
        : undefined,
    [scroller, thread],
  );
};

const ToBottom = ({ onClick }: { onClick: () => void }) => (
  <button
    type="button"
    className={`round ${rowCss.toBottom}`}
    onClick={onClick}
    aria-label="回到底部"
  >
    <Icon name="down" size={20} />
  </button>
);

export const MessageList = ({
  thread,
  view,
  hidden,
  begins,
  fromFirst,
  part,
  ref,
}: {
  thread: Thread;
  view: ThreadView;
  /** It has no rows, and something else stands in its place. */
  hidden: boolean;
  /** Its first rows are written here, before one's eyes. */
  begins: boolean;
  /** It opens at its first message. */
  fromFirst: boolean;
  /** Of the message that it opens at, what is gone to. */
  part: 'ai' | undefined;
  ref: Ref<ListHandle>;
}) => {
  const virtuoso = useRef<VirtuosoHandle>(null);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [tail, setTail] = useState<HTMLElement | null>(null);
  const [atBottom, setAtBottom] = useState(true);
  const { newestFirst, rows, focus } = view;
  const follows = !newestFirst && !view.hasNewer;
  // Whoever has gone to its other end since then is there.
  const atFirst = fromFirst && focus === null && !newestFirst && view.stretch === 0;
  const stick = useStick(scroller, tail, follows, focus === null && !atFirst);
  const covered = useCover(scroller, begins, !hidden, rows.length > 0);
  const element = useRef<HTMLElement | null>(null);
  useEffect(() => {
    element.current = scroller;
  }, [scroller]);
  useSeenScreen(thread, scroller);
  const stay = useCallback(
    (id: number, wanted?: 'human' | 'ai') => {
      const go = () => {
        const index = placeOf(thread.store.get().rows, id, wanted);
        if (index >= 0) virtuoso.current?.scrollToIndex({ index, align: 'start' });
      };
      settle(() => element.current, { id, part: wanted }, go);
    },
    [thread],
  );
  useEffect(() => {
    if (focus !== null && scroller) stay(focus, part);
  }, [focus, part, scroller, stay]);

  const toBottom = useCallback(() => {
    const go = () => {
      stick.set(true);
      virtuoso.current?.scrollToIndex({ index: 'LAST', align: 'end' });
    };
    // To the end of what is here, then of all; what could not be read now is asked for at the next tap.
    go();
    if (thread.store.get().hasNewer) thread.loader.toNewest().then(go, () => {});
  }, [stick, thread]);
  const toTop = useCallback(() => {
    stick.set(false);
    virtuoso.current?.scrollToIndex({ index: 0, align: 'start' });
  }, [stick]);
  const show = useCallback(
    async (id: number, wanted?: 'human' | 'ai') => {
      const here = await thread.loader.show(id).catch((error: unknown) => {
        toast(errorText(error), 'error');
      });
      if (here === undefined) return;
      if (!here) return;
      stick.set(false);
      stay(id, wanted);
    },
    [thread, stick, stay],
  );
  useImperativeHandle(ref, () => ({ toTop, toBottom, show }), [toTop, toBottom, show]);

  // What could not be read now is asked for again at the next scroll.
  const older = () => {
    thread.loader.loadOlder().catch(() => {});
  };
  const newer = () => {
    thread.loader.loadNewer().catch(() => {});
  };
  const at = focus === null ? -1 : placeOf(rows, focus, part);
  const start = newestFirst || atFirst ? 0 : ({ index: 'LAST', align: 'end' } as const);
  return (
    <div className={rowCss.list} hidden={hidden}>
      <Virtuoso
        key={view.stretch}
        ref={virtuoso}
        scrollerRef={(element) => setScroller(element instanceof HTMLElement ? element : null)}
        className={rowCss.listScroller}
        data={rows}
        context={{ hasOlder: view.hasOlder, tail: view.tail, onTail: setTail }}
        firstItemIndex={view.firstIndex}
        initialTopMostItemIndex={at < 0 ? start : { index: at, align: 'start' }}
        computeItemKey={keyOf}
        itemContent={contentOf}
        defaultItemHeight={rows[0]?.kind === 'work' ? imageHeight : 120}
        increaseViewportBy={{ top: 600, bottom: 150 }}
        // Rows are measured where they have just been laid out; a frame later all is laid out for it.
        skipAnimationFrameInResizeObserver
        atBottomThreshold={limits.bottomDistance}
        atBottomStateChange={setAtBottom}
        followOutput={() => (follows && stick.get() ? 'auto' : false)}
        startReached={newestFirst ? newer : older}
        endReached={newestFirst ? older : newer}
        components={
          newestFirst ? { Header: Space, Footer: Older } : { Header: Older, Footer: Tail }
        }
        tabIndex={0}
        role="log"
        aria-label="消息"
        aria-live="off"
      />
      {covered && (
        <div className={rowCss.listCover} aria-hidden="true" inert>
          <div className={rowCss.listSpace} />
          {[...rows, ...view.tail].map((row, at) => (
            <Fragment key={row.key}>{contentOf(at, row)}</Fragment>
          ))}
        </div>
      )}
      {!newestFirst && (!atBottom || view.hasNewer) && <ToBottom onClick={toBottom} />}
    </div>
  );
};
