import { createRequire } from 'node:module';
import type { BigNumber, ConfigOptions, MathJsInstance, MathNode } from 'mathjs';
import { inDigits } from '#common/chinese-numbers.ts';

/**
 * Works out what people write: 三加五等于几, 15% of 200, 1.5万×3, 2 的 10 次方. mathjs reads the
 * expression; this file alone decides what may be evaluated, and how large it may get, so that no
 * question can hold up the server.
 */

/** What mathjs's single file exports: an instance that makes others. */
interface MathJsFile {
  create(config: ConfigOptions): MathJsInstance;
}
let loaded: MathJsInstance | undefined;

/**
 * Loaded with the first sum, from mathjs's single file: its two thousand modules would take more
 * than a second and three times the memory.
 */
const load = (): MathJsInstance => {
  if (!loaded) {
    const file = createRequire(import.meta.url)('mathjs/lib/browser/math.js') as MathJsFile;
    loaded = file.create({ number: 'BigNumber', precision: 64 });
  }
  return loaded;
};

const mostLetters = 300;
const mostNodes = 120;

class TooHard extends Error {}

const constants = new Set(['pi', 'e']);
/** Functions of one number, with the largest they take: beyond, they would be slow or senseless. */
const functions: Record<string, number> = {
  sqrt: Infinity,
  cbrt: Infinity,
  abs: Infinity,
  round: Infinity,
  floor: Infinity,
  ceil: Infinity,
  log10: Infinity,
  log2: Infinity,
  ln: Infinity,
  exp: 5_000,
  sin: 1e12,
  cos: 1e12,
  tan: 1e12,
  factorial: 1_000,
};

const evaluate = (math: MathJsInstance, node: MathNode): BigNumber => {
  const big = (value: unknown): BigNumber => {
    if (!math.isBigNumber(value)) throw new TooHard();
    return value;
  };
  const call = (name: string, inner: MathNode): BigNumber => {
    const most = functions[name];
    if (most === undefined) throw new TooHard();
    const value = evaluate(math, inner);
    if (value.abs().gt(most)) throw new TooHard();
    if (name === 'factorial' && (!value.isInteger() || value.isNegative())) throw new TooHard();
    const known = math as unknown as Record<string, (value: BigNumber) => unknown>;
    return big(known[name === 'ln' ? 'log' : name]?.(value));
  };
  if (math.isParenthesisNode(node)) return evaluate(math, node.content);
  if (math.isConstantNode(node)) return big(node.value);
  if (math.isSymbolNode(node) && constants.has(node.name)) return big(math.evaluate(node.name));
  if (math.isFunctionNode(node) && node.args.length === 1 && node.args[0])
    return call(node.fn.name, node.args[0]);
  if (math.isOperatorNode(node)) {
    const [first, second] = node.args;
    if (!first) throw new TooHard();
    if (!second) {
      if (node.op === '!') return call('factorial', first);
      const value = evaluate(math, first);
      return node.op === '-' ? value.negated() : value;
    }
    const left = evaluate(math, first);
    const right = evaluate(math, second);
    switch (node.op) {
      case '+':
        return left.plus(right);
      case '-':
        return left.minus(right);
      case '*':
        return left.times(right);
      case '/':
        return left.div(right);
      case 'mod':
        return left.mod(right);
      case '^': {
        const size = left.isZero() ? 0 : Math.abs(left.abs().log(10).toNumber());
        if (right.abs().gt(100_000) || size * right.abs().toNumber() > 100_000) throw new TooHard();
        return left.pow(right);
      }
      default:
        throw new TooHard();
    }
  }
  throw new TooHard();
};

/** Longer than this a whole number is shown by its order of magnitude. */
const mostDigits = 40;

const write = (value: BigNumber): string => {
  const isLong = value.e >= mostDigits || value.e < -12;
  if (value.isInteger() && !isLong) return value.toFixed();
  const rounded = value.toSignificantDigits(15);
  if (!isLong) return rounded.toFixed();
  const [factor = '', exponent = ''] = rounded.toExponential().split('e');
  return `${factor}×10^${exponent.replace('+', '')}`;
};

const dressing =
  /请问|请你|请|麻烦|帮我|给我|帮忙|那么|那|计算一下|计算|算一下|算算看|算算|算一算|算|求一下|求|结果是多少|的结果是|的结果|结果|等于多少|等于几|等于什么|等于|等於|得多少|得几|是多少|是几|多少|[=?？。！,，]+$|呢|吗|啊/g;

const number = String.raw`\d+(?:\.\d+)?`;

