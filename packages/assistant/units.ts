import { inDigits } from '#common/chinese-numbers.ts';

/** Units by what they measure; each with its size in the first one's. Temperatures stand apart. */
const kinds: { units: [names: string[], size: number][] }[] = [
  {
    units: [
      [['米', '公尺', 'm'], 1],
      [['公里', '千米', 'km'], 1000],
      [['分米', 'dm'], 0.1],
      [['厘米', '公分', 'cm'], 0.01],
      [['毫米', 'mm'], 0.001],
      [['英里', 'mile', 'miles', 'mi'], 1609.344],
      [['海里', 'nmi'], 1852],
      [['英尺', 'ft', 'feet', 'foot'], 0.3048],
      [['英寸', 'inch', 'inches', '寸屏'], 0.0254],
      [['码', 'yard', 'yards', 'yd'], 0.9144],
      [['华里', '市里'], 500],
      [['市尺', '尺'], 1 / 3],
      [['光年'], 9.4607304725808e15],
    ],
  },
  {
    units: [
      [['公斤', '千克', 'kg'], 1],
      [['斤', '市斤'], 0.5],
      [['市两'], 0.05],
      [['克', 'g'], 0.001],
      [['毫克', 'mg'], 1e-6],
      [['吨', 'ton', 'tons'], 1000],
      [['磅', 'lb', 'lbs', 'pound', 'pounds'], 0.45359237],
      [['盎司', 'oz'], 0.028349523125],
    ],
  },
  {
    units: [
      [['平方米', '平米', '㎡', 'm2', 'm²'], 1],
      [['亩'], 2000 / 3],
      [['公顷'], 10_000],
      [['平方公里', '平方千米', 'km2'], 1_000_000],
      [['平方英尺', '平方尺', 'sqft'], 0.09290304],
      [['英亩', 'acre', 'acres'], 4046.8564224],
      [['平方厘米', 'cm2'], 0.0001],
    ],
  },
  {
    units: [
      [['升', '公升', 'l'], 1],
      [['毫升', 'ml'], 0.001],
      [['立方米', 'm3'], 1000],
      [['加仑', '美制加仑', 'gallon', 'gallons', 'gal'], 3.785411784],
      [['立方厘米', 'cm3', 'cc'], 0.001],
    ],
  },
  {
    units: [
      [['mb', '兆', '兆字节'], 1],
      [['字节', 'byte', 'bytes', 'b'], 1 / 1024 ** 2],
      [['kb', '千字节'], 1 / 1024],
      [['gb', 'g字节'], 1024],
      [['tb'], 1024 ** 2],
      [['pb'], 1024 ** 3],
    ],
  },
  {
    units: [
      [['公里每小时', '千米每小时', 'km/h', 'kmh', '公里/小时', '千米/小时'], 1],
      [['米每秒', 'm/s', '米/秒'], 3.6],
      [['英里每小时', 'mph', '英里/小时'], 1.609344],
      [['节'], 1.852],
    ],
  },
  {
    units: [
      [['小时', '钟头', 'hour', 'hours', 'h'], 1],
      [['分钟', 'minute', 'minutes', 'min'], 1 / 60],
      [['秒', '秒钟', 'second', 'seconds'], 1 / 3600],
      [['天', 'day', 'days'], 24],
      [['周', '星期', 'week', 'weeks'], 168],
    ],
  },
];

interface Unit {
  name: string;
  kind: number;
  size: number;
}

const celsius = ['摄氏度', '摄氏', '℃', '°c', 'celsius'];
const fahrenheit = ['华氏度', '华氏', '℉', '°f', 'fahrenheit'];
const temperature = kinds.length;

const units = new Map<string, Unit>();
kinds.forEach(({ units: list }, kind) => {
  for (const [names, size] of list) {
    const [name = ''] = names;
    for (const each of names)
      units.set(each, { name: name.toUpperCase() === name ? name : name, kind, size });
  }
});
for (const name of celsius) units.set(name, { name: '摄氏度', kind: temperature, size: 1 });
for (const name of fahrenheit) units.set(name, { name: '华氏度', kind: temperature, size: 2 });

