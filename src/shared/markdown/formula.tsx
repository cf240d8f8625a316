import type KatexModule from 'katex';
import { memo, useLayoutEffect, useRef } from 'react';

type Katex = typeof KatexModule;

let loading: Promise<Katex> | undefined;
let katex: Katex | undefined;

const load = async (): Promise<Katex> => {
  loading ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(
    ([module]) => module.default,
  );
  katex = await loading;
  return katex;
};

/** What was drawn lately: a row that comes back into the list gets a copy, which is far cheaper. */
const drawings = new Map<string, DocumentFragment>();
const keptDrawings = 200;

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
    engine.render(text, element, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxExpand: 200,
      maxSize: 40,
    });
    element.dataset['drawn'] = '1';
    const copy = document.createDocumentFragment();
    for (const child of element.childNodes) copy.append(child.cloneNode(true));
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
    let gone = false;
    const show = (engine: Katex) => {
      if (!gone && box.current) draw(engine, box.current, text, display);
    };
    if (katex) show(katex);
    else
      load().then(show, () => {
        loading = undefined;
      });
    return () => {
      gone = true;
    };
  }, [text, display]);
  // React must not own a child that KaTeX replaces, so the source is put in by the effect too.
  return (
    <span
      ref={(element) => {
        box.current = element;
        if (element && element.childNodes.length === 0) element.textContent = text;
      }}
      className={display ? 'formula formula-display' : 'formula'}
    />
  );
});
