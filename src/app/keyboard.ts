/**
 * The keyboard of a phone never lies over the box that is written in. Android's browsers make the
 * page smaller themselves (`interactive-widget=resizes-content`); on iOS the keyboard lies over it,
 * and only the visual viewport tells. `data-keyboard` on the root hides the bottom bar either way;
 * `--covered` is what of the page's foot is out of sight, px.
 */
export const watchKeyboard = (): void => {
  const viewport = window.visualViewport;
  if (!viewport || !matchMedia('(pointer: coarse)').matches) return;
  const root = document.documentElement;
  /** The tallest the window has been at this width: without the keyboard. */
  let tallest = { width: innerWidth, height: innerHeight };

  const writes = (element: Element | null): element is HTMLElement =>
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement &&
      /^(text|search|url|email|password|tel|number)$/.test(element.type)) ||
    (element instanceof HTMLElement && element.isContentEditable);

  const fit = () => {
    if (innerWidth !== tallest.width) tallest = { width: innerWidth, height: innerHeight };
    tallest.height = Math.max(tallest.height, innerHeight);
    const box = document.activeElement;
    // Two fingers that enlarge the page are no keyboard.
    const open = viewport.scale < 1.05 && writes(box) && tallest.height - viewport.height > 120;
    root.toggleAttribute('data-keyboard', open);
    const covered = open ? Math.max(0, innerHeight - viewport.height - viewport.offsetTop) : 0;
    root.style.setProperty('--covered', `${Math.round(covered)}px`);
    if (!open || covered === 0) return;
    const { bottom } = box.getBoundingClientRect();
    if (bottom > viewport.offsetTop + viewport.height)
      box.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  };
  viewport.addEventListener('resize', fit);
  viewport.addEventListener('scroll', fit);
  document.addEventListener('focusin', fit);
  document.addEventListener('focusout', fit);
};
