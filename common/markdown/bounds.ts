/**
 * What is drawn of others' texts, and what is shown as its source: a browser lays out nested boxes by
 * recursion, and a few hundred characters can nest so deep that its tab dies.
 */

/** UTF-16 units of a formula, and groups within groups. Long ones of textbooks have 800 and 8. */
const formula = { length: 4_000, depth: 30 };

/**
 * Square em that rules of a formula may fill together, and em of one length in it: a textbook's lines
 * are thin and its boxes small, while one rule can be as black and as wide as the page.
 */
export const formulaRules = { ink: 20, length: 12 } as const;

/** Commands that make others: a short text then stands for one of any length. */
const making =
  /\\(?:[gex]?def|let|futurelet|global|long|newcommand|renewcommand|providecommand)(?![a-zA-Z])/;

/** Whether a formula is short and flat enough to be drawn. */
export const formulaFits = (tex: string): boolean => {
  if (tex.length > formula.length || making.test(tex)) return false;
  let depth = 0;
  for (const [sign, command] of tex.matchAll(/\\(begin|end|left|right)\b|\\.|[{}[\]]/gs)) {
    const opens = sign === '{' || sign === '[' || command === 'begin' || command === 'left';
    const closes = sign === '}' || sign === ']' || command === 'end' || command === 'right';
    if (opens) depth += 1;
    // Brackets need not come in pairs, as in [0,1).
    else if (closes) depth = Math.max(0, depth - 1);
    if (depth > formula.depth) return false;
  }
  return true;
};

/** UTF-16 units and lines of a diagram's source, of one line, and blocks or brackets within each other. */
const diagram = { length: 12_000, lines: 400, line: 1_000, depth: 12, indent: 60 };
const opening =
  /^\s*(?:subgraph|loop|alt|opt|par|critical|break|rect|box|namespace|block(?::|\b(?!-))|state\b.*\{|class\b.*\{|.*\{\s*$)/i;
const closing = /^\s*(?:end\b|\})/i;

/** Days of one task, years of all and lines of a Gantt chart that leaves days out: it looks at each day. */
const gantt = { days: 2_000, years: 5, first: 1970, last: 2100, lines: 100 };
const unitDays: Readonly<Record<string, number>> = {
  y: 366,
  M: 31,
  w: 7,
  d: 1,
  h: 1 / 24,
  m: 1 / 1440,
  s: 1 / 86_400,
};

/** Whether a Gantt chart has so few days that each of them may be looked at. */
const ganttFits = (source: string): boolean => {
  if (!/\bexcludes\s/i.test(source)) return true;
  const format = /^\s*dateFormat\s+(.*)$/im.exec(source)?.[1] ?? 'YYYY-MM-DD';
  if (!format.includes('YYYY') || source.split('\n').length > gantt.lines) return false;
  for (const [, count, unit] of source.matchAll(/([\d.]+)\s*([yMwdhms])/g))
    if (Number(count) * unitDays[unit!]! > gantt.days) return false;
  const years = [...source.matchAll(/\d{4,}/g)].map(([digits]) => Number(digits.slice(0, 4)));
  if (years.some((year) => year < gantt.first || year > gantt.last)) return false;
  return years.length === 0 || Math.max(...years) - Math.min(...years) <= gantt.years;
};

/** Boxes of a block diagram, which makes one for each of a width; bits of a packet; lines laid out by forces. */
const boxes = 400;
const bits = 2_000;
const forced = 80;

const numbersOf = (found: Iterable<RegExpMatchArray>): number[] =>
  [...found].map(([, digits]) => Number(digits));

/** Whether what a diagram's kind makes of its numbers and lines is little enough. */
const kindFits = (source: string, lines: number): boolean => {
  const is = (kind: string): boolean => new RegExp(`(?:^|%)\\s*(?:${kind})`, 'm').test(source);
  if (is('gantt') && !ganttFits(source)) return false;
  if (is('block')) {
    const widths = numbersOf(source.matchAll(/(?::|\bcolumns)\s*(\d+)/gi));
    if (widths.reduce((sum, width) => sum + width, 0) > boxes) return false;
  }
  if (is('packet|radar') && numbersOf(source.matchAll(/(\d+)/g)).some((each) => each > bits))
    return false;
  return !is('mindmap|architecture|kanban|treemap') || lines <= forced;
};

/** Statements and edges of a diagram that is drawn unasked: laying one out takes a tab with it. */
const light = 200;

/** Whether a diagram that fits takes so long to lay out that its reader is asked first. */
export const diagramIsHeavy = (source: string): boolean =>
  (source.match(/[\n;&]|--+|==+|-\.+-|~~~+|->/g) ?? []).length > light;

/** Whether a Mermaid source is small and flat enough to be drawn. */
export const diagramFits = (source: string): boolean => {
  if (source.length > diagram.length) return false;
  const lines = source.split('\n');
  if (lines.length > diagram.lines) return false;
  if (!kindFits(source, lines.length)) return false;
  let depth = 0;
  for (const line of lines) {
    if (line.length > diagram.line || line.search(/\S/) > diagram.indent) return false;
    if (closing.test(line)) depth = Math.max(0, depth - 1);
    else if (opening.test(line)) depth += 1;
    if (depth > diagram.depth) return false;
    let within = 0;
    for (const sign of line) {
      if ('([{<'.includes(sign)) within += 1;
      else if (')]}>'.includes(sign)) within = Math.max(0, within - 1);
      if (within > diagram.depth) return false;
    }
  }
  return true;
};
