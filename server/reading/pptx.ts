import type { Block } from './block.ts';
import { bare, linksOf, walkXml } from './markup.ts';
import { partAt, partsOf } from './parts.ts';
import type { Place } from './place.ts';
import { tableBlocks, type TableRow } from './table.ts';

const relsOf = (part: string): string => part.replace(/([^/]+)$/, '_rels/$1.rels');
const isTitle = /^(?:title|ctrTitle)$/;
/** Its number, the date and the line below are on every slide. */
const isAround = /^(?:sldNum|dt|ftr|hdr)$/;

/** The shapes of a slide, or of its notes. */
const slideBlocks = (part: Uint8Array | undefined, place: Place, notes: boolean): Block[] => {
  const blocks: Block[] = [];
  let holder = '';
  let text = '';
  let inText = false;
  let table: TableRow[] | null = null;
  let paragraph = '';
  let shape: string[] = [];
  const flush = () => {
    const said = shape.join('\n').trim();
    shape = [];
    if (said === '' || isAround.test(holder) || (notes && holder !== 'body')) return;
    if (isTitle.test(holder) && !notes)
      blocks.unshift({
        kind: 'heading',
        level: 1,
        text: said.replaceAll('\n', ' ').slice(0, 200),
        place,
      });
    else blocks.push({ kind: notes ? 'note' : 'text', text: said, place });
  };
  walkXml(part, {
    open: (name, attributes) => {
      const tag = bare(name);
      if (tag === 'sp') holder = '';
      else if (tag === 'ph') holder = attributes['type'] ?? 'body';
      else if (tag === 'tbl') table = [];
      else if (tag === 'tr') table?.push({ row: table.length + 1, cells: [] });
      else if (tag === 'tc') {
        text = '';
        const [across, down] = [Number(attributes['gridSpan']), Number(attributes['rowSpan'])];
        const merged = attributes['hMerge'] === '1' || attributes['vMerge'] === '1';
        if (!merged)
          table?.at(-1)?.cells.push({
            text: '',
            across: Math.min(500, Math.max(1, across || 1)),
            down: Math.max(1, down || 1),
          });
        else holder = 'merged';
      } else if (tag === 'p') paragraph = '';
      else if (tag === 'br') paragraph += '\n';
      inText = tag === 't';
    },
    text: (more) => {
      if (inText) paragraph += more;
    },
    close: (name) => {
      const tag = bare(name);
      inText = false;
      if (tag === 'p') {
        if (table) text += `${text === '' ? '' : ' '}${paragraph}`;
        else shape.push(paragraph);
      } else if (tag === 'tc' && table) {
        const cell = table.at(-1)?.cells.at(-1);
        if (cell && holder !== 'merged') cell.text = text;
        holder = '';
      } else if (tag === 'tbl' && table) {
        blocks.push(...tableBlocks(table, place));
        table = null;
      } else if (tag === 'sp') flush();
    },
  });
  return blocks;
};

/** The slides of a presentation in their order, each with what its speaker notes. */
export const pptxBlocks = function* (data: Uint8Array): Generator<Block> {
  const parts = partsOf(data, (name) =>
    /^ppt\/(?:presentation\.xml|_rels\/presentation\.xml\.rels|(?:slides|notesSlides)\/(?:_rels\/)?[^/]+)$/.test(
      name,
    ),
  );
  const main = 'ppt/presentation.xml';
  const links = linksOf(parts.get(relsOf(main)));
  const slides: string[] = [];
  walkXml(parts.get(main), {
    open: (name, { 'r:id': id = '' }) => {
      if (bare(name) === 'sldId') slides.push(partAt(main, links.get(id)?.target ?? ''));
    },
  });
  if (slides.length === 0) throw new Error('no slides');
  for (const [at, slide] of slides.entries()) {
    const place = { slide: at + 1 };
    // A slide without a title does not stand below the one before it.
    const blocks = slideBlocks(parts.get(slide), place, false);
    if (blocks[0]?.kind !== 'heading') yield { kind: 'heading', level: 1, text: '', place };
    yield* blocks;
    for (const { target, type } of linksOf(parts.get(relsOf(slide))).values())
      if (type === 'notesSlide') yield* slideBlocks(parts.get(partAt(slide, target)), place, true);
  }
};
