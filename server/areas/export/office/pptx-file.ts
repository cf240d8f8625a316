import { toXmlText } from '#server/xml-text.ts';
import { plainOf, type Part, type Run } from './content.ts';
import { drawingNames, officeFile, relations, relationsOf } from './parts.ts';

const names = 'http://schemas.openxmlformats.org/presentationml/2006/main';
const spaces = `xmlns:a="${drawingNames}" xmlns:r="${relations}" xmlns:p="${names}"`;
/** A slide, and what stands on it: EMU, 914,400 to the inch. */
const slide = { width: 12_192_000, height: 6_858_000 };
const margin = 640_000;
const inner = slide.width - 2 * margin;
/** Lines of one slide before the rest goes on to the next, and letters of a line. */
const mostLines = 11;
const lettersALine = 46;
const mostSlides = 60;

interface Page {
  title: Run[];
  first: boolean;
  parts: Part[];
}

const linesOf = (part: Part): number => {
  if (part.kind === 'table') return part.rows.length + 1;
  if (part.kind === 'code') return part.lines.length;
  if (part.kind === 'rule') return 0;
  return Math.max(1, Math.ceil(plainOf(part.runs).length / lettersALine));
};

/** Headings of the first two ranks begin a slide; one that is full goes on on the next. */
const pagesOf = (parts: readonly Part[], name: string): Page[] => {
  const pages: Page[] = [];
  let lines = 0;
  const begin = (title: Run[], first: boolean) => {
    pages.push({ title, first, parts: [] });
    lines = 0;
  };
  for (const part of parts) {
    if (part.kind === 'heading' && part.level <= 2) {
      begin(part.runs, part.level === 1);
      continue;
    }
    if (pages.length === 0) begin([{ text: name }], false);
    const page = pages.at(-1)!;
    const length = linesOf(part);
    if (part.kind === 'rule') begin(page.title, false);
    else if (page.parts.length > 0 && lines + length > mostLines) {
      begin(page.title, false);
      pages.at(-1)!.parts.push(part);
    } else page.parts.push(part);
    lines += length;
  }
  return pages.length === 0
    ? [{ title: [{ text: name }], first: true, parts: [] }]
    : pages.slice(0, mostSlides);
};

const runXml = ({ text, bold, italic, code }: Run, size: number): string =>
  text
    .split('\n')
    .map(
      (line) =>
        `<a:r><a:rPr lang="zh-CN" sz="${size}"${bold ? ' b="1"' : ''}${italic ? ' i="1"' : ''}>${code ? '<a:latin typeface="Consolas"/>' : ''}</a:rPr><a:t>${toXmlText(line)}</a:t></a:r>`,
    )
    .join('<a:br/>');

const line = (runs: readonly Run[], size: number, about = ''): string =>
  `<a:p><a:pPr${about}/>${runs.map((run) => runXml(run, size)).join('')}</a:p>`;

const partLines = (part: Part): string => {
  switch (part.kind) {
    case 'heading':
      return line(
        part.runs.map((run) => ({ ...run, bold: true })),
        2000,
      );
    case 'item':
      return line(
        [{ text: `${part.mark} ` }, ...part.runs],
        1800,
        ` marL="${342_900 * (part.depth + 1)}" indent="-342900"`,
      );
    case 'code':
      return part.lines.map((text) => line([{ text, code: true }], 1400)).join('');
    case 'paragraph':
    case 'quote':
      return line(part.runs, 1800);
    default:
      return '';
  }
};

interface Box {
  top: number;
  height: number;
}

const box = (id: number, name: string, { top, height }: Box, body: string): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="${name}"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="${margin}" y="${top}"/><a:ext cx="${inner}" cy="${height}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/></p:spPr><p:txBody><a:bodyPr wrap="square" lIns="0" rIns="0"><a:normAutofit/></a:bodyPr><a:lstStyle/>${body}</p:txBody></p:sp>`;

