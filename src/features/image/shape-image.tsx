import { useState } from 'react';
import css from './image-tool.module.css';

/** A sheet of the given shape, drawn within a square of 40 px. */
export const ShapeImage = ({ width, height }: { width: number; height: number }) => {
  const scale = 30 / Math.max(width, height, 1);
  const [w, h] = [Math.max(4, width * scale), Math.max(4, height * scale)];
  return (
    <svg className={css.shape} width="40" height="40" viewBox="0 0 40 40" aria-hidden="true">
      <rect x={20 - w / 2} y={20 - h / 2} width={w} height={h} rx="3" />
    </svg>
  );
};

/** What becomes of a round thing in a square image that is brought to a wide sheet. */
export const ResizeImage = ({ mode }: { mode: number }) => (
  <svg className={css.shape} width="56" height="40" viewBox="0 0 56 40" aria-hidden="true">
    {mode === 2 && <rect className={css.shapeFill} x="6" y="8" width="44" height="24" rx="3" />}
    {mode === 2 && <rect className={css.shapeInner} x="16" y="8" width="24" height="24" />}
    <rect x="6" y="8" width="44" height="24" rx="3" />
    {mode === 0 && <ellipse cx="28" cy="20" rx="17" ry="9" />}
    {mode === 1 && <rect className={css.shapeGhost} x="6" y="1" width="44" height="38" rx="2" />}
    {mode === 1 && <path d="M12.5 32a17 17 0 0 1 0-24M43.5 32a17 17 0 0 0 0-24" />}
    {mode === 2 && <circle cx="28" cy="20" r="9" />}
    {mode === 3 && <rect className={css.shapeGhost} x="19" y="14" width="12" height="12" rx="1" />}
    {mode === 3 && <ellipse cx="28" cy="20" rx="17" ry="9" />}
    {mode === 3 && <path d="M33 15l5-4M38 14.500v-3.500h-3.500" />}
  </svg>
);

/** How a style or a LoRA of the built-in canvas looks. */
export const SampleImage = ({ name }: { name: string }) => {
  const [missing, setMissing] = useState(false);
  return missing ? null : (
    <img
      className={css.toolSample}
      src={`/samples/${name}.webp`}
      width={160}
      height={160}
      alt=""
      loading="lazy"
      onError={() => setMissing(true)}
    />
  );
};
