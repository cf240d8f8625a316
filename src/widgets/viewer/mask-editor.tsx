import {
  type CSSProperties,
  type PointerEvent,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { ChipChoice } from '#src/ui/chip-choice.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import type { ViewedImage } from './image-viewer-props.ts';
import { drawMask, hasRoom, noMask, rectangle, type Mark, type Mask } from './mask.ts';
import { isTyped, type MaskHistory } from './use-mask.ts';
import { useZoom } from './use-zoom.ts';
import styles from './viewer.module.css';

export type MaskTool = 'brush' | 'rectangle' | 'lasso' | 'eraser';

const tools = [
  { value: 'brush', label: '画笔' },
  { value: 'rectangle', label: '方框' },
  { value: 'lasso', label: '套索' },
  { value: 'eraser', label: '橡皮' },
] as const;

/** Percent of the image's shorter side. */
const pen = { min: 1, max: 30, usual: 8 };
/** Pixels of the longer side of what is painted on. */
const sharpness = 900;
/** Points closer together than this look like one, as a share of the longer side. */
const apart = 0.004;

/** Whether the space bar is held: then the mouse moves the image instead of marking. */
const useHand = (): boolean => {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, type, code } = event;
      // A button that has the focus is pressed by it, and words have spaces.
      if (code !== 'Space' || isTyped(target) || target instanceof HTMLButtonElement) return;
      event.preventDefault();
      setHeld(type === 'keydown');
    };
    const drop = () => setHeld(false);
    document.addEventListener('keydown', onKey);
    document.addEventListener('keyup', onKey);
    addEventListener('blur', drop);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('keyup', onKey);
      removeEventListener('blur', drop);
    };
  }, []);
  return held;
};

