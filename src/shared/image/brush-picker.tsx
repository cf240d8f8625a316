import { useState, type CSSProperties } from 'react';
import { Button } from '../ui/button.tsx';
import { SliderField } from '../ui/slider-field.tsx';
import { toast } from '../ui/toast.ts';
import { limits } from '@contract/limits.ts';
import type { ImageParameters } from '@contract/image.ts';
import { pictureSources } from './picture-sources.ts';
import { useStrokes, type Stroke } from './strokes.ts';
import './region-picker.css';

/** Percent of the picture's shorter side. */
const pen = { min: 2, max: 40, usual: 12 };
/** Pixels of the canvas's longer side: what is painted is seen through, and needs no more. */
const sharpness = 768;

interface Picture {
  url: string;
  width: number;
  height: number;
}

const boundsOf = (
  strokes: readonly Stroke[],
  { width, height }: Picture,
): NonNullable<ImageParameters['mask']> => {
  const around = { left: width, top: height, right: 0, bottom: 0 };
  for (const { size, points } of strokes)
    for (const { x, y } of points) {
      around.left = Math.min(around.left, x - size / 2);
      around.top = Math.min(around.top, y - size / 2);
      around.right = Math.max(around.right, x + size / 2);
      around.bottom = Math.max(around.bottom, y + size / 2);
    }
  const left = Math.max(0, Math.floor(around.left));
  const top = Math.max(0, Math.floor(around.top));
  return {
    left,
    top,
    width: Math.max(1, Math.min(width, Math.ceil(around.right)) - left),
    height: Math.max(1, Math.min(height, Math.ceil(around.bottom)) - top),
  };
};

/** What was painted over as a request says it, with the part of the picture that holds all of it. */
export const paintedOver = (strokes: readonly Stroke[], picture: Picture): ImageParameters => ({
  mask: boundsOf(strokes, picture),
  brush: strokes.map(({ size, points }) => ({
    size,
    points: points.flatMap(({ x, y }) => [x, y]),
  })),
});

/** Paints over what of a picture is to be drawn anew, with a finger or the mouse. */
export const BrushPicker = ({
  picture,
  strokes,
  onChange,
}: {
  picture: Picture;
  strokes: readonly Stroke[];
  onChange: (strokes: readonly Stroke[]) => void;
}) => {
  const { width, height } = picture;
  const shorter = Math.min(width, height);
  const [thick, setThick] = useState(pen.usual);
  const size = Math.max(1, Math.round((thick / 100) * shorter));
  /** Where a mouse is, in shares of the picture: its brush is seen before it paints. */
  const [over, setOver] = useState<{ x: number; y: number } | null>(null);
  const { canvas, listeners } = useStrokes({
    paper: picture,
    pen: size,
    strokes,
    onChange,
    ground: null,
    most: limits.brush,
    onFull: () => toast('涂得太多了：撤销几笔，或换大一点的笔再涂', 'info'),
  });
  const scale = sharpness / Math.max(width, height);
  return (
    <div className="region">
      <div
        className="region-picture brush-picture"
        style={{ '--region-shape': width / height } as CSSProperties}
        onPointerMove={(event) => {
          if (event.pointerType !== 'mouse') return;
          const box = event.currentTarget.getBoundingClientRect();
          setOver({
            x: (event.clientX - box.left) / box.width,
            y: (event.clientY - box.top) / box.height,
          });
        }}
        onPointerLeave={() => setOver(null)}
      >
        <img {...pictureSources(picture)} sizes="460px" alt="要修改的图片" draggable={false} />
        <canvas
          ref={canvas}
          width={Math.max(1, Math.round(width * scale))}
          height={Math.max(1, Math.round(height * scale))}
          role="img"
          aria-label={
            strokes.length === 0 ? '还没有涂，用手指或鼠标涂' : `涂了 ${strokes.length} 笔`
          }
          {...listeners}
        />
        {over && (
          <span
            className="brush-ring"
            aria-hidden="true"
            style={{
              left: `${over.x * 100}%`,
              top: `${over.y * 100}%`,
              width: `${(size / width) * 100}%`,
            }}
          />
        )}
      </div>
      <div className="brush-tools">
        <SliderField
          label="画笔大小"
          min={pen.min}
          max={pen.max}
          value={thick}
          show={(value) => `${value}%`}
          onChange={setThick}
        />
        <Button disabled={strokes.length === 0} onClick={() => onChange(strokes.slice(0, -1))}>
          撤销
        </Button>
        <Button disabled={strokes.length === 0} onClick={() => onChange([])}>
          清空
        </Button>
      </div>
    </div>
  );
};
