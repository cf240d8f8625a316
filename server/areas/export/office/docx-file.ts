import { toXmlText } from '#server/xml-text.ts';
import type { Part, Run } from './content.ts';
import { officeFile, relationsOf } from './parts.ts';

const names = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

const runXml = ({ text, bold, italic, code }: Run): string => {
  const look = [
    bold && '<w:b/>',
    italic && '<w:i/>',
    code && '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>',
  ]
    .filter(Boolean)
    .join('');
  const lines = text
    .split('\n')
    .map((line) => `<w:t xml:space="preserve">${toXmlText(line)}</w:t>`)
    .join('<w:br/>');
  return `<w:r>${look === '' ? '' : `<w:rPr>${look}</w:rPr>`}${lines}</w:r>`;
};

const paragraph = (runs: readonly Run[], about = ''): string =>
  `<w:p>${about === '' ? '' : `<w:pPr>${about}</w:pPr>`}${runs.map(runXml).join('')}</w:p>`;

const border = (name: string): string =>
  `<w:${name} w:val="single" w:sz="4" w:space="0" w:color="BFBFBF"/>`;
const borders = ['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map(border).join('');

const table = (rows: readonly Run[][][]): string => {
  const columns = Math.max(...rows.map((row) => row.length));
  const width = Math.floor(9000 / columns);
  const cell = (runs: readonly Run[], head: boolean) =>
    `<w:tc><w:tcPr><w:tcW w:w="${width}" w:type="dxa"/>${head ? '<w:shd w:val="clear" w:color="auto" w:fill="EDF0F5"/>' : ''}</w:tcPr>${paragraph(
      head ? runs.map((run) => ({ ...run, bold: true })) : runs,
    )}</w:tc>`;
  const body = rows.map(
    (row, at) =>
      `<w:tr>${Array.from({ length: columns }, (_, column) => cell(row[column] ?? [], at === 0)).join('')}</w:tr>`,
  );
  const grid = `<w:gridCol w:w="${width}"/>`.repeat(columns);
  return `<w:tbl><w:tblPr><w:tblW w:w="${width * columns}" w:type="dxa"/><w:tblBorders>${borders}</w:tblBorders></w:tblPr><w:tblGrid>${grid}</w:tblGrid>${body.join('')}</w:tbl>${paragraph([])}`;
};

const partXml = (part: Part): string => {
  switch (part.kind) {
    case 'heading':
      return paragraph(part.runs, `<w:pStyle w:val="Heading${Math.min(part.level, 4)}"/>`);
    case 'paragraph':
      return paragraph(part.runs);
    case 'item':
      return paragraph(
        [{ text: `${part.mark} ` }, ...part.runs],
        `<w:ind w:left="${420 * (part.depth + 1)}" w:hanging="420"/>`,
      );
    case 'quote':
      return paragraph(part.runs, '<w:pStyle w:val="Quote"/>');
    case 'code':
      return part.lines
        .map((text) => paragraph([{ text, code: true }], '<w:pStyle w:val="Code"/>'))
        .join('');
    case 'rule':
      return paragraph([], `<w:pBdr>${border('bottom')}</w:pBdr>`);
    default:
      return table(part.rows);
  }
};

const style = (id: string, name: string, about: string, look: string): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/><w:pPr>${about}</w:pPr><w:rPr>${look}</w:rPr></w:style>`;

const headings = [36, 30, 26, 24].map((size, at) =>
  style(
    `Heading${at + 1}`,
    `heading ${at + 1}`,
    `<w:keepNext/><w:spacing w:before="${280 - at * 40}" w:after="120"/><w:outlineLvl w:val="${at}"/>`,
    `<w:b/><w:sz w:val="${size}"/>`,
  ),
);

const styles = `<w:styles xmlns:w="${names}"><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="等线" w:cs="Calibri"/><w:sz w:val="22"/><w:lang w:val="en-US" w:eastAsia="zh-CN"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="312" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>${headings.join('')}${style('Quote', 'Quote', '<w:ind w:left="420"/>', '<w:color w:val="5B6472"/>')}${style('Code', 'Code', '<w:spacing w:after="0" w:line="260" w:lineRule="auto"/>', '<w:sz w:val="19"/>')}${style('Foot', 'Foot', '<w:spacing w:before="360"/>', '<w:color w:val="5B6472"/><w:sz w:val="18"/>')}</w:styles>`;

/** A Word file. @param foot words below it all; empty: none */
export const docxFile = (parts: readonly Part[], foot: string): Uint8Array => {
  const body = parts.map(partXml).join('');
  const below = foot === '' ? '' : paragraph([{ text: foot }], '<w:pStyle w:val="Foot"/>');
  const page =
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="720" w:footer="720" w:gutter="0"/></w:sectPr>';
  return officeFile(
    'word/document.xml',
    {
      'word/document.xml': 'wordprocessingml.document.main',
      'word/styles.xml': 'wordprocessingml.styles',
    },
    {
      'word/document.xml': `<w:document xmlns:w="${names}"><w:body>${body}${below}${page}</w:body></w:document>`,
      'word/styles.xml': styles,
      'word/_rels/document.xml.rels': relationsOf([
        { id: 'rId1', kind: 'styles', target: 'styles.xml' },
      ]),
    },
  );
};
