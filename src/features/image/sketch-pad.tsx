import { type Stroke, useStrokes } from '#src/widgets/image/strokes.ts';
import { Button } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { SliderField } from '#src/ui/slider-field.tsx';
import { type CSSProperties, useState } from 'react';
import css from './image-tool.module.css';

/** Percent of the paper's width: a quarter of what the slider says. */
const pen = { min: 1, max: 16, usual: 4 };
/** A sketch is kept as an image: only what a hand never draws is too much. */
const most = { strokes: 5_000, points: 200_000 };

const Pad = ({
  size,
  onDone,
}: {
  size: { width: number; height: number };
  onDone: (dataUrl: string) => void;
}) => {
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [width, setWidth] = useState(pen.usual);
  // White paper and black ink (in the style sheet) whatever the theme: engines read it so.
  const { canvas, listeners } = useStrokes({
    paper: size,
    pen: (width * size.width) / 400,
    strokes,
    onChange: setStrokes,
    ground: '#ffffff',
    most,
  });
  return (
    <div className={css.sketch}>
      <canvas
        ref={canvas}
        width={size.width}
        height={size.height}
        style={{ '--sketch-shape': size.width / size.height } as CSSProperties}
        role="img"
        aria-label={strokes.length === 0 ? '空白画板，用手指或鼠标画' : `画了 ${strokes.length} 笔`}
        {...listeners}
      />
      <SliderField label="画笔大小" min={pen.min} max={pen.max} value={width} onChange={setWidth} />
      <div className={css.toolLine}>
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