const escape = (text: string) => text.replace(/[/.°²]/g, String.raw`\$&`);
const anyUnit = [...units.keys()]
  .sort((one, other) => other.length - one.length)
  .map((name) => (/^[a-z]/.test(name) ? `${escape(name)}(?![a-z0-9])` : escape(name)))
  .join('|');
const quantity = new RegExp(String.raw`(-?\d+(?:\.\d+)?)\s*(?:个)?\s*(${anyUnit})`, 'i');
const target = new RegExp(String.raw`(?<![a-z])(?:${anyUnit})`, 'gi');

/** What else a question for a conversion may hold. */
const asking =
  /请问|请|帮我|等于|换算|转换|折合|换成|转成|换|转|合|相当于|约|大概|多少|几|是|有|为|成|到|个|的|吗|呢|啊|一下|把|=|≈|in|to|how many|what is|[?？，。,.\s]/gi;

/** Which unit is meant where only one is named. */
const partners: Record<string, string> = {
  英里: '公里',
  公里: '英里',
  英尺: '米',
  英寸: '厘米',
  厘米: '英寸',
  码: '米',
  海里: '公里',
  华里: '公里',
  斤: '公斤',
  公斤: '斤',
  市两: '克',
  磅: '公斤',
  盎司: '克',
  克: '市两',
  吨: '公斤',
  亩: '平方米',
  平方米: '亩',
  公顷: '亩',
  英亩: '平方米',
  平方英尺: '平方米',
  加仑: '升',
  gb: 'mb',
  mb: 'kb',
  tb: 'gb',
  摄氏度: '华氏度',
  华氏度: '摄氏度',
  英里每小时: '公里每小时',
  米每秒: '公里每小时',
  节: '公里每小时',
  光年: '公里',
  市尺: '米',
};

const shown = (name: string): string =>
  name === '市两' ? '两' : /^[a-z]+$/.test(name) && name.endsWith('b') ? name.toUpperCase() : name;

const write = (value: number): string => {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const rounded = Number(value.toPrecision(Math.abs(value) >= 1e6 ? 12 : 6));
  return Math.abs(rounded) >= 1e-6 && Math.abs(rounded) < 1e15
    ? rounded.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 })
    : rounded.toPrecision(6);
};

/** The answer to a question for a conversion, or null when it is none. */
export const conversion = (question: string): string | null => {
  const text = inDigits(
    question
      .replace(/(几|多少|\d\s*)两(?!\d)/g, '$1市两')
      .replace(/^(.+)两(?=等于|是|有)/, '$1市两'),
  );
  const given = quantity.exec(text);
  if (!given?.[1] || !given[2]) return null;
  const from = units.get(given[2].toLowerCase());
  if (!from) return null;
  const rest = text.slice(0, given.index) + ' ' + text.slice(given.index + given[0].length);
  const others = [...rest.matchAll(target)]
    .map(([name]) => units.get(name.toLowerCase()))
    .filter((unit) => unit?.kind === from.kind && unit.name !== from.name);
  if (rest.replace(target, '').replace(asking, '') !== '') return null;
  const to = others[0] ?? units.get(partners[from.name] ?? '');
  if (!to || (others.length === 0 && /^\s*$/.test(rest) && from.kind !== temperature)) {
    if (!to || !/^\s*$/.test(rest)) return null;
  }
  const value = Number(given[1]);
  let result: number;
  if (from.kind === temperature)
    result = from.name === '摄氏度' ? value * 1.8 + 32 : (value - 32) / 1.8;
  else result = (value * from.size) / to.size;
  if (!Number.isFinite(result)) return null;
  result = Number(result.toPrecision(14));
  const written = write(result);
  const sign = Number(written) === result ? '=' : '≈';
  const note = from.kind === 4 ? '\n\n（按 1 GB = 1024 MB 计算）' : '';
  return `${write(value)} ${shown(from.name)} ${sign} **${written}** ${shown(to.name)}${note}`;
};
