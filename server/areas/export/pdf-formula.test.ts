import { expect, test } from 'vitest';
import { createFormulas } from './pdf-formula.ts';

test('rules that would blacken the page are shown as their source; those of textbooks are drawn', async () => {
  const formulas = createFormulas({} as never, '');
  await formulas.load();
  const box = (tex: string) => formulas.box(tex, true, { size: 12 } as never, 500);
  for (const tex of [String.raw`\rule{9999em}{9999em}`, String.raw`x\rule{10em}{10em}`])
    expect(box(tex), tex).toBeNull();
  for (const tex of ['x^2', String.raw`\rule{10em}{.04em}`, String.raw`\frac{a}{b}`])
    expect(box(tex), tex).not.toBeNull();
});
