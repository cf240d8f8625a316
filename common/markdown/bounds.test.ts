import { expect, test } from 'vitest';
import { diagramFits, diagramIsHeavy, formulaFits } from './bounds.ts';

const nested = (open: string, close: string, depth: number) =>
  `${open.repeat(depth)}x${close.repeat(depth)}`;

test.each([
  ['x^{', '}'],
  ['\\frac{1}{', '}'],
  ['\\sqrt{', '}'],
  ['\\sqrt[', ']{2}'],
  ['\\left(', '\\right)'],
  ['\\begin{matrix}', '\\end{matrix}'],
])('%s within itself is drawn ten deep and not a hundred', (open, close) => {
  expect(formulaFits(nested(open, close, 10))).toBe(true);
  expect(formulaFits(nested(open, close, 100))).toBe(false);
});

test('what textbooks have is drawn', () => {
  expect(
    formulaFits('\\int_{[0,1)} \\left\\{ \\sum_{i=0}^{\\infty} x_i \\right\\} \\, dx'.repeat(20)),
  ).toBe(true);
  expect(formulaFits(`\\{ ${'\\{'.repeat(100)}`)).toBe(true);
  expect(formulaFits('a+'.repeat(3_000))).toBe(false);
});

test('a formula that makes commands is drawn by nobody: 4,000 letters of it are half a million', () => {
  for (const making of [
    `\\def\\a{${'\\frac12'.repeat(400)}}${'\\a'.repeat(190)}`,
    '\\newcommand{\\a}{x}\\a',
    '\\global\\let\\a=x',
  ])
    expect(formulaFits(making)).toBe(false);
  expect(formulaFits('\\left( \\delta \\defeq \\longrightarrow \\right)')).toBe(true);
});

test('a diagram is drawn unless it is huge or deep', () => {
  const flow = 'flowchart LR\n  A["开始"] --> B{"对吗？"}\n  subgraph S\n  B --> C\n  end\n';
  expect(diagramFits(flow)).toBe(true);
  expect(diagramFits(`flowchart LR\n${'subgraph a\n'.repeat(100)}x\n${'end\n'.repeat(100)}`)).toBe(
    false,
  );
  expect(
    diagramFits(`sequenceDiagram\n${'loop a\n'.repeat(60)}A->>B: x\n${'end\n'.repeat(60)}`),
  ).toBe(false);
  expect(
    diagramFits(
      `mindmap\n${Array.from({ length: 80 }, (_, at) => `${' '.repeat(at)}x${at}`).join('\n')}`,
    ),
  ).toBe(false);
  expect(diagramFits(`flowchart LR\n${'A --> B\n'.repeat(500)}`)).toBe(false);
  expect(diagramFits(`flowchart LR\nA${'['.repeat(40)}`)).toBe(false);
});

test('a diagram of a few lines that stands for millions of days or boxes is not drawn', () => {
  const chart = (head: string, task: string) =>
    diagramFits(`gantt\n dateFormat YYYY-MM-DD\n ${head}\n section 一\n 写 :a1, ${task}\n`);
  expect(chart('excludes weekends', '2026-11-01, 30d')).toBe(true);
  expect(chart('excludes weekends', '2026-11-01, 2027-03-01')).toBe(true);
  expect(chart('title 一千年', '1000-01-01, 365000d')).toBe(true);
  for (const task of ['2026-11-01, 9999999d', '2026-11-01, 9999-12-31', '0001-01-01, 30d'])
    expect(chart('excludes weekends', task), task).toBe(false);
  for (const [wide, fits] of [
    ['columns 3\n a:2 b space:10', true],
    ['columns 9999999\n a', false],
    ['columns 1\n space:99999999\n a', false],
  ] as const) {
    expect(diagramFits(`block-beta\n ${wide}`), wide).toBe(fits);
    expect(diagramFits(`%%{init: {}}%%block-beta\n ${wide}`), wide).toBe(fits);
  }
  for (const much of [
    `block-beta\n columns 1\n${' space:99\n'.repeat(12)}`,
    `mindmap\n  r\n${'    c\n'.repeat(100)}`,
    'packet-beta\n0-99999999: "x"',
  ])
    expect(diagramFits(much), much).toBe(false);
  expect(diagramFits('packet-beta\n0-15: "来源端口"\n16-31: "目的端口"')).toBe(true);
});

test('a diagram that takes long to lay out is drawn only where its reader asks for it', () => {
  for (const heavy of ['n;'.repeat(300), 'A --> B\n'.repeat(150), `A${' & A'.repeat(240)} --> B`]) {
    expect(diagramFits(`flowchart LR\n${heavy}`), heavy).toBe(true);
    expect(diagramIsHeavy(`flowchart LR\n${heavy}`), heavy).toBe(true);
  }
  expect(diagramIsHeavy(`flowchart LR\n${'A --> B\n'.repeat(60)}`)).toBe(false);
});
