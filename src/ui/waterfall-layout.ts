export interface Shape {
  width: number;
  height: number;
}

/** Where everything stands, px from the top left corner; places are numbered as the items are. */
export interface Waterfall {
  lefts: Float64Array;
  /** Never smaller than that of the item before. */
  tops: Float64Array;
  heights: Float64Array;
  /** Of every item. */
  width: number;
  /** Of all. */
  height: number;
  /** Of the highest item. */
  tallest: number;
}

/** A strip or a tower would fill the screen alone; what is beyond these is cut when it is shown. */
const mostHigh = 2;
const leastHigh = 0.5;

/**
 * Places items of known shapes in columns of one width, each in the column that ends highest, so
 * that nothing ever moves when more come behind. Shapes without sides count as squares.
 * @param room px from side to side @param least px that a column is wide at least, if there is room
 */
export const layWaterfall = (
  shapes: readonly Shape[],
  { room, least, gap }: { room: number; least: number; gap: number },
): Waterfall => {
  const columns = Math.max(1, Math.floor((room + gap) / (least + gap)));
  const width = Math.max(0, (room - gap * (columns - 1)) / columns);
  const ends = new Float64Array(columns);
  const lefts = new Float64Array(shapes.length);
  const tops = new Float64Array(shapes.length);
  const heights = new Float64Array(shapes.length);
  let tallest = 0;
  shapes.forEach((shape, at) => {
    let column = 0;
    for (let each = 1; each < columns; each += 1)
      if ((ends[each] ?? 0) < (ends[column] ?? 0)) column = each;
    const sides = shape.width > 0 && shape.height > 0;
    const ratio = sides ? Math.min(mostHigh, Math.max(leastHigh, shape.height / shape.width)) : 1;
    const height = Math.round(width * ratio);
    const top = ends[column] ?? 0;
    lefts[at] = column * (width + gap);
    tops[at] = top;
    heights[at] = height;
    ends[column] = top + height + gap;
    tallest = Math.max(tallest, height);
  });
  return { lefts, tops, heights, width, height: Math.max(0, Math.max(...ends) - gap), tallest };
};

/** The first place whose top lies at or below `y`. */
const firstBelow = (tops: Float64Array, y: number): number => {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) < y) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The places that reach into the part from `from` to `to`, px; in time logarithmic in their number. */
export const placesWithin = (
  { tops, heights, tallest }: Waterfall,
  from: number,
  to: number,
): number[] => {
  const last = firstBelow(tops, to);
  const places: number[] = [];
  for (let at = firstBelow(tops, from - tallest); at < last; at += 1)
    if ((tops[at] ?? 0) + (heights[at] ?? 0) > from) places.push(at);
  return places;
};
