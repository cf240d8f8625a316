import { type Block, lockedFile, Unwanted } from './block.ts';
import { htmlBlocks } from './html.ts';
import { bare, walkXml } from './markup.ts';
import { partAt, partsOf } from './parts.ts';

/** The chapters of an e-book in their order. @throws Unwanted where they are locked */
export const epubBlocks = function* (data: Uint8Array): Generator<Block> {
  const parts = partsOf(data, (name) => /\.(?:xml|opf|xhtml|html?)$|^META-INF\//i.test(name));
  let book = '';
  walkXml(parts.get('META-INF/container.xml'), {
    open: (name, attributes) => {
      if (bare(name) === 'rootfile') book ||= attributes['full-path'] ?? '';
    },
  });
  if (!parts.has(book)) throw new Error('no book');
  const locked = new Set<string>();
  walkXml(parts.get('META-INF/encryption.xml'), {
    open: (name, attributes) => {
      if (bare(name) === 'CipherReference') locked.add(attributes['URI'] ?? '');
    },
  });
  const items = new Map<string, string>();
  const order: string[] = [];
  walkXml(parts.get(book), {
    open: (name, attributes) => {
      if (bare(name) === 'item') items.set(attributes['id'] ?? '', attributes['href'] ?? '');
      if (bare(name) === 'itemref') order.push(items.get(attributes['idref'] ?? '') ?? '');
    },
  });
  for (const href of order) {
    const name = partAt(book, href);
    if (locked.has(name)) throw new Unwanted(lockedFile);
    const chapter = parts.get(name);
    if (chapter) yield* htmlBlocks(new TextDecoder().decode(chapter));
  }
};
