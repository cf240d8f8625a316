import type { LineChartProps } from './line-chart-props.ts';
import { lazyChunk, lazyWithin } from '#src/platform/lazy-chunk.ts';
import { Suspense } from 'react';
import css from './line-chart.module.css';

const Drawn = lazyWithin(lazyChunk(() => import('./line-chart-view.tsx')));

/** Lines over time, read with a finger or the pointer; the drawing loads when one is first shown. */
export const LineChart = (props: LineChartProps) => {
  const { title, times, series, height = 220 } = props;
  const empty = times.length === 0 || series.every(({ values }) => values.every((value) => !value));
  return (
    <figure className={css.figure}>
      <figcaption className={css.title}>{title}</figcaption>
      {empty ? (
        <p className={css.empty} style={{ height }}>
          这段时间没有数据
        </p>
      ) : (
        <Suspense fallback={<div className={css.waiting} style={{ height: height + 32 }} />}>
          <Drawn {...props} height={height} />
        </Suspense>
      )}
    </figure>
  );
};
