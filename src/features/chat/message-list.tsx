import { Icon } from '@/shared/ui/icon.tsx';
import { limits } from '@contract/limits.ts';
import { useCallback, useEffect, useImperativeHandle, useRef, useState, type Ref } from 'react';
import { Virtuoso, type VirtuosoHandle } from 'react-virtuoso';
import { RowView } from './message-row.tsx';
import type { Row } from './rows.ts';
import type { Thread, ThreadView } from './thread.ts';

export interface ListHandle {
  toTop: () => void;
  toBottom: () => void;
}

const keyOf = (_index: number, row: Row) => row.key;
const contentOf = (_index: number, row: Row) => <RowView row={row} />;

const Space = () => <div className="list-space" />;
const Older = ({ context }: { context?: { hasOlder: boolean } }) =>
  context?.hasOlder ? <p className="list-older">正在读取更早的消息…</p> : <Space />;

/**
 * Keeps a list at its end while it grows, until the person scrolls up; then again once they are
 * back within 100 px. Watches the height after layout, so that it costs no layout of its own.
 */
const useStick = (scroller: HTMLElement | null, enabled: boolean) => {
  const stuck = useRef(true);
  useEffect(() => {
    if (!scroller || !enabled) return undefined;
    stuck.current = true;
    let lastTop = scroller.scrollTop;
    let lastHeight = scroller.scrollHeight;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = scroller;
      const distance = scrollHeight - clientHeight - scrollTop;
      if (scrollTop < lastTop - 1 && scrollHeight >= lastHeight) {
        if (distance > 2) stuck.current = false;
      } else if (distance <= limits.bottomDistance) stuck.current = true;
      lastTop = scrollTop;
      lastHeight = scrollHeight;
    };
    const follow = () => {
      if (stuck.current) scroller.scrollTop = scroller.scrollHeight;
    };
    const observer = new ResizeObserver(follow);
    observer.observe(scroller);
    for (const child of scroller.querySelectorAll('[data-testid="virtuoso-item-list"]'))
      observer.observe(child);
    scroller.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener('scroll', onScroll);
    };
  }, [scroller, enabled]);
  return stuck;
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
  const [atBottom, setAtBottom] = useState(true);
  const { newestFirst, rows } = view;
  const stuck = useStick(scroller, !newestFirst);

  const toBottom = useCallback(() => {
    stuck.current = true;
    virtuoso.current?.scrollToIndex({ index: 'LAST', align: 'end' });
  }, [stuck]);
  const toTop = useCallback(() => {
    stuck.current = false;
    virtuoso.current?.scrollToIndex({ index: 0, align: 'start' });
  }, [stuck]);
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
        data={rows as Row[]}
        context={{ hasOlder: view.hasOlder }}
        firstItemIndex={view.firstIndex}
        initialTopMostItemIndex={newestFirst ? 0 : { index: 'LAST', align: 'end' }}
        computeItemKey={keyOf}
        itemContent={contentOf}
        defaultItemHeight={120}
        increaseViewportBy={{ top: 700, bottom: 300 }}
        atBottomThreshold={limits.bottomDistance}
        atBottomStateChange={setAtBottom}
        followOutput={() => (!newestFirst && stuck.current ? 'auto' : false)}
        startReached={newestFirst ? undefined : older}
        endReached={newestFirst ? older : undefined}
        components={newestFirst ? { Header: Space, Footer: Older } : { Header: Older, Footer: Space }}
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
