const common = [
  [1, 1],
  [5, 4],
  [4, 3],
  [3, 2],
  [16, 9],
] as const;

/** What people call a shape: 方形, or whether it is wide or high with the nearest usual ratio. */
export const aspectName = (width: number, height: number): string => {
  const ratio = Math.max(width, height) / Math.max(1, Math.min(width, height));
  const far = ([long, short]: readonly [number, number]) =>
    Math.abs(Math.log(ratio / (long / short)));
  const [long, short] = common.reduce((best, each) => (far(each) < far(best) ? each : best));
  if (long === short) return '方形 1:1';
  return width > height ? `横幅 ${long}:${short}` : `竖幅 ${short}:${long}`;
};
