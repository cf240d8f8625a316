import { Button } from '@/shared/ui/button.tsx';
import { Sheet } from '@/shared/ui/sheet.tsx';
import { SliderField } from '@/shared/ui/slider-field.tsx';
import { useEffect, useRef, useState } from 'react';

interface Stroke {
  width: number;
  /** In hundredths of the pad's sides. */
  points: { x: number; y: number }[];
}

const draw = (canvas: HTMLCanvasElement, strokes: readonly Stroke[]) => {
  const context = canvas.getContext('2d');
  if (!context) return;
  // White paper and black ink whatever the theme: engines read it so.
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = '#000000';
  context.fillStyle = '#000000';
  context.lineCap = 'round';
  context.lineJoin = 'round';
  const [sx, sy] = [canvas.width / 100, canvas.height / 100];
  for (const { width, points } of strokes) {
    const [first] = points;
    if (!first) continue;
    context.lineWidth = (width * canvas.width) / 400;
    context.beginPath();
    context.moveTo(first.x * sx, first.y * sy);
    // A touch without a movement is a dot.
    if (points.length === 1) context.lineTo(first.x * sx + 0.1, first.y * sy);
    for (const { x, y } of points.slice(1)) context.lineTo(x * sx, y * sy);
    context.stroke();
  }
};

const Pad = ({
  size,
  onDone,
}: {
  size: { width: number; height: number };
  onDone: (dataUrl: string) => void;
}) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [width, setWidth] = useState(4);
  const drawing = useRef<{ id: number; stroke: Stroke } | null>(null);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, strokes);
  }, [strokes]);

  const pointOf = (event: React.PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (at: number, from: number, length: number) =>
      Math.min(100, Math.max(0, ((at - from) / length) * 100));
    return {
      x: part(event.clientX, box.left, box.width),
      y: part(event.clientY, box.top, box.height),
    };
  };
  const redraw = () => {
    if (canvas.current && drawing.current)
      draw(canvas.current, [...strokes, drawing.current.stroke]);
  };
  const end = (event: React.PointerEvent) => {
    const { current } = drawing;
    if (current?.id !== event.pointerId) return;
    drawing.current = null;
    setStrokes([...strokes, current.stroke]);
  };
  return (
    <div className="sketch">
      <canvas
        ref={canvas}
        width={size.width}
        height={size.height}
        style={{ aspectRatio: `${size.width} / ${size.height}` }}
        role="img"
        aria-label={strokes.length === 0 ? '空白画板，用手指或鼠标画' : `画了 ${strokes.length} 笔`}
        onPointerDown={(event) => {
          if (drawing.current || event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drawing.current = { id: event.pointerId, stroke: { width, points: [pointOf(event)] } };
          redraw();
        }}
        onPointerMove={(event) => {
          if (drawing.current?.id !== event.pointerId) return;
          drawing.current.stroke.points.push(pointOf(event));
          redraw();
        }}
        onPointerUp={end}
        onPointerCancel={end}
      />
      <SliderField label="笔的粗细" min={1} max={16} value={width} onChange={setWidth} />
      <div className="tool-line">
        <Button disabled={strokes.length === 0} onClick={() => setStrokes(strokes.slice(0, -1))}>
          撤销
        </Button>
        <Button disabled={strokes.length === 0} onClick={() => setStrokes([])}>
          清空
        </Button>
        <Button
          kind="primary"
          disabled={strokes.length === 0}
          onClick={() => {
            if (canvas.current) onDone(canvas.current.toDataURL('image/png'));
          }}
        >
          用这张草图
        </Button>
      </div>
    </div>
  );
};

/** Paper to draw on with a finger or the mouse. */
export const SketchPad = ({
  open,
  size,
  onClose,
  onDone,
}: {
  open: boolean;
  size: { width: number; height: number };
  onClose: () => void;
  /** A PNG as a data URL. */
  onDone: (dataUrl: string) => void;
}) => (
  <Sheet open={open} onClose={onClose} title="画草图">
    <Pad
      size={size}
      onDone={(dataUrl) => {
        onClose();
        onDone(dataUrl);
      }}
    />
  </Sheet>
);
