import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import PdfDocument from 'pdfkit';
import sharp from 'sharp';
import { pagePicture, see } from '#server/reading/seeing/see.ts';
import { pageText } from '#server/reading/layout.ts';
import { searchedLetters } from '#server/search/letters.ts';
import { squeeze } from '#server/search/terms.ts';

/**
 * Scanned pages that are read: how many letters are wrong, and how long a page takes. The aims are
 * 0.5 % of a page at 200 dpi with skew, grain (σ 8) and JPEG 50, 10 % of one at 120 dpi by phone, and
 * 5 s a page.
 *
 * npx tsx tests/load/seeing.ts [--pages 6] [--show]
 */
const { values } = parseArgs({
  options: { pages: { type: 'string', default: '6' }, show: { type: 'boolean', default: false } },
});

const require = createRequire(import.meta.url);
const fonts = path.join(path.dirname(require.resolve('@embedpdf/fonts-sc')), '..', 'fonts');
const helpPages = path.join(import.meta.dirname, '../../server/areas/help/pages');

/** As much of a text as one page holds: so many lines of so many letters. */
const onOnePage = (text: string): string => {
  let lines = 0;
  const held = text.split('\n').filter((line) => {
    lines += Math.ceil(line.length / 40);
    return lines <= 35;
  });
  return held.join('\n').slice(0, 900);
};

/** Prose of the help as a page of A4 has it. */
const texts = readdirSync(helpPages)
  .sort()
  .map((name) =>
    readFileSync(path.join(helpPages, name), 'utf8')
      .replace(/^---\n.*?\n---\n/s, '')
      .replaceAll(/<!--.*?-->|\{\{.*?\}\}|^\|.*$|```.*?```/gms, '')
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[#*`|]+/g, '')
      .replaceAll(/\n{2,}/g, '\n')
      .trim(),
  )
  .filter((text) => text.length > 700)
  .slice(0, Number(values.pages))
  .map(onOnePage);

const drawn = async (text: string): Promise<Buffer> => {
  const document = new PdfDocument({ size: 'A4', margin: 64 });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  // What stood on a second page nobody could read on the first.
  document.on('pageAdded', () => {
    throw new Error('the text is longer than a page');
  });
  document.font(path.join(fonts, 'NotoSansHans-Regular.otf')).fontSize(11);
  document.text(text, { lineGap: 4 });
  document.end();
  await once(document, 'end');
  return Buffer.concat(chunks);
};

let state = 20_261_124;
const chance = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return (state + 1) / 2 ** 32;
};
const bell = (): number => Math.sqrt(-2 * Math.log(chance())) * Math.cos(2 * Math.PI * chance());

/** A page as it comes out of a scanner or a phone. */
const worn = async (
  pdf: Uint8Array,
  { dpi, skew, sigma, quality, phone }: (typeof kinds)[number],
): Promise<Uint8Array> => {
  const page = await pagePicture(pdf, 1, Math.round((842 * dpi) / 72));
  const turned = page.flatten({ background: '#fff' }).rotate(skew, { background: '#fff' });
  const { data, info } = await sharp(await turned.png().toBuffer())
    .blur(phone ? 0.6 : 0.3)
    .removeAlpha()
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  for (let at = 0; at < data.length; at += 1) {
    const x = (at % info.width) / info.width;
    const light = phone ? 0.62 + 0.33 * x : 1;
    data[at] = Math.max(0, Math.min(255, data[at]! * light + bell() * sigma));
  }
  const raw = { width: info.width, height: info.height, channels: 1 as const };
  return new Uint8Array(await sharp(data, { raw }).jpeg({ quality }).toBuffer());
};

const kinds = [
  { name: '200 dpi', dpi: 200, skew: 1.3, sigma: 8, quality: 50, phone: false, most: 0.005 },
  {
    name: '120 dpi by phone',
    dpi: 120,
    skew: -1.8,
    sigma: 10,
    quality: 50,
    phone: true,
    most: 0.1,
  },
] as const;

/** Letters that must be put in, taken out or changed. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1)
      next[to] = Math.min(
        row[to]! + 1,
        next[to - 1]! + 1,
        row[to - 1]! + (one[at - 1] === other[to - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[other.length]!;
};
const letters = (text: string): string => squeeze(searchedLetters(text));

for (const kind of kinds) {
  let [wrong, all] = [0, 0];
  const took: number[] = [];
  const worked: number[] = [];
  for (const text of texts) {
    const picture = await worn(new Uint8Array(await drawn(text)), kind);
    const begun = performance.now();
    const from = process.cpuUsage();
    const { pieces } = await see(picture, null);
    const { user, system } = process.cpuUsage(from);
    took.push(performance.now() - begun);
    worked.push((user + system) / 1000);
    const [asked, read] = [letters(text), letters(pageText(pieces))];
    const missed = distance(asked, read);
    if (values.show) console.log(missed, pageText(pieces), '\n');
    wrong += missed;
    all += asked.length;
  }
  const seconds = (each: readonly number[]) => each.map((ms) => (ms / 1000).toFixed(1)).join(' ');
  console.log(
    `${kind.name}: ${((wrong / all) * 100).toFixed(2)} % of ${all} letters (aim ${kind.most * 100} %); ` +
      `s a page ${seconds(took)}; of the processor ${seconds(worked)}`,
  );
}
