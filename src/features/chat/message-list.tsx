import { Icon } from '@/shared/ui/icon.tsx';
import { limits } from '@contract/limits.ts';
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
import { RowView } from './message-row.tsx';
import { LiveRows } from './live-rows.tsx';
import type { Row } from './rows.ts';
import type { Thread, ThreadView } from './thread.ts';

export interface ListHandle {
  toTop: () => void;
  toBottom: () => void;
}

const keyOf = (_index: number, row: Row) => row.key;
const contentOf = (_index: number, row: Row) =>
  row.kind === 'live' ? <LiveRows row={row} /> : <RowView row={row} />;

interface ListContext {
  hasOlder: boolean;
  tail: readonly Row[];
  onTail: (element: HTMLElement | null) => void;
}

const Space = () => <div className="list-space" />;
const Older = ({ context }: { context?: ListContext }) =>
  context?.hasOlder ? <p className="list-older">正在读取更早的消息…</p> : <Space />;
const Tail = ({ context }: { context?: ListContext }) => (
  <div className="list-tail" ref={context?.onTail}>
    {context?.tail.map((row, at) => (
      <Fragment key={row.key}>{contentOf(at, row)}</Fragment>
    ))}
  </div>
);

const hands = ['wheel', 'touchmove', 'touchend', 'keydown', 'pointerdown'] as const;
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

/** How long the list runs on after a flick, ms. */
const handTime = 1_500;

/**
 * Keeps a list at its end while it grows, until the person scrolls up; then again once they are
 * back within 100 px. Watches the height after layout, so that it costs no layout of its own.
 */
const useStick = (scroller: HTMLElement | null, tail: HTMLElement | null, enabled: boolean) => {
  const [stick] = useState(createStick);
  useEffect(() => {
    if (!scroller || !enabled) return undefined;
    stick.set(true);
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
      } else if (distance <= limits.bottomDistance) stick.set(true);
      lastTop = scrollTop;
      lastHeight = scrollHeight;
    };
    const follow = () => {
      lastHeight = scroller.scrollHeight;
      if (stick.get()) scroller.scrollTop = lastHeight;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(scroller);
    for (const child of scroller.querySelectorAll('[data-testid="virtuoso-item-list"]'))
      observer.observe(child, { box: 'border-box' });
    if (tail) observer.observe(tail, { box: 'border-box' });
    scroller.addEventListener('scroll', onScroll, { passive: true });
    for (const name of hands) scroller.addEventListener(name, onHand, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener('scroll', onScroll);
      for (const name of hands) scroller.removeEventListener(name, onHand);
    };
  }, [scroller, tail, enabled, stick]);
  return stick;
};

export const MessageList = ({
  thread,
  view,
  ref,
}: {
  thread: Thread;
  view: ThreadView;
  ref: Ref<ListHandle>;
}) => {
  const virtuoso = useRef<VirtuosoHandle>(null);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [tail, setTail] = useState<HTMLElement | null>(null);
  const [atBottom, setAtBottom] = useState(true);
  const { newestFirst, rows } = view;
  const stick = useStick(scroller, tail, !newestFirst);

  const toBottom = useCallback(() => {
    stick.set(true);
    virtuoso.current?.scrollToIndex({ index: 'LAST', align: 'end' });
  }, [stick]);
  const toTop = useCallback(() => {
    stick.set(false);
    virtuoso.current?.scrollToIndex({ index: 0, align: 'start' });
  }, [stick]);
  useImperativeHandle(ref, () => ({ toTop, toBottom }), [toTop, toBottom]);

  const older = () => {
    // What could not be read now is asked for again at the next scroll.
    thread.loadOlder().catch(() => {});
  };
  return (
    <div className="list">
      <Virtuoso
        key={newestFirst ? 'newest' : 'oldest'}
        ref={virtuoso}
        scrollerRef={(element) => setScroller(element instanceof HTMLElement ? element : null)}
        className="list-scroller"
        data={rows}
        context={{ hasOlder: view.hasOlder, tail: view.tail, onTail: setTail }}
        firstItemIndex={view.firstIndex}
        initialTopMostItemIndex={newestFirst ? 0 : { index: 'LAST', align: 'end' }}
        computeItemKey={keyOf}
        itemContent={contentOf}
        defaultItemHeight={120}
        increaseViewportBy={{ top: 600, bottom: 150 }}
        atBottomThreshold={limits.bottomDistance}
        atBottomStateChange={setAtBottom}
        followOutput={() => (!newestFirst && stick.get() ? 'auto' : false)}
        startReached={newestFirst ? undefined : older}
        endReached={newestFirst ? older : undefined}
        components={
          newestFirst ? { Header: Space, Footer: Older } : { Header: Older, Footer: Tail }
        }
        tabIndex={0}
        role="log"
        aria-label="消息"
        aria-live="off"
      />
      {!newestFirst && !atBottom && (
        <button type="button" className="to-bottom" onClick={toBottom} aria-label="回到底部">
          <Icon name="down" size={20} />
        </button>
      )}
    </div>
  );
};
