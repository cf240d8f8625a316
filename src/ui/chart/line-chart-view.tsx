import { compactNumber } from '#common/compact-number.ts';
import { format } from 'date-fns';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisNames, namedPoints, pointName, type Span } from './axis-days.ts';
import css from './line-chart.module.css';
import type { LineChartProps } from './line-chart-props.ts';

/** Beside the chart for the words of its ticks, px: money is longer than counts. */
const roomOf = (_: uPlot, words: readonly string[] | null): number =>
  Math.max(52, ...(words ?? []).map(({ length }) => 20 + length * 7));

const row = ['--accent', '--series-2', '--series-3', '--series-4', '--series-5', '--second'];

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const themeMark = () => {
  const { theme, dark } = document.documentElement.dataset;
  return `${theme} ${dark}`;
};

/** Redrawn when the theme changes: a canvas does not follow style sheets. */
const useThemeMark = (): string => {
  const [mark, setMark] = useState(themeMark);
  useEffect(() => {
    const watcher = new MutationObserver(() => setMark(themeMark()));
    watcher.observe(document.documentElement, { attributeFilter: ['data-theme', 'data-dark'] });
    return () => watcher.disconnect();
  }, []);
  return mark;
};

/** A finger moves the cursor sideways as a pointer does; up and down it scrolls the page. */
const followTouch = (plot: uPlot) => {
  const move = (event: TouchEvent) => {
    const touch = event.touches[0];
    if (!touch) return;
    const { left, top } = plot.over.getBoundingClientRect();
    plot.setCursor({ left: touch.clientX - left, top: touch.clientY - top }, true);
  };
  plot.over.addEventListener('touchstart', move, { passive: true });
  plot.over.addEventListener('touchmove', move, { passive: true });
};

const seconds = (time: string): number =>
  (/^\d{4}-\d\d-\d\d$/.test(time) ? new Date(`${time}T00:00`) : new Date(time)).getTime() / 1000;

/** Each with those before it; the last first, so that the smaller stand before the larger. */
const piled = (series: LineChartProps['series']): number[][] => {
  const sums: number[][] = [];
  for (const { values } of series)
    sums.push(values.map((value, at) => (value ?? 0) + (sums.at(-1)?.[at] ?? 0)));
  return sums.reverse();
};

/** Half a step of room before the first bar and after the last. */
const barRange = (xs: readonly number[]): [number, number] => {
  const [first = 0, last = 0] = [xs[0], xs.at(-1)];
  const half = xs.length > 1 ? (last - first) / (xs.length - 1) / 2 : 43_200;
  return [first - half, last + half];
};

/** px beside the plot: the figures of the axis, and room at its end. */
const aside = 76;

/** The axis of days: names stand at points, never between them. */
const dayAxis = (xs: readonly number[], by: Span) => ({
  splits: (plot: uPlot) => namedPoints(xs.length, plot.width - aside, by).map((at) => xs[at]!),
  values: (_: uPlot, ticks: number[]) =>
    axisNames(
      ticks.map((tick) => format(new Date(tick * 1000), 'yyyy-MM-dd')),
      by,
    ),
});

const widthOf = (host: HTMLElement): number => Math.max(host.clientWidth, 80);

/** What uPlot draws; `tell` hears which point the cursor is at. */
const optionsOf = (
  {
    series,
    height,
    show,
    stacked,
  }: Required<Pick<LineChartProps, 'series' | 'height' | 'show' | 'stacked'>>,
  { xs, by, width }: { xs: readonly number[]; by: Span | null; width: number },
  tell: (at: number | null) => void,
): uPlot.Options => {
  const long = (xs.at(-1) ?? 0) - (xs[0] ?? 0) > 2 * 86_400;
  const axis = {
    stroke: token('--second'),
    grid: { stroke: token('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${token('--font')}`,
  };
  const painted = series.map(({ label, colour }, index) => ({
    label,
    stroke: token(colour ?? row[index % row.length]!),
  }));
  // An axis of whole numbers reaches 1 at least; one of cents does not.
  const least = series.some(({ values }) => values.some((value) => (value ?? 0) % 1 !== 0))
    ? 0.01
    : 1;
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 24, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: stacked ? 0 : 7 } },
    scales: {
      ...(stacked || xs.length === 1 ? { x: { range: () => barRange(xs) } } : {}),
      y: { range: (_, __, max) => [0, Math.max(max * 1.08, least)] },
    },
    axes: [
      {
        ...axis,
        space: 70,
        ...(by
          ? dayAxis(xs, by)
          : {
              values: (_: uPlot, ticks: number[]) =>
                ticks.map((tick) => format(new Date(tick * 1000), long ? 'M月d日' : 'HH:mm')),
            }),
      },
      { ...axis, size: roomOf, values: (_, ticks) => ticks.map((tick) => show(tick)) },
    ],
    series: [
      {},
      ...(stacked ? [...painted].reverse() : painted).map(({ label, stroke }) =>
        stacked
          ? {
              label,
              stroke,
              fill: stroke,
              width: 0,
              paths: uPlot.paths.bars!({ size: [0.7, 48] }),
              points: { show: false },
            }
          : {
              label,
              stroke,
              width: 2,
              ...(series.length === 1 ? { fill: `${stroke}22` } : {}),
              points: { show: xs.length < 3 },
              spanGaps: true,
            },
      ),
    ],
    hooks: { setCursor: [(made) => tell(made.cursor.idx ?? null)] },
  };
};

const Plot = ({
  title,
  times,
  series,
  by: told = 'day',
  unit = '',
  height = 220,
  stacked = false,
  show = compactNumber,
}: LineChartProps) => {
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const xs = useMemo(() => times.map(seconds), [times]);
  const by = times.every((time) => time.length === 10) ? told : null;
  useEffect(() => {
    const host = place.current;
    if (!host) return undefined;
    const plot = new uPlot(
      optionsOf({ series, height, show, stacked }, { xs, by, width: widthOf(host) }, setAt),
      [xs, ...(stacked ? piled(series) : series.map(({ values }) => [...values]))],
      host,
    );
    followTouch(plot);
    const watcher = new ResizeObserver(() => plot.setSize({ width: widthOf(host), height }));
    watcher.observe(host);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [xs, series, height, show, by, stacked]);
  const shownAt = at !== null && at < times.length ? at : null;
  return (
    <>
      <div className={css.legend}>
        {shownAt !== null && (
          <span>
            {by
              ? pointName(times[shownAt] ?? '', by)
              : format(new Date((xs[shownAt] ?? 0) * 1000), 'MM-dd HH:mm')}
          </span>
        )}
        {series.map(({ label, values, median, colour }, index) => (
          <span key={label}>
            <i style={{ background: `var(${colour ?? row[index % row.length]})` }} />
            {label}
            <b>
              {shownAt !== null
                ? median === undefined || (values[shownAt] ?? null) !== null
                  ? show(values[shownAt] ?? 0)
                  : '—'
                : median === undefined
                  ? `合计 ${show(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))}`
                  : `中位数 ${median === null ? '—' : show(median)}`}
              {unit && ` ${unit}`}
            </b>
          </span>
        ))}
      </div>
      <div
        ref={place}
        className={css.plot}
        role="img"
        aria-label={`${title}：${series
          .map(
            ({ label, values }) =>
              `${label}最高 ${show(Math.max(0, ...values.map((value) => value ?? 0)))}${unit}`,
          )
          .join('，')}`}
      />
    </>
  );
};

const LineChartView = (props: LineChartProps) => <Plot key={useThemeMark()} {...props} />;

export default LineChartView;
