import { type PointerEvent, useEffect, useRef } from 'react';

/** A line drawn with a finger or the mouse, in pixels of what it is drawn on. */
export interface Stroke {
  /** How thick. */
  size: number;
  points: { x: number; y: number }[];
}

interface Paper {
  width: number;
  height: number;
}

/** Points closer together than this share of the thickness, or of the paper, look like one. */
const apart = { pen: 0.12, paper: 0.003 };

/** How lines are drawn, in the colour of the canvas, which may have fewer pixels than the paper. */
interface Drawing {
  paper: Paper;
  /** How thick the next line is. */
  pen: number;
  strokes: readonly Stroke[];
  onChange: (strokes: readonly Stroke[]) => void;
  /** The colour that the lines lie on. */
  ground: string;
  /** Most lines, and points of all of them; what goes beyond is not taken. */
  most: { strokes: number; points: number };
}

/** Lines that a person draws with a finger or the mouse: the canvas, and what it listens to. */
export const useStrokes = ({ paper, pen, strokes, onChange, ground, most }: Drawing) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<{ id: number; stroke: Stroke } | null>(null);

  const paint = () => {
    const context = canvas.current?.getContext('2d');
    if (!canvas.current || !context) return;
    const scale = canvas.current.width / paper.width;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = ground;
    context.fillRect(0, 0, paper.width, paper.height);
    context.strokeStyle = getComputedStyle(canvas.current).color;
    context.lineCap = 'round';
    context.lineJoin = 'round';
    const now = drawing.current ? [drawing.current.stroke] : [];
    for (const { size, points } of [...strokes, ...now]) {
      const [first] = points;
      if (!first) continue;
      context.lineWidth = size;
      context.beginPath();
      context.moveTo(first.x, first.y);
      // A touch without a movement is a dot.
      context.lineTo(first.x + 0.01, first.y);
      for (const { x, y } of points.slice(1)) context.lineTo(x, y);
      context.stroke();
    }
  };
  useEffect(() => {
    paint();
  });

  const pointOf = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const on = (at: number, from: number, length: number, side: number) =>
      Math.round(Math.min(1, Math.max(0, (at - from) / length)) * side);
    return {
      x: on(event.clientX, box.left, box.width, paper.width),
      y: on(event.clientY, box.top, box.height, paper.height),
    };
  };
  const taken = (all: readonly Stroke[]): number =>
    all.reduce((sum, { points }) => sum + points.length, 0);
  const end = (event: PointerEvent) => {
    const { current } = drawing;
    if (current?.id !== event.pointerId) return;
    drawing.current = null;
    onChange([...strokes, current.stroke]);
  };
  return {
    canvas,
    listeners: {
      onPointerDown: (event: PointerEvent) => {
        if (drawing.current || event.button !== 0) return;
        if (strokes.length >= most.strokes || taken(strokes) >= most.points) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drawing.current = {
          id: event.pointerId,
          stroke: { size: pen, points: [pointOf(event)] },
        };
        paint();
      },
      onPointerMove: (event: PointerEvent) => {
        const { current } = drawing;
        if (current?.id !== event.pointerId) return;
        const { points } = current.stroke;
        const at = pointOf(event);
        const last = points.at(-1) ?? at;
        const least = Math.max(pen * apart.pen, paper.width * apart.paper);
        if (Math.hypot(at.x - last.x, at.y - last.y) < least) return;
        points.push(at);
        paint();
        if (taken(strokes) + points.length >= most.points) end(event);
      },
      onPointerUp: end,
      onPointerCancel: end,
    },
  };
};
