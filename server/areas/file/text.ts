import { limits } from '#contract/limits.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { Refusal } from '#server/http/handlers.ts';
import { usualForms } from '#server/search/forms.ts';
import { decodeText } from '#server/reading/decode.ts';
import { endingOf, readKindOf, type ReadKind, zippedKinds } from '#server/reading/kinds.ts';
import { readDocument } from './document.ts';

export interface ReadText {
  mime: string;
  /** The file's text, at most limits.fileText characters. */
  text: string;
  /** The rest of a longer text was left out. */
  cut: boolean;
}

/** Endings of files that are text. */
const textEndings = new Set(
  `txt text md markdown mdx rst adoc org tex bib log csv tsv json jsonl ndjson json5 xml xsl xsd yaml
  yml toml ini cfg conf env properties html htm css scss sass less js mjs cjs jsx ts mts cts tsx vue
  svelte astro py pyi ipynb rb php phtml pl pm lua r jl java kt kts scala groovy gradle clj cljs edn
  c h cc cpp cxx hh hpp hxx m mm cs fs fsx vb go rs swift dart zig nim d ex exs erl hrl hs lhs ml mli
  lisp scm rkt el sql graphql gql proto thrift sh bash zsh fish ps1 psm1 bat cmd awk sed makefile mk
  cmake dockerfile vim diff patch srt vtt ass asm s v vhd sv sol wat f f90 pas ada cob tcl nix tf hcl
  bicep http rest gitignore editorconfig lock svg`.split(/\s+/),
);
/** Files that are known by their whole name. */
const textNames = new Set([
  'makefile',
  'dockerfile',
  'readme',
  'license',
  'changelog',
  'cmakelists',
]);

const office = 'application/vnd.openxmlformats-officedocument';
/** Documents that are more than their text. */
const documentMimes: Readonly<Partial<Record<ReadKind, string>>> = {
  pdf: 'application/pdf',
  docx: `${office}.wordprocessingml.document`,
  doc: 'application/msword',
  xlsx: `${office}.spreadsheetml.sheet`,
  pptx: `${office}.presentationml.presentation`,
  epub: 'application/epub+zip',
  image: 'image/*',
};
const documentEndings = new Set(['pdf', 'doc', ...Object.keys(zippedKinds)]);

const mimes: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
};

const unknownType = () =>
  new Refusal(
    'upload_type',
    '只支持文本、代码、csv、json、pdf、docx、doc、xlsx、pptx 和 epub 文件',
  );

/** Cut between characters, never through one. */
export const cutText = (text: string, most: number): string => {
  const half = text.charCodeAt(most - 1);
  return text.slice(0, half >= 0xd800 && half <= 0xdbff ? most - 1 : most);
};

/**
 * The text in a file. What kind it is, is told by its bytes; its name only says whether what has no
 * mark of its own is meant to be text.
 * @throws Refusal upload_type, upload_unreadable
 */
export const readText = async (
  name: string,
  data: Buffer,
  reading: { seconds: number; owner: Waiter; signal?: AbortSignal },
): Promise<ReadText> => {
  if (data.length === 0) throw new Refusal('upload_unreadable', '文件是空的');
  let mime: string;
  let text: string;
  let cut = false;
  const ending = endingOf(name);
  const kind = readKindOf(name, data);
  const document = kind === null ? undefined : documentMimes[kind];
  if (kind && document !== undefined) {
    mime = document;
    ({ text, cut } = await readDocument(kind, data, reading));
    if (kind === 'image') text = `（下面是从图片里认出的文字，可能有错字）\n\n${text}`;
  } else {
    // Its kind is one that is read; what is in it is not.
    if (documentEndings.has(ending))
      throw new Refusal('upload_unreadable', '文件已损坏或不完整，无法读取');
    if (!textEndings.has(ending) && !textNames.has(name.toLowerCase().split('.')[0] ?? ''))
      throw unknownType();
    const decoded = decodeText(data, limits.fileText + 1);
    if (decoded === null) throw new Refusal('upload_type', '这个文件不是文本，无法读取');
    mime = mimes[ending] ?? 'text/plain';
    text = decoded;
  }
  // PostgreSQL has no NUL in a text; broken fonts of a PDF map letters to it.
  text = text.replaceAll('\0', '');
  if (text.length > limits.fileText) {
    text = cutText(text, limits.fileText);
    cut = true;
  }
  text = usualForms(text);
  if (text.trim() === '') throw new Refusal('upload_unreadable', '文件里没有文字');
  return { mime, text, cut };
};
