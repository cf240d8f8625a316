import { compactNumber } from '#common/compact-number.ts';
import { format } from 'date-fns';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import css from './line-chart.module.css';
import type { LineChartProps } from './line-chart-props.ts';

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

const Plot = ({
  title,
  times,
  series,
  unit = '',
  height = 220,
  show = compactNumber,
}: LineChartProps) => {
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const xs = useMemo(() => times.map(seconds), [times]);
  const byDay = times.every((time) => time.length === 10);
  useEffect(() => {
    const host = place.current;
    if (!host) return undefined;
    const long = (xs.at(-1) ?? 0) - (xs[0] ?? 0) > 2 * 86_400;
    const axis = {
      stroke: token('--second'),
      grid: { stroke: token('--line'), width: 1 },
      ticks: { show: false },
      font: `12px ${token('--font')}`,
    };
    const plot = new uPlot(
      {
        width: Math.max(host.clientWidth, 80),
        height,
        legend: { show: false },
        padding: [8, 24, 0, 0],
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.08, 1)] } },
        axes: [
          {
            ...axis,
            space: 70,
            // A day is never parted where days are counted.
            ...(byDay ? { incrs: [1, 2, 3, 7, 14, 30, 91].map((days) => days * 86_400) } : {}),
            values: (_, ticks) =>
              ticks.map((tick) => format(new Date(tick * 1000), long ? 'M月d日' : 'HH:mm')),
          },
          { ...axis, size: 52, values: (_, ticks) => ticks.map((tick) => show(tick)) },
        ],
        series: [
          {},
          ...series.map(({ label, colour }, index) => {
            const stroke = token(colour ?? row[index % row.length]!);
            return {
              label,
              stroke,
              width: 2,
              ...(series.length === 1 ? { fill: `${stroke}22` } : {}),
              points: { show: xs.length < 3 },
              spanGaps: true,
            };
          }),
        ],
        hooks: { setCursor: [(made) => setAt(made.cursor.idx ?? null)] },
      },
      [xs, ...series.map(({ values }) => [...values])],
      host,
    );
    followTouch(plot);
    const watcher = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(host.clientWidth, 80), height }),
    );
    watcher.observe(host);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [xs, series, height, show, byDay]);
  const shownAt = at !== null && at < times.length ? at : null;
  return (
    <>
      <div className={css.legend}>
        {shownAt !== null && (
          <span>
            {format(new Date((xs[shownAt] ?? 0) * 1000), byDay ? 'yyyy-MM-dd' : 'MM-dd HH:mm')}
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
