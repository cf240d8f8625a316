import { useCallback, useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react';

/** How something is shown in its box: enlarged about the middle, then moved, px. */
export interface View {
  scale: number;
  x: number;
  y: number;
}
interface Point {
  x: number;
  y: number;
}

export const whole: View = { scale: 1, x: 0, y: 0 };
const most = 8;

const within = (view: View, box: DOMRect): View => {
  const scale = Math.min(most, Math.max(1, view.scale));
  const far = { x: ((scale - 1) * box.width) / 2, y: ((scale - 1) * box.height) / 2 };
  return {
    scale,
    x: Math.min(far.x, Math.max(-far.x, view.x)),
    y: Math.min(far.y, Math.max(-far.y, view.y)),
  };
};

/** Enlarges by a factor so that what lies below a point stays there, moved with the point. */
const about = (view: View, box: DOMRect, from: Point, to: Point, factor: number): View => {
  const middle = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const scale = Math.min(most, Math.max(1, view.scale * factor));
  const grown = scale / view.scale;
  return within(
    {
      scale,
      x: to.x - middle.x - (from.x - middle.x - view.x) * grown,
      y: to.y - middle.y - (from.y - middle.y - view.y) * grown,
    },
    box,
  );
};

/**
 * Zooming by two fingers, the wheel or a factor. What one finger does is the caller's: `down` gives
 * how many there are, `move` whether the two fingers took the movement.
 */
export const useZoom = (box: RefObject<HTMLElement | null>) => {
  const [view, setView] = useState(whole);
  const held = useRef(new Map<number, Point>());
  const pinch = useRef<{ view: View; far: number; middle: Point } | null>(null);
  const latest = useRef(view);
  useEffect(() => {
    latest.current = view;
  });

  const two = () => {
    const [a, b] = [...held.current.values()];
    return a && b
      ? {
          far: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)),
          middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
        }
      : null;
  };
  const down = (event: PointerEvent): number => {
    held.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = held.current.size === 2 ? two() : null;
    pinch.current = now && { view: latest.current, ...now };
    return held.current.size;
  };
  const move = (event: PointerEvent): boolean => {
    if (!held.current.has(event.pointerId)) return false;
    held.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = pinch.current && two();
    const rect = box.current?.getBoundingClientRect();
    if (!pinch.current || !now || !rect) return pinch.current !== null;
    const { view: before, far, middle } = pinch.current;
    setView(about(before, rect, middle, now.middle, now.far / far));
    return true;
  };
  /** Gives how many fingers are left. */
  const up = (event: PointerEvent): number => {
    held.current.delete(event.pointerId);
    if (held.current.size < 2) pinch.current = null;
    return held.current.size;
  };
  const pan = (dx: number, dy: number) => {
    const rect = box.current?.getBoundingClientRect();
    if (rect) setView((old) => within({ ...old, x: old.x + dx, y: old.y + dy }, rect));
  };
  const zoomAt = (at: Point, factor: number) => {
    const rect = box.current?.getBoundingClientRect();
    if (rect) setView((old) => about(old, rect, at, at, factor));
  };
  const reset = useCallback(() => setView(whole), []);

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const at = { x: event.clientX, y: event.clientY };
      const rect = element.getBoundingClientRect();
      setView((old) => about(old, rect, at, at, Math.exp(-event.deltaY / 400)));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [box]);

  return {
    view,
    style: { transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` },
    down,
    move,
    up,
    pan,
    zoomAt,
    reset,
  };
};
