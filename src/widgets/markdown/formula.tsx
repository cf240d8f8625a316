import { formulaFits, formulaRules } from '#common/markdown/bounds.ts';
import type KatexModule from 'katex';
import styles from 'katex/dist/katex.min.css?url';
import { memo, useLayoutEffect, useRef } from 'react';
import { lazyChunk, whenLoaded } from '#src/platform/lazy-chunk.ts';
import css from './markdown.module.css';

type Katex = typeof KatexModule;

let katex: Katex | undefined;

/** A link of its own: the bundler's way of loading styles does not try again. */
const loadStyles = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = styles;
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => {
      link.remove();
      reject(new Error('no styles for formulas'));
    });
    document.head.append(link);
  });

/** What nearly every formula needs, and how long it is waited for, ms. */
const fonts = ['1em KaTeX_Main', 'italic 1em KaTeX_Math', '1em KaTeX_Size1', '1em KaTeX_Size2'];
const fontsPatience = 2000;

/** A formula drawn before its fonts are there is laid out twice, at first with signs looked up elsewhere. */
const loadFonts = (): Promise<unknown> =>
  Promise.race([
    Promise.allSettled(fonts.map((font) => document.fonts.load(font))),
    new Promise((resolve) => setTimeout(resolve, fontsPatience)),
  ]);

const onceStyles = lazyChunk(loadStyles);
const load = lazyChunk(async (): Promise<Katex> => {
  const [module] = await Promise.all([import('katex'), onceStyles().then(loadFonts)]);
  katex = module.default;
  return katex;
});

/** What was drawn lately: a row that comes back into the list gets a copy, which is far cheaper. */
const drawings = new Map<string, DocumentFragment>();
const keptDrawings = 200;

/** Elements of a formula that is laid out, and elements within elements: see formulaFits. */
const drawn = { elements: 12_000, depth: 320 };

/** Whether what KaTeX built can be laid out: macros may nest deeper than their text tells. */
const canLayOut = (element: Element): boolean => {
  let elements = 0;
  let level: Element[] = [element];
  for (let depth = 0; level.length > 0; depth += 1) {
    elements += level.length;
    if (depth > drawn.depth || elements > drawn.elements) return false;
    level = level.flatMap((each) => [...each.children]);
  }
  return true;
};

/**
 * Square em that its rules fill: KaTeX draws each as the borders of an element, whose class has
 * another name from version to version.
 */
const inkOf = (element: Element): number =>
  [...element.querySelectorAll<HTMLElement>('[style*="border"]')]
    .map(
      ({ style }) =>
        Number.parseFloat(style.borderRightWidth) * Number.parseFloat(style.borderTopWidth),
    )
    .reduce((sum, area) => sum + (Number.isFinite(area) ? area : 0), 0);

/** KaTeX builds elements itself: no HTML is parsed, and its styles pass a strict policy. */
const draw = (engine: Katex, element: HTMLElement, text: string, display: boolean) => {
  const key = `${display ? 1 : 0}${text}`;
  const known = drawings.get(key);
  if (known) {
    element.replaceChildren(known.cloneNode(true));
    element.dataset['drawn'] = '1';
    return;
  }
  try {
    if (!formulaFits(text)) throw new Error('too large');
    // Nothing is laid out before it is known to be no trap.
    const apart = document.createElement('span');
    engine.render(text, apart, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxExpand: 200,
      maxSize: formulaRules.length,
    });
    if (!canLayOut(apart)) throw new Error('too deep');
    if (inkOf(apart) > formulaRules.ink) throw new Error('too black');
    const copy = document.createDocumentFragment();
    for (const child of apart.childNodes) copy.append(child.cloneNode(true));
    element.replaceChildren(...apart.childNodes);
    element.dataset['drawn'] = '1';
    drawings.set(key, copy);
    const oldest = drawings.keys().next();
    if (drawings.size > keptDrawings && !oldest.done) drawings.delete(oldest.value);
  } catch {
    // Not a formula, or not yet: the source is what there is to read.
    delete element.dataset['drawn'];
    element.textContent = text;
  }
};

/** A formula. Its source stands there until KaTeX has been loaded. */
export const Formula = memo(function Formula({
  text,
  display,
}: {
  text: string;
  display: boolean;
}) {
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const show = (engine: Katex) => {
      if (box.current) draw(engine, box.current, text, display);
    };
    if (!katex) return whenLoaded(load, show);
    show(katex);
    return undefined;
  }, [text, display]);
  // React must not own a child that KaTeX replaces, so the source is put in by the effect too.
  return (
    <span
      ref={(element) => {
        box.current = element;
        if (element && element.childNodes.length === 0) element.textContent = text;
      }}
      className={display ? `${css.formula} ${css.formulaDisplay}` : css.formula}
      data-formula
      data-display={display || undefined}
    />
  );
});
