/** Sides of the small images that this server gives, px: each is at most as wide and high. */
const sides = [128, 180, 320, 640] as const;
export type Side = (typeof sides)[number];

const own = /^\/files\/[^?#]+$/;

/** The small image of one of this server's; other servers' images have none. */
export const smallImage = (url: string, side: Side): string =>
  own.test(url) ? `${url}?size=${side}` : url;

/** The smaller ones of one of this server's images, largest first. */
export const smallerOnes = (url: string): readonly string[] =>
  own.test(url) ? sides.map((side) => smallImage(url, side)).reverse() : [];

/** What an `img` shows an image with whose whole size may be looked at: the small one only where that is sharp. */
export const wholeSources = (image: {
  url: string;
  width: number;
  height: number;
}): string | undefined => {
  const { url, width, height } = image;
  const longest = Math.max(width, height);
  if (!own.test(url) || longest <= 640) return undefined;
  return `${smallImage(url, 640)} ${Math.round((width * 640) / longest)}w, ${url} ${width}w`;
};

/**
 * What an `img` shows a made image with: the browser takes the smallest that is sharp.
 * @param width px of the image itself @param height px of the image itself
 */
export const imageSources = (image: { url: string; width: number; height: number }) => {
  const { url, width, height } = image;
  const longest = Math.max(width, height, 1);
  return {
    src: smallImage(url, 640),
    srcSet: own.test(url)
      ? sides
          .map((side) => {
            const shown = Math.round(width * Math.min(1, side / longest));
            return `${smallImage(url, side)} ${Math.max(1, shown)}w`;
          })
          .join(', ')
      : undefined,
  };
};
