/** A size of pictures: the code by which requests name it, and what it costs (document 2 §9). */
export interface ImageSize {
  code: number;
  width: number;
  height: number;
}

/** Codes above 7 are DALL-E 3's wide ones; 3 is the default. */
export const imageSizes: readonly ImageSize[] = [
  { code: 0, width: 256, height: 256 },
  { code: 1, width: 512, height: 512 },
  { code: 2, width: 768, height: 768 },
  { code: 3, width: 1024, height: 1024 },
  { code: 4, width: 1024, height: 768 },
  { code: 5, width: 768, height: 1024 },
  { code: 6, width: 1024, height: 576 },
  { code: 7, width: 576, height: 1024 },
  { code: 8, width: 1792, height: 1024 },
  { code: 9, width: 1024, height: 1792 },
];

/** The kinds of controlnet (document 2 §9). */
export const controlKinds = [
  'Canny',
  'Lineart',
  'SoftEdge',
  'Scribble',
  'MLSD',
  'Seg',
  'Depth',
  'OpenPose',
  'Normal',
  'IP2P',
  'Tile',
  'Reference',
  'Shuffle',
] as const;
