let pressed: { x: number; y: number; target: Element | null } | null = null;
let last: Element | null = null;

/** What a popover leads to stands where that stood. */
const isWithin = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-popover]') !== null;

addEventListener(
  'pointerdown',
  ({ clientX: x, clientY: y, target }) => {
    if (!isWithin(target)) pressed = { x, y, target: target instanceof Element ? target : null };
  },
  { capture: true, passive: true },
);
addEventListener(
  'keydown',
  ({ target }) => {
    if (!isWithin(target)) pressed = null;
  },
  { capture: true, passive: true },
);

/** Where the person pressed last: the button's place, or the very point where there is none. */
export const lastPress = (): DOMRect | null => {
  const { activeElement: at, body } = document;
  const from = pressed ? pressed.target : at === body || isWithin(at) ? last : at;
  const button = from?.closest('button, a[href]');
  if (button?.isConnected && button.getClientRects().length > 0) {
    last = button;
    return button.getBoundingClientRect();
  }
  return pressed && new DOMRect(pressed.x, pressed.y, 0, 0);
};
