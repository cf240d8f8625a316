import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

interface CallFigure {
  count: number;
  errors: number;
  /** ms. */
  total: number;
  slowest: number;
}

/** What this process noted of the requests since it started, also in the words of Prometheus. */
export interface Figures {
  note: (call: string, status: number, ms: number) => void;
  /** By the call's name. */
  calls: () => ReadonlyMap<string, CallFigure>;
  /** A figure that is asked for when somebody reads. */
  gauge: (name: string, help: string, read: () => number | Promise<number>) => void;
  /** Something that is counted, each time with the value of its label. */
  counter: (name: string, help: string, label: string) => (value: string) => void;
  /** Durations by labels, s. @param buckets upper ends, s */
  histogram: (about: {
    name: string;
    help: string;
    labels: readonly string[];
    buckets: number[];
  }) => (labels: Record<string, string>, seconds: number) => void;
  /** The text of `/metrics`. */
  text: () => Promise<string>;
  contentType: string;
}

export const createFigures = (): Figures => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'queqiao_' });
  const durations = new Histogram({
    name: 'queqiao_call_seconds',
    help: 'Duration of calls',
    labelNames: ['call', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const calls = new Map<string, CallFigure>();
  return {
    note(call, status, ms) {
      const figure = calls.get(call) ?? { count: 0, errors: 0, total: 0, slowest: 0 };
      figure.count += 1;
      if (status >= 500) figure.errors += 1;
      figure.total += ms;
      figure.slowest = Math.max(figure.slowest, ms);
      calls.set(call, figure);
      durations.observe({ call, status: `${Math.floor(status / 100)}xx` }, ms / 1000);
    },
    calls: () => calls,
    gauge(name, help, read) {
      registry.registerMetric(
        new Gauge({
          name,
          help,
          registers: [],
          async collect() {
            this.set(await read());
          },
        }),
      );
    },
    counter(name, help, label) {
      const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
      return (value) => counter.inc({ [label]: value });
    },
    histogram({ name, help, labels, buckets }) {
      const histogram = new Histogram({
        name,
        help,
        labelNames: labels,
        buckets,
        registers: [registry],
      });
      return (of, seconds) => histogram.observe(of, seconds);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
};
