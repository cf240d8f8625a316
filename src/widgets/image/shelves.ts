/** The two places where a person's own images stand, newest first, 32 a page. */
export const shelves = {
  uploaded: {
    name: '上传的',
    call: 'uploadedFiles',
    none: '还没有上传过图片。可以从相册选、拍一张，或者粘贴图片和网址。',
  },
  made: {
    name: '画过的',
    call: 'privateImages',
    none: '还没有画过图片，画好的都会在这里。',
  },
} as const;
export type Shelf = keyof typeof shelves;
export const shelfNames: readonly Shelf[] = ['uploaded', 'made'];

/** Pixels, of `WxH`; zeros where they are not known. */
export const sizeOf = (size: string): { width: number; height: number } => {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { width: width || 0, height: height || 0 };
};
