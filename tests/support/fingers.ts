import type { Page } from '@playwright/test';

/** Fingers on the screen, as a phone tells of them. */
export const fingers = async (page: Page) => {
  const session = await page.context().newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: [number, number][]) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
  return {
    /** Puts a finger down; it stays until `lift`. */
    press: (point: [number, number]) => send('touchStart', [point]),
    slide: (point: [number, number]) => send('touchMove', [point]),
    lift: () => send('touchEnd', []),
    draw: async (points: [number, number][]) => {
      const [first, ...rest] = points;
      await send('touchStart', [first!]);
      for (const point of rest) await send('touchMove', [point]);
      await send('touchEnd', []);
    },
    pinch: async ([x, y]: [number, number], from: number, to: number) => {
      await send('touchStart', [[x - from, y]]);
      await send('touchStart', [
        [x - from, y],
        [x + from, y],
      ]);
      for (let step = 1; step <= 6; step += 1) {
        const far = from + ((to - from) * step) / 6;
        await send('touchMove', [
          [x - far, y],
          [x + far, y],
        ]);
      }
      await send('touchEnd', []);
    },
  };
};
