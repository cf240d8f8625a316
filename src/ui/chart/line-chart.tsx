import { lazy, Suspense } from 'react';
import css from './line-chart.module.css';

export interface Series {
  label: string;
  /** As long as `times`; null: nothing is known. */
  values: readonly (number | null)[];
  /** Names a token; the next of a fixed row where left out. */
  colour?: string;
}

export interface LineChartProps {
  /** What it shows, also for a screen reader. */
  title: string;
  /** ISO 8601 or a day (`2026-11-21`), in order. */
  times: readonly string[];
  series: readonly Series[];
  /** Behind figures: `tokens`, `次`. */
  unit?: string;
  /** px. */
  height?: number;
  /** Figures of the axis and of the legend. */
  show?: (value: number) => string;
}

const Drawn = lazy(() => import('./line-chart-view.tsx'));

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