const table = (id: number, top: number, rows: readonly Run[][][]): string => {
  const columns = Math.max(...rows.map((row) => row.length));
  const width = Math.floor(inner / columns);
  const height = 380_000;
  const cells = (row: readonly Run[][], head: boolean) =>
    Array.from(
      { length: columns },
      (_, at) =>
        `<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>${line(
          (row[at] ?? []).map((run) => (head ? { ...run, bold: true } : run)),
          1400,
        )}</a:txBody><a:tcPr>${head ? '<a:solidFill><a:srgbClr val="EDF0F5"/></a:solidFill>' : ''}</a:tcPr></a:tc>`,
    ).join('');
  const body = rows.map((row, at) => `<a:tr h="${height}">${cells(row, at === 0)}</a:tr>`).join('');
  return `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="${id}" name="表 ${id}"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="${margin}" y="${top}"/><a:ext cx="${width * columns}" cy="${height * rows.length}"/></p:xfrm><a:graphic><a:graphicData uri="${drawingNames.replace('/main', '/table')}"><a:tbl><a:tblPr firstRow="1"/><a:tblGrid>${`<a:gridCol w="${width}"/>`.repeat(columns)}</a:tblGrid>${body}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
};

const tree = (shapes: string): string =>
  `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes}</p:spTree></p:cSld>`;
const colours = '<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>';

const slideXml = ({ title, first, parts }: Page, foot: string): string => {
  const alone = first && parts.length === 0;
  const size = alone ? 4400 : 2800;
  const bold = title.map((run) => ({ ...run, bold: true }));
  const shapes = [
    box(
      2,
      '标题',
      alone ? { top: 2_500_000, height: 1_600_000 } : { top: 420_000, height: 800_000 },
      line(bold, size),
    ),
  ];
  let top = 1_400_000;
  let words = '';
  const flush = () => {
    if (words === '') return;
    shapes.push(
      box(shapes.length + 2, '内容', { top, height: slide.height - top - 700_000 }, words),
    );
    words = '';
  };
  for (const part of parts) {
    if (part.kind !== 'table') {
      words += partLines(part);
      continue;
    }
    const before =
      words === '' ? 0 : 420_000 * parts.filter((each) => each.kind !== 'table').length;
    flush();
    top = Math.min(top + before, slide.height - 2_000_000);
    shapes.push(table(shapes.length + 2, top, part.rows));
    top = Math.min(top + 380_000 * part.rows.length + 200_000, slide.height - 1_200_000);
  }
  flush();
  if (foot !== '')
    shapes.push(
      box(
        shapes.length + 2,
        '说明',
        { top: slide.height - 480_000, height: 320_000 },
        line([{ text: foot }], 1000),
      ),
    );
  return `<p:sld ${spaces}>${tree(shapes.join(''))}${colours}</p:sld>`;
};

const scheme = [
  ['dk1', '111827'],
  ['lt1', 'FFFFFF'],
  ['dk2', '1F2937'],
  ['lt2', 'F3F5F8'],
  ['accent1', '2563EB'],
  ['accent2', '0D9488'],
  ['accent3', 'D97706'],
  ['accent4', '7C3AED'],
  ['accent5', 'DB2777'],
  ['accent6', '475569'],
  ['hlink', '2563EB'],
  ['folHlink', '7C3AED'],
]
  .map(([name, value]) => `<a:${name}><a:srgbClr val="${value}"/></a:${name}>`)
  .join('');
const font = '<a:latin typeface="Calibri"/><a:ea typeface="等线"/><a:cs typeface=""/>';
const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
const stroke = `<a:ln w="6350">${fill}</a:ln>`;
const effect = '<a:effectStyle><a:effectLst/></a:effectStyle>';
const theme = `<a:theme xmlns:a="${drawingNames}" name="鹊桥"><a:themeElements><a:clrScheme name="鹊桥">${scheme}</a:clrScheme><a:fontScheme name="鹊桥"><a:majorFont>${font}</a:majorFont><a:minorFont>${font}</a:minorFont></a:fontScheme><a:fmtScheme name="鹊桥"><a:fillStyleLst>${fill.repeat(3)}</a:fillStyleLst><a:lnStyleLst>${stroke.repeat(3)}</a:lnStyleLst><a:effectStyleLst>${effect.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${fill.repeat(3)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`;
const map =
  '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>';

/** Slides. @param foot words at the foot of each; empty: none */
export const pptxFile = (parts: readonly Part[], name: string, foot: string): Uint8Array => {
  const pages = pagesOf(parts, name);
  const slides = pages.map(
    (page, at) => [`ppt/slides/slide${at + 1}.xml`, slideXml(page, foot)] as const,
  );
  const layout = relationsOf([
    { id: 'rId1', kind: 'slideLayout', target: '../slideLayouts/slideLayout1.xml' },
  ]);
  const list = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at + 2}"/>`).join('');
  return officeFile(
    'ppt/presentation.xml',
    {
      'ppt/presentation.xml': 'presentationml.presentation.main',
      'ppt/slideMasters/slideMaster1.xml': 'presentationml.slideMaster',
      'ppt/slideLayouts/slideLayout1.xml': 'presentationml.slideLayout',
      'ppt/theme/theme1.xml': 'theme',
      ...Object.fromEntries(slides.map(([path]) => [path, 'presentationml.slide'])),
    },
    {
      'ppt/presentation.xml': `<p:presentation ${spaces}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>${list}</p:sldIdLst><p:sldSz cx="${slide.width}" cy="${slide.height}"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
      'ppt/_rels/presentation.xml.rels': relationsOf([
        { id: 'rId1', kind: 'slideMaster', target: 'slideMasters/slideMaster1.xml' },
        ...slides.map((_, at) => ({
          id: `rId${at + 2}`,
          kind: 'slide',
          target: `slides/slide${at + 1}.xml`,
        })),
        { id: `rId${slides.length + 2}`, kind: 'theme', target: 'theme/theme1.xml' },
      ]),
      'ppt/slideMasters/slideMaster1.xml': `<p:sldMaster ${spaces}>${tree('').replace('<p:cSld>', '<p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg>')}${map}<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
      'ppt/slideMasters/_rels/slideMaster1.xml.rels': relationsOf([
        { id: 'rId1', kind: 'slideLayout', target: '../slideLayouts/slideLayout1.xml' },
        { id: 'rId2', kind: 'theme', target: '../theme/theme1.xml' },
      ]),
      'ppt/slideLayouts/slideLayout1.xml': `<p:sldLayout ${spaces} type="blank">${tree('')}${colours}</p:sldLayout>`,
      'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relationsOf([
        { id: 'rId1', kind: 'slideMaster', target: '../slideMasters/slideMaster1.xml' },
      ]),
      'ppt/theme/theme1.xml': theme,
      ...Object.fromEntries(slides),
      ...Object.fromEntries(
        slides.map(([path]) => [path.replace('slides/', 'slides/_rels/') + '.rels', layout]),
      ),
    },
  );
};
