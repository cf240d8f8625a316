import type { Span } from './axis-days.ts';

export interface Series {
  label: string;
  /** As long as `times`; null: nothing is known. */
  values: readonly (number | null)[];
  /** What they come to on the whole, where a sum of them says nothing: of times, shares. */
  median?: number | null;
  /** Names a token; the next of a fixed row where left out. */
  colour?: string;
}

export interface LineChartProps {
  /** What it shows, also for a screen reader. */
  title: string;
  /** ISO 8601 or a day (`2026-11-21`), in order. */
  times: readonly string[];
  series: readonly Series[];
  /** What a point of days stands for; a day where left out. */
  by?: Span;
  /** Behind figures: `tokens`, `次`. */
  unit?: string;
  /** px. */
  height?: number;
  /** Bars on top of each other instead of lines: what the series come to together matters. */
  stacked?: boolean;
  /** Figures of the axis and of the legend. */
  show?: (value: number) => string;
}
