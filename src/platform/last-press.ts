let pressed: { x: number; y: number; target: Element | null } | null = null;

addEventListener(
  'pointerdown',
  ({ clientX: x, clientY: y, target }) => {
    pressed = { x, y, target: target instanceof Element ? target : null };
  },
  { capture: true, passive: true },
);
addEventListener('keydown', () => (pressed = null), { capture: true, passive: true });

/** Where the person pressed last: the button's place, or the very point where there is none. */
export const lastPress = (): DOMRect | null => {
  const button = (pressed ? pressed.target : document.activeElement)?.closest('button, a[href]');
  if (button?.isConnected && button.getClientRects().length > 0)
    return button.getBoundingClientRect();
  return pressed && new DOMRect(pressed.x, pressed.y, 0, 0);
};