/** The words of arithmetic as signs. */
const inSigns = (question: string): string => {
  let text = inDigits(question.replace(/百分之([零一二两三四五六七八九十百点\d.]+)/g, '$1%'));
  text = text.replace(/(\d+(?:\.\d+)?)\s*(?:度|°)/g, (whole, degrees: string) =>
    /sin|cos|tan|正弦|余弦|正切/i.test(text) ? `(${degrees}*pi/180)` : whole,
  );
  const rules: [RegExp, string][] = [
    [/正弦/g, 'sin '],
    [/余弦/g, 'cos '],
    [/正切/g, 'tan '],
    [/π|圆周率/g, 'pi'],
    [new RegExp(`(${number})\\s*(?:除以|/|÷)\\s*(${number})\\s*的?余数`, 'g'), '($1 mod $2)'],
    [new RegExp(`(${number})\\s*(?:%|percent)\\s*of\\s*(${number})`, 'gi'), '($2*$1/100)'],
    [new RegExp(`(${number}|\\))\\s*的\\s*(${number})%`, 'g'), '$1*($2/100)'],
    [new RegExp(`(${number})\\s*元?\\s*打\\s*(${number})\\s*折`, 'g'), '($1*0.$2)'],
    [new RegExp(`(${number}|\\))\\s*的?平方根`, 'g'), 'sqrt($1)'],
    [new RegExp(`(?:根号|√)\\s*(${number})`, 'g'), 'sqrt($1)'],
    [/(?:根号|√)\s*\(/g, 'sqrt('],
    [new RegExp(`(${number}|\\))\\s*的?立方根`, 'g'), 'cbrt($1)'],
    [/\s*的?平方(?!米|公里)/g, '^2'],
    [/\s*的?立方(?!米)/g, '^3'],
    [new RegExp(`\\s*的\\s*(${number})\\s*次(?:方|幂)`, 'g'), '^$1'],
    [/\s*的?阶乘/g, '!'],
    [/加上|加/g, '+'],
    [/减去|减掉|减/g, '-'],
    [/乘以|乘上|乘|×|✕|·/g, '*'],
    [/除以|÷/g, '/'],
    [/\*\*/g, '^'],
    [/−|–|—/g, '-'],
    [/(?<=\d)\s*[x]\s*(?=[\d(])/gi, '*'],
    // As a pocket calculator takes it: 200+15% is 200 and 15 % of it.
    [new RegExp(`([+-])\\s*(${number})%(?!\\s*[*/^\\d(])`, 'g'), '*(1$1$2/100)'],
    [new RegExp(`(${number})%(?!\\s*[\\d(])`, 'g'), '($1/100)'],
  ];
  for (const [pattern, sign] of rules) text = text.replace(pattern, sign);
  return text
    .replace(/\b(sin|cos|tan|ln|log2|log10|sqrt)\s+(\d+(?:\.\d+)?)/gi, '$1($2)')
    .replace(/\b(sin|cos|tan)\s*(\(\d+(?:\.\d+)?\*pi\/180\))/gi, '$1($2)')
    .trim();
};

const names = /[a-z]+\d*/gi;
const isExpression = (text: string): boolean =>
  /^[\d\s.+\-*/^()!a-z]+$/i.test(text) &&
  /\d|pi/i.test(text) &&
  /[-+*/^!]|mod|[a-z]\d*\(/i.test(text) &&
  !/^[-+]?\d+(?:\.\d+)?$/.test(text.replace(/[()\s]/g, '')) &&
  !/^\d{4}\s*-\s*\d{1,2}\s*-\s*\d{1,2}$/.test(text) &&
  [...text.matchAll(names)].every(
    ([name]) => name in functions || constants.has(name) || name === 'mod',
  );

/** How an expression is shown: with the signs that people write. */
const pretty = (expression: string): string =>
  expression
    .replace(/^\(([^()]*)\)$/, '$1')
    .replace(/\s+/g, ' ')
    .replaceAll('*', '×')
    .replaceAll('/', '÷')
    .replaceAll('-', '−')
    .replaceAll('pi', 'π');

/** The bold number that ends the line of the last sum, to go on with. */
const lastResult = /[=≈] \*\*(-?\d+(?:\.\d+)?)\*\*/g;

/**
 * The answer to a sum, or null when the question is none.
 * @param before the previous reply, whose result `再加 5` goes on from.
 */
export const arithmetic = (question: string, before: string): string | null => {
  if (question.length > mostLetters) return null;
  let text = inSigns(question.replace(dressing, ' ').replace(/^\s*(?:再|然后|接着|继续)\s*/, ''))
    .replace(/[=?？\s]+$/, '')
    .trim();
  if (
    /^[-+*/^]/.test(text) &&
    (/^\s*[\u4e00-\u9fff]/.test(question) || /^\s*[*/^×÷+]/.test(question))
  ) {
    const previous = [...before.matchAll(lastResult)].at(-1)?.[1];
    if (previous !== undefined)
      text = `${previous.startsWith('-') ? `(${previous})` : previous} ${text}`;
    else if (/^[*/^+]/.test(text)) return null;
  }
  if (!isExpression(text)) return null;
  const math = load();
  let root: MathNode;
  try {
    root = math.parse(text);
  } catch {
    return null;
  }
  let nodes = 0;
  root.traverse(() => {
    nodes += 1;
  });
  if (nodes > mostNodes) return '这个算式太长了，请分成几步来算。';
  let value: BigNumber;
  try {
    value = evaluate(math, root);
  } catch (error) {
    if (!(error instanceof TooHard)) return null;
    return '这个数太大，或用到了我不会的运算，我算不了。';
  }
  if (value.isNaN()) return `${pretty(text)} 没有意义（例如零除以零，或负数开平方）。`;
  if (!value.isFinite()) return /\/\s*\(?0/.test(text) ? '除数不能是零。' : '结果太大，我写不下。';
  const written = write(value);
  const isExact = value.isInteger() ? value.e < mostDigits : value.precision() <= 15;
  return `${pretty(text)} ${isExact ? '=' : '≈'} **${written}**`;
};
