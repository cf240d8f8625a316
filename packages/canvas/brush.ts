import type { ImageParameters } from '#contract/image.ts';

/**
 * What was painted over, as an SVG of that size in which it is opaque and all else is clear. Lines
 * that take away come in their turn; inverted, what is clear and what is opaque change places.
 */
export const brushSvg = (
  { width, height }: { width: number; height: number },
  brush: NonNullable<ImageParameters['brush']>,
  inverted = false,
): Buffer => {
  const [ground, ink] = inverted ? ['#fff', '#000'] : ['#000', '#fff'];
  const lines = brush.map(({ size, points, area, erase }) => {
    const path = Array.from({ length: points.length / 2 }, (_, at) => {
      const to = `${points[at * 2]} ${points[at * 2 + 1]}`;
      // A touch without a movement is a dot.
      return at === 0 ? `M${to}h.01` : `L${to}`;
    });
    const colour = erase ? ground : ink;
    return `<path stroke="${colour}" fill="${area ? colour : 'none'}" stroke-width="${size}" d="${path.join('')}${area ? 'Z' : ''}"/>`;
  });
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
      `<mask id="m" maskUnits="userSpaceOnUse" x="0" y="0" width="${width}" height="${height}">` +
      `<rect width="${width}" height="${height}" fill="${ground}"/>` +
      `<g stroke-linecap="round" stroke-linejoin="round">${lines.join('')}</g></mask>` +
      `<rect width="${width}" height="${height}" fill="#fff" mask="url(#m)"/></svg>`,
  );
};
