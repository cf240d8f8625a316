import PDFDocument from 'pdfkit';
import { type Aigc, aigcDescription, aigcText } from '#server/labels/aigc.ts';
import { openFaces } from './pdf-face.ts';
import { createFormulas } from './pdf-formula.ts';
import { createBreaker, type Style } from './pdf-line.ts';
import { colors, createMarkdown, diagramsIn, imagesIn } from './pdf-markdown.ts';
import { createFlow, paper } from './pdf-page.ts';
import { createImages, diagramAddress } from './pdf-image.ts';

export interface PdfHead {
  title: string;
  /** Who, when, how many: a line below the title. */
  about: string;
  /** This server's address, before links that lead to its own pages. Empty: not known. */
  base: string;
  /** How many messages will come. */
  count: number;
  /** What diagrams were drawn from. */
  diagrams: string[];
  /** That a model made it; null: people wrote it. */
  label: Aigc | null;
  /** Words below the title that say so, and those behind everything; empty: none. */
  mark: string;
  foot: string;
}

export interface PdfAnswer {
  name: string;
  text: string;
  /** Addresses. */
  images: string[];
}

export interface PdfMessage {
  speaker: string;
  time: string;
  title: string;
  text: string;
  /** Addresses. */
  images: string[];
  /** Names. */
  files: string[];
  answers: PdfAnswer[];
}

export interface PdfSource {
  head: PdfHead;
  messages: AsyncIterable<PdfMessage[]>;
  /** A JPEG, or null where it cannot be had. */
  fetchImage: (address: string) => Promise<Uint8Array | null>;
  /** Hears 0 to 1. */
  onProgress: (done: number) => void;
}

export interface Pdf {
  data: Buffer;
  /** Images that could not be had. */
  failed: string[];
}

const name = (size: number): Style => ({ kind: 'bold', size, color: colors.accent });
const quiet: Style = { kind: 'plain', size: 8.6, color: colors.second };

/** A conversation as a PDF with real text: to be selected, searched and copied in reading order. */
export const makePdf = async ({
  head,
  messages,
  fetchImage,
  onProgress,
}: PdfSource): Promise<Pdf> => {
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    pdfVersion: '1.5',
    lang: 'zh-CN',
    displayTitle: true,
    info: {
      Title: head.title,
      Creator: '鹊桥',
      Producer: '鹊桥',
      ...(head.label ? { AIGC: aigcText(head.label) } : {}),
    },
  });
  // pdfkit knows these, its types do not. What it writes of itself into XMP is a title that it does not
  // escape, and the rest stands in the document's own facts.
  const withXml = document as unknown as {
    appendXML: (xml: string) => void;
    _addInfo: () => void;
  };
  withXml._addInfo = () => undefined;
  if (head.label) withXml.appendXML(aigcDescription(head.label));
  const chunks: Buffer[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', resolve);
    document.on('error', reject);
  });
  document.addPage();
  const faces = openFaces(document);
  const breaker = createBreaker(faces);
  let page = 0;
  const flow = createFlow(document, () => writeFoot());
  const oneLine = (text: string, style: Style, width: number) =>
    breaker.breakLines([{ text: text.replaceAll('\n', ' '), style }], width)[0];
  const writeFoot = () => {
    page += 1;
    const base = paper.height - paper.bottom + 30;
    const number = oneLine(String(page), quiet, 60);
    const title = oneLine(head.title, { ...quiet, size: 8 }, paper.width - paper.side * 2 - 80);
    if (title) flow.drawLine(title, paper.side, base);
    if (number) flow.drawLine(number, paper.width - paper.side - number.width, base);
  };
  writeFoot();
  const formulas = createFormulas(document, faces.name);
  const documentImages = createImages(document, fetchImage);
  const markdown = createMarkdown({
    flow,
    breaker,
    formulas,
    images: documentImages,
    base: head.base,
  });

  const titleStyle: Style = { kind: 'bold', size: 19, color: colors.ink };
  flow.lines(breaker.breakLines([{ text: head.title, style: titleStyle }], flow.width), {
    size: titleStyle.size,
    leading: 1.35,
  });
  flow.space(3);
  markdown.plainText(head.about, quiet);
  if (head.mark !== '') markdown.plainText(head.mark, quiet);
  flow.space(8);
  flow.fill(flow.left, flow.y, flow.width, 0.8, colors.line);
  flow.space(12);

  const speakerLine = (speaker: string, time: string) => {
    flow.need(56);
    const base = flow.y + 10;
    const said = time === '' ? undefined : oneLine(time, quiet, 200);
    const who = oneLine(speaker, name(10), flow.width - 150);
    if (who) flow.drawLine(who, flow.left, base);
    if (said) flow.drawLine(said, flow.left + flow.width - said.width, base);
    flow.y += 17;
  };

  const writeMessage = (message: PdfMessage) => {
    speakerLine(message.speaker, message.time);
    if (message.title !== '') {
      markdown.plainText(message.title, { kind: 'bold', size: 12, color: colors.ink });
      flow.space(3);
    }
    if (message.text !== '')
      flow.inside({ left: 10, right: 10, pad: 6, color: colors.mine }, () =>
        markdown.plainText(message.text),
      );
    flow.space(6);
    for (const address of message.images) markdown.showImage(address, '');
    for (const file of message.files) markdown.plainText(`附件：${file}`, quiet);
    for (const answer of message.answers) {
      flow.space(4);
      speakerLine(answer.name, '');
      markdown.write(answer.text);
      for (const address of answer.images) markdown.showImage(address, '');
    }
    flow.space(14);
  };

  const drawn = new Set(head.diagrams);
  let done = 0;
  for await (const part of messages) {
    const texts = part.flatMap((message) => message.answers.map((answer) => answer.text));
    if (texts.some((text) => /\$|\\[([]/.test(text))) await formulas.load();
    await documentImages.load([
      ...part.flatMap(({ images, answers }) => [
        ...images,
        ...answers.flatMap((answer) => answer.images),
      ]),
      ...texts.flatMap(imagesIn),
      ...texts
        .flatMap(diagramsIn)
        .filter((source) => drawn.has(source))
        .map((source) => diagramAddress + source),
    ]);
    for (const message of part) {
      writeMessage(message);
      done += 1;
    }
    onProgress(Math.min(0.95, (done / Math.max(1, head.count)) * 0.95));
  }
  if (head.foot !== '') markdown.plainText(head.foot, quiet);
  document.end();
  await ended;
  return { data: Buffer.concat(chunks), failed: documentImages.failed() };
};