/** [ and ] make the pen smaller and larger, X turns it round. */
const useToolKeys = (
  tool: MaskTool,
  thick: number,
  { onTool, onThick }: { onTool: (tool: MaskTool) => void; onThick: (thick: number) => void },
): void => {
  const act = useRef<(key: string) => void>(() => undefined);
  useEffect(() => {
    act.current = (key) => {
      if (key === 'x') onTool(tool === 'eraser' ? 'brush' : 'eraser');
      else if (key === '[') onThick(Math.max(pen.min, thick - 2));
      else if (key === ']') onThick(Math.min(pen.max, thick + 2));
    };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return;
      act.current(event.key.toLowerCase());
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
};

type Point = Mark['points'][number];

interface Marking {
  image: ViewedImage;
  mask: Mask;
  tool: MaskTool;
  /** Of the brush, percent of the shorter side. */
  thick: number;
  onChange: (mask: Mask) => void;
}

const started = ({ image: { width, height }, tool, thick }: Marking, point: Point): Mark => {
  if (tool === 'rectangle') return rectangle(point, point);
  const points = [point];
  if (tool === 'lasso')
    return { size: Math.max(1, Math.round(Math.max(width, height) * 0.004)), points, area: true };
  const size = Math.max(1, Math.round((thick / 100) * Math.min(width, height)));
  return { size, points, ...(tool === 'eraser' ? { erase: true } : {}) };
};

/** A tap is no frame, nor an outline. */
const isMark = ({ points }: Mark, tool: MaskTool, longest: number): boolean => {
  const [first, , across] = points;
  const small = longest * 0.01;
  if (tool === 'rectangle' && first && across)
    return Math.abs(across.x - first.x) >= small && Math.abs(across.y - first.y) >= small;
  return tool !== 'lasso' || points.length >= 3;
};

/** One mark as fingers or the mouse draw it: one finger marks, two zoom and move and mark nothing. */
const useMarking = (
  marking: Marking,
  zoom: ReturnType<typeof useZoom>,
  canvas: RefObject<HTMLCanvasElement | null>,
) => {
  const { image, mask, tool, onChange } = marking;
  const { width, height } = image;
  const longest = Math.max(width, height);
  const hand = useHand();
  const moved = useRef<{ x: number; y: number } | null>(null);
  const [now, show] = useState<Mark | null>(null);
  // Fingers are quicker than what is shown: the next event goes by what the last one left.
  const drawing = useRef<Mark | null>(null);
  const setNow = (mark: Mark | null) => {
    drawing.current = mark;
    show(mark);
  };
  const pointOf = (event: PointerEvent): Point => {
    const rect = canvas.current?.getBoundingClientRect();
    if (!rect) return { x: 0, y: 0 };
    const on = (at: number, from: number, length: number, side: number) =>
      Math.round(Math.min(1, Math.max(0, (at - from) / length)) * side);
    return {
      x: on(event.clientX, rect.left, rect.width, width),
      y: on(event.clientY, rect.top, rect.height, height),
    };
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    // The second finger: the first was not meant to mark.
    if (zoom.down(event) > 1) setNow(null);
    else if (hand) moved.current = { x: event.clientX, y: event.clientY };
    else if (hasRoom(mask)) setNow(started(marking, pointOf(event)));
    else toast('标得太多了：撤销几笔，或换大一点的笔再涂', 'info');
  };
  const onPointerMove = (event: PointerEvent) => {
    const { current } = drawing;
    if (zoom.move(event)) return;
    if (moved.current) {
      zoom.pan(event.clientX - moved.current.x, event.clientY - moved.current.y);
      moved.current = { x: event.clientX, y: event.clientY };
    }
    if (!current) return;
    const point = pointOf(event);
    const [first] = current.points;
    const last = current.points.at(-1);
    if (!first || !last) return;
    if (tool === 'rectangle') setNow(rectangle(first, point));
    else if (
      Math.hypot(point.x - last.x, point.y - last.y) >= (longest * apart) / zoom.view.scale &&
      hasRoom({ ...mask, marks: [...mask.marks, current] })
    )
      setNow({ ...current, points: [...current.points, point] });
  };
  const onPointerUp = (event: PointerEvent) => {
    const { current } = drawing;
    zoom.up(event);
    moved.current = null;
    if (!current) return;
    setNow(null);
    if (event.type !== 'pointercancel' && isMark(current, tool, longest))
      onChange({ ...mask, marks: [...mask.marks, current] });
  };
  return {
    hand,
    shown: now ? { ...mask, marks: [...mask.marks, now] } : mask,
    on: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp },
  };
};

/** Where one marks on the image. */
export const MaskStage = (marking: Marking) => {
  const { image, mask } = marking;
  const { width, height } = image;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const zoom = useZoom(box);
  const { hand, shown, on } = useMarking(marking, zoom, canvas);
  const scale = sharpness / Math.max(width, height);

  useEffect(() => {
    if (!canvas.current) return;
    const { color } = getComputedStyle(canvas.current);
    drawMask(canvas.current, shown, image, color);
  });

  const marked = mask.marks.length;
  return (
    <div ref={box} className={styles['stage']} data-hand={hand || undefined} {...on}>
      <div className={styles['frame']} style={zoom.style}>
        <span
          className={`${styles['photo']} ${styles['paper']}`}
          style={{ '--shape': width / Math.max(1, height) } as CSSProperties}
        >
          <img
            src={image.url}
            style={{ backgroundImage: `url(${smallImage(image.url, 640)})` }}
            alt="要修改的图片"
            draggable={false}
          />
          <canvas
            ref={canvas}
            width={Math.max(1, Math.round(width * scale))}
            height={Math.max(1, Math.round(height * scale))}
            role="img"
            aria-label={
              mask.inverted
                ? `反选，标了 ${marked} 处`
                : marked === 0
                  ? '还没有标出要改的地方，用手指或鼠标涂'
                  : `标了 ${marked} 处`
            }
          />
        </span>
      </div>
      {zoom.view.scale > 1 && (
        <button
          type="button"
          className={styles['unzoom']}
          // It stands on what is marked, and is no place to mark.
          onPointerDown={(event) => event.stopPropagation()}
          onClick={zoom.reset}
        >
          {Math.round(zoom.view.scale * 100)}% · 看全图
        </button>
      )}
    </div>
  );
};

/** What one marks with, and the way back. */
export const MaskTools = ({
  history: { mask, change, undo, redo },
  tool,
  thick,
  onTool,
  onThick,
}: {
  history: MaskHistory;
  tool: MaskTool;
  thick: number;
  onTool: (tool: MaskTool) => void;
  onThick: (thick: number) => void;
}) => {
  useToolKeys(tool, thick, { onTool, onThick });
  return (
    <div className={styles['maskTools']} title="[ ] 画笔大小，X 画笔与橡皮，按住空格移动图片">
      <ChipChoice label="用什么标" value={tool} choices={tools} onChange={onTool} />
      {(tool === 'brush' || tool === 'eraser') && (
        <SliderField
          label="画笔大小"
          min={pen.min}
          max={pen.max}
          value={thick}
          show={(value) => `${value}%`}
          onChange={onThick}
        />
      )}
      <div className={styles['row']}>
        <Button size="small" title="Ctrl + Z" disabled={!undo} onClick={undo}>
          撤销
        </Button>
        <Button size="small" title="Ctrl + Y" disabled={!redo} onClick={redo}>
          重做
        </Button>
        <Button
          size="small"
          aria-pressed={mask.inverted}
          onClick={() => change({ ...mask, inverted: !mask.inverted })}
        >
          反选
        </Button>
        <Button
          size="small"
          disabled={mask.marks.length === 0 && !mask.inverted}
          onClick={() => change(noMask)}
        >
          清空
        </Button>
      </div>
    </div>
  );
};

export const usualThickness = pen.usual;
