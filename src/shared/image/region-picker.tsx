import { useRef, useState, type CSSProperties, type PointerEvent } from 'react';
import { SliderField } from '../ui/slider-field.tsx';
import { pictureSources } from './picture-sources.ts';
import './region-picker.css';

/** Pixels of the picture. */
export interface Region {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Of the picture's sides: less cannot be seen, nor painted. */
const least = 0.05;

interface Point {
  /** 0 to 1 across the picture. */
  x: number;
  y: number;
}

const between = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, value));

/** Where to begin: the middle of the picture. */
export const middleOf = ({ width, height }: { width: number; height: number }): Region => ({
  left: Math.round(width / 4),
  top: Math.round(height / 4),
  width: Math.round(width / 2),
  height: Math.round(height / 2),
});

/**
 * Chooses a rectangle of a picture: drawn with a finger or the mouse, moved by what is inside of it,
 * or set by its four sliders.
 */
export const RegionPicker = ({
  picture,
  region,
  onChange,
}: {
  picture: { url: string; width: number; height: number };
  region: Region;
  onChange: (region: Region) => void;
}) => {
  const { width, height } = picture;
  const [held, setHeld] = useState(false);
  const hold = useRef<{ id: number; from: Point; moved: Region | null } | null>(null);
  const pointOf = (event: PointerEvent): Point => {
    const box = event.currentTarget.getBoundingClientRect();
    return {
      x: between((event.clientX - box.left) / box.width, 0, 1),
      y: between((event.clientY - box.top) / box.height, 0, 1),
    };
  };
  /** Brings any rectangle into the picture, as large as it may be small. */
  const set = (left: number, top: number, right: number, bottom: number) => {
    const w = between(right - left, least, 1);
    const h = between(bottom - top, least, 1);
    onChange({
      left: Math.round(between(left, 0, 1 - w) * width),
      top: Math.round(between(top, 0, 1 - h) * height),
      width: Math.round(w * width),
      height: Math.round(h * height),
    });
  };
  const shares = {
    left: region.left / width,
    top: region.top / height,
    width: region.width / width,
    height: region.height / height,
  };
  const end = (event: PointerEvent) => {
    if (hold.current?.id !== event.pointerId) return;
    hold.current = null;
    setHeld(false);
  };
  const percent = (share: number): number => Math.round(share * 100);
  const slider = (
    label: string,
    share: number,
    [low, high]: readonly [number, number],
    change: (share: number) => void,
  ) => (
    <SliderField
      label={label}
      min={percent(low)}
      max={percent(high)}
      value={between(percent(share), percent(low), percent(high))}
      show={(value) => `${value}%`}
      onChange={(value) => change(value / 100)}
    />
  );
  const { left, top, width: w, height: h } = shares;
  return (
    <div className="region">
      <div
        className="region-picture"
        data-held={held || undefined}
        style={{ '--region-shape': width / height } as CSSProperties}
        onPointerDown={(event) => {
          if (hold.current || event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const from = pointOf(event);
          const inside = from.x > left && from.x < left + w && from.y > top && from.y < top + h;
          hold.current = { id: event.pointerId, from, moved: inside ? shares : null };
          setHeld(true);
        }}
        onPointerMove={(event) => {
          const { current } = hold;
          if (current?.id !== event.pointerId) return;
          const at = pointOf(event);
          const { from, moved } = current;
          if (moved) {
            const x = between(moved.left + at.x - from.x, 0, 1 - moved.width);
            const y = between(moved.top + at.y - from.y, 0, 1 - moved.height);
            set(x, y, x + moved.width, y + moved.height);
          } else
            set(
              Math.min(from.x, at.x),
              Math.min(from.y, at.y),
              Math.max(from.x, at.x),
              Math.max(from.y, at.y),
            );
        }}
        onPointerUp={end}
        onPointerCancel={end}
      >
        <img {...pictureSources(picture)} sizes="460px" alt="要修改的图片" draggable={false} />
        <div
          className="region-frame"
          role="img"
          aria-label={`框选了横向 ${percent(left)}% 到 ${percent(left + w)}%、纵向 ${percent(top)}% 到 ${percent(top + h)}%`}
          style={{
            left: `${left * 100}%`,
            top: `${top * 100}%`,
            width: `${w * 100}%`,
            height: `${h * 100}%`,
          }}
        />
      </div>
      <details className="region-numbers">
        <summary>用滑块调整</summary>
        {slider('左边', left, [0, 1 - w], (x) => set(x, top, x + w, top + h))}
        {slider('上边', top, [0, 1 - h], (y) => set(left, y, left + w, y + h))}
        {slider('宽度', w, [least, 1 - left], (x) => set(left, top, left + x, top + h))}
        {slider('高度', h, [least, 1 - top], (y) => set(left, top, left + w, top + y))}
      </details>
    </div>
  );
};
