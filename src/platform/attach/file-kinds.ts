const endingOf = (name: string): string => /\.(\w{1,12})$/.exec(name)?.[1]?.toLowerCase() ?? '';

const images = 'jpg jpeg png webp heic heif avif bmp gif tif tiff';
/** Files whose text the server can take out. */
const readable =
  'txt md markdown csv tsv json jsonl log xml html htm css scss less js mjs cjs ts tsx jsx vue svelte ' +
  'py ipynb rb php java kt kts scala go rs c h cc cpp cxx hpp cs swift m mm lua pl r jl dart ex exs ' +
  'erl hs clj sh bash zsh fish ps1 bat sql graphql proto yaml yml toml ini cfg conf env properties ' +
  'gradle tex rst srt vtt diff patch pdf docx doc xlsx pptx epub';

const has = (list: string, ending: string) => ending !== '' && ` ${list} `.includes(` ${ending} `);

export const isImage = (file: File): boolean =>
  /^image\/(?!svg)/.test(file.type) || has(images, endingOf(file.name));

export const isReadable = (file: File): boolean =>
  has(readable, endingOf(file.name)) ||
  file.type.startsWith('text/') ||
  /^(Dockerfile|Makefile|LICENSE|README)$/i.test(file.name);

export const imageTypes = 'image/jpeg,image/png,image/webp,image/heic,image/*';
export const readableTypes = `text/*,${readable
  .split(' ')
  .map((ending) => `.${ending}`)
  .join(',')}`;
