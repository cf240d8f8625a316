/** What a program asks to be drawn: each series has one number for each label. */
interface Series {
  name: string;
  values: number[];
}
const kinds = ['bar', 'line', 'pie', 'scatter'] as const;

/** Small, so that its letters can be read where it is as wide as a telephone. */
const [width, height] = [440, 340];
const area = { left: 50, right: 14, top: 74, bottom: 36 };
const plotWidth = width - area.left - area.right;
const plotHeight = height - area.top - area.bottom;
const most = { labels: 500, series: 12, letters: 60 };
/** Told apart on a light and on a dark ground. */
const colours = ['#3b82c4', '#d9822b', '#3f9a6b', '#c2504f', '#8a6bbf', '#9a7b4f', '#c765a3'];

/** The message is for the program's author. */
export class ChartError extends Error {}

const escaped = (text: string): string =>
  text
    .slice(0, most.letters)
    .replaceAll(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`)
    // No letter that XML does not have.
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '');

const said = (value: number): string =>
  Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(1)
    : String(Number(value.toFixed(3)));

const numbers = (given: unknown): number[] => {
  if (!Array.isArray(given)) throw new ChartError('chart：values 应是一列数');
  return given.map((each) => {
    if (typeof each !== 'number' || !Number.isFinite(each))
      throw new ChartError('chart：values 里有不是数的值');
    return each;
  });
};

const read = (given: unknown) => {
  if (typeof given !== 'object' || given === null) throw new ChartError('chart 要一个对象');
  const { type = 'bar', title = '', labels, series } = given as Record<string, unknown>;
  const kind = kinds.find((each) => each === type);
  if (!kind) throw new ChartError(`chart：type 应是 ${kinds.join('、')} 之一`);
  const listed = Array.isArray(series) && typeof series[0] !== 'number' ? series : [series];
  const all = listed.slice(0, most.series).map((each: unknown): Series => {
    if (Array.isArray(each)) return { name: '', values: numbers(each) };
    const { name = '', values } = (each ?? {}) as Record<string, unknown>;
    return { name: String(name), values: numbers(values) };
  });
  const longest = Math.max(...all.map(({ values }) => values.length));
  if (longest < 1 || longest > most.labels)
    throw new ChartError(`chart：每组 1 到 ${most.labels} 个数`);
  const named = Array.isArray(labels) ? labels.map(String) : [];
  const each = Array.from({ length: longest }, (_, at) => named[at] ?? String(at + 1));
  return { kind, title: String(title), labels: each, series: all };
};

/** Round steps that cover a range. */
const stepsOf = (low: number, high: number): number[] => {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => span / each <= 6)!;
  const first = Math.floor(low / step);
  return Array.from({ length: Math.ceil(high / step) - first + 1 }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
};

const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(words)}</text>`;

const pie = (labels: readonly string[], values: readonly number[]): string => {
  if (values.some((value) => value < 0)) throw new ChartError('chart：饼图里不能有负数');
  const sum = values.reduce((all, value) => all + value, 0) || 1;
  const [x, y, radius] = [width * 0.36, area.top + plotHeight / 2 - 4, plotHeight / 2 + 10];
  let turned = -Math.PI / 2;
  const slices = values.map((value, at) => {
    const turn = Math.min((value / sum) * 2 * Math.PI, 2 * Math.PI - 1e-4);
    const point = (angle: number) =>
      `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y + radius * Math.sin(angle)).toFixed(1)}`;
    const path = `M${x} ${y}L${point(turned)}A${radius} ${radius} 0 ${turn > Math.PI ? 1 : 0} 1 ${point(turned + turn)}Z`;
    turned += turn;
    return `<path class="cut" d="${path}" fill="${colours[at % colours.length]}"/>`;
  });
  const shown = labels.slice(0, 14).map((label, at) => {
    const line = area.top + 12 + at * 19;
    const share = (((values[at] ?? 0) / sum) * 100).toFixed(1);
    return `<rect x="${width * 0.68}" y="${line - 11}" width="12" height="12" fill="${colours[at % colours.length]}"/>${text(width * 0.68 + 20, line, `${label.slice(0, 6)} ${share}%`)}`;
  });
  return [...slices, ...shown].join('');
};

const onAxes = (kind: 'bar' | 'line' | 'scatter', labels: string[], series: Series[]): string => {
  const all = series.flatMap(({ values }) => values);
  const [least, greatest] = [Math.min(...all), Math.max(...all)];
  const steps = stepsOf(
    kind === 'bar' ? Math.min(0, least) : least,
    kind === 'bar' ? Math.max(0, greatest) : greatest,
  );
  const [low, high] = [steps[0]!, steps.at(-1)!];
  const y = (value: number) => area.top + plotHeight * (1 - (value - low) / (high - low || 1));
  const place = plotWidth / labels.length;
  const x = (at: number) => area.left + place * (at + 0.5);
  const lines = steps.map(
    (value) =>
      `<path class="grid" d="M${area.left} ${y(value).toFixed(1)}h${plotWidth}"/>${text(area.left - 8, y(value) + 4, said(value), 'text-anchor="end"')}`,
  );
  const every = Math.ceil(labels.length / 7);
  const below = labels.map((label, at) =>
    at % every === 0
      ? text(
          x(at),
          height - area.bottom + 18,
          label.slice(0, Math.max(4, Math.floor((place * every) / 12))),
          'text-anchor="middle"',
        )
      : '',
  );
  const drawn = series.map(({ values }, which) => {
    const colour = colours[which % colours.length];
    if (kind === 'bar') {
      const wide = Math.min(44, (place * 0.7) / series.length);
      return values
        .map((value, at) => {
          const left = x(at) - (wide * series.length) / 2 + wide * which;
          const [from, to] = [Math.min(y(0), y(value)), Math.abs(y(0) - y(value))];
          return `<rect x="${left.toFixed(1)}" y="${from.toFixed(1)}" width="${wide.toFixed(1)}" height="${to.toFixed(1)}" fill="${colour}"/>`;
        })
        .join('');
    }
    const points = values.map((value, at) => [x(at).toFixed(1), y(value).toFixed(1)] as const);
    const dots = kind === 'scatter' || values.length <= 40 ? points : [];
    const marks = dots.map(
      ([at, up]) => `<circle cx="${at}" cy="${up}" r="2.5" fill="${colour}"/>`,
    );
    if (kind === 'scatter') return marks.join('');
    const line = points.map((point) => point.join(' ')).join('L');
    return `<path d="M${line}" fill="none" stroke="${colour}" stroke-width="2"/>${marks.join('')}`;
  });
  const named = series.filter(({ name }) => name !== '');
  const names = named.slice(0, 6).map(({ name }, at) => {
    const left = area.left + (plotWidth / 3) * (at % 3);
    const down = named.length > 3 && at < 3 ? 44 : 62;
    return `<rect x="${left.toFixed(1)}" y="${down - 9}" width="10" height="10" fill="${colours[at % colours.length]}"/>${text(left + 15, down, name.slice(0, 8))}`;
  });
  return [...lines, ...below, ...drawn, ...names].join('');
};

/**
 * A chart as SVG, which has no script and names nothing outside of it. `data-dark` on its root turns
 * it dark. @throws ChartError
 */
export const chartSvg = (given: unknown): string => {
  const { kind, title, labels, series } = read(given);
  const inside = kind === 'pie' ? pie(labels, series[0]!.values) : onAxes(kind, labels, series);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"><style>svg{--ink:#24292f;--line:#d8dee4;--paper:#fff}svg[data-dark]{--ink:#e3e6ea;--line:#3d3d40;--paper:#1c1c1e}text{font:12px system-ui,sans-serif;fill:var(--ink)}.title{font-size:15px;font-weight:600}.grid{stroke:var(--line)}.cut{stroke:var(--paper);stroke-width:1.5}.paper{fill:var(--paper)}</style><rect class="paper" width="${width}" height="${height}"/>${text(width / 2, 24, title, 'class="title" text-anchor="middle"')}${inside}</svg>`;
};
