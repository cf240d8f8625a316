import { useState, type CSSProperties } from 'react';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import type { ViewedImage } from './image-viewer-props.ts';
import styles from './viewer.module.css';

/** An image and what was made of it, one above the other; a slider uncovers the one or the other. */
export const Compare = ({ before, after }: { before: ViewedImage; after: ViewedImage }) => {
  const [share, setShare] = useState(50);
  return (
    <div
      className={styles['compare']}
      style={
        {
          '--share': `${share}%`,
          '--shape': after.width / Math.max(1, after.height),
        } as CSSProperties
      }
    >
      <img className={styles['after']} src={after.url} alt="新的图片" draggable={false} />
      <img
        className={styles['before']}
        src={smallImage(before.url, 640)}
        srcSet={`${smallImage(before.url, 640)} 640w, ${before.url} ${before.width}w`}
        sizes="(min-width: 750px) 60vw, 100vw"
        alt="原来的图片"
        draggable={false}
      />
      <span className={styles['seam']} aria-hidden="true" />
      <input
        type="range"
        min={0}
        max={100}
        value={share}
        aria-label="对比原图与新图"
        aria-valuetext={`左边 ${share}% 是原图`}
        onChange={(event) => setShare(Number(event.target.value))}
      />
    </div>
  );
};
