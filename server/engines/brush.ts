import type { ImageParameters } from '../../contract/image.ts';

/** What was painted over, as an SVG of that size in which it is opaque and all else is clear. */
export const brushSvg = (
  { width, height }: { width: number; height: number },
  brush: NonNullable<ImageParameters['brush']>,
): Buffer => {
  const lines = brush.map(({ size, points }) => {
    const path = Array.from({ length: points.length / 2 }, (_, at) => {
      const to = `${points[at * 2]} ${points[at * 2 + 1]}`;
      // A touch without a movement is a dot.
      return at === 0 ? `M${to}h.01` : `L${to}`;
    });
    return `<path stroke-width="${size}" d="${path.join('')}"/>`;
  });
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
      `<g fill="none" stroke="#fff" stroke-linecap="round" stroke-linejoin="round">${lines.join('')}</g></svg>`,
  );
};
