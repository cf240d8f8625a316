import PDFDocument from 'pdfkit';
import { type Aigc, aigcDescription, aigcText } from '#server/labels/aigc.ts';
import { openFaces } from './pdf-face.ts';
import { createFormulas } from './pdf-formula.ts';
import { type Breaker, createBreaker, type Style } from './pdf-line.ts';
import { diagramsIn, imagesIn, writeMarkdown } from './pdf-markdown.ts';
import { createFlow, type Flow, paper } from './pdf-page.ts';
import { createImages, diagramAddress } from './pdf-image.ts';
import { showImage } from './pdf-shown-image.ts';
import { colors, type Writer, writeText } from './pdf-style.ts';

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

const quiet: Style = { kind: 'plain', size: 8.6, color: colors.second };

const oneLine = (breaker: Breaker, text: string, style: Style, width: number) =>
  breaker.breakLines([{ text: text.replaceAll('\n', ' '), style }], width)[0];

/** An empty document that says what it is, and all of its bytes once it has ended. */
const openDocument = ({ title, label }: PdfHead) => {
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    pdfVersion: '1.5',
    lang: 'zh-CN',
    displayTitle: true,
    info: {
      Title: title,
      Creator: '鹊桥',
      Producer: '鹊桥',
      ...(label ? { AIGC: aigcText(label) } : {}),
    },
  });
  // pdfkit knows these, its types do not. What it writes of itself into XMP is a title that it does not
  // escape, and the rest stands in the document's own facts.
  const withXml = document as unknown as {
    appendXML: (xml: string) => void;
    _addInfo: () => void;
  };
  withXml._addInfo = () => undefined;
  if (label) withXml.appendXML(aigcDescription(label));
  const chunks: Buffer[] = [];
  const bytes = new Promise<Buffer>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => resolve(Buffer.concat(chunks)));
    document.on('error', reject);
  });
  return { document, bytes };
};

/** Below each page its number and the title. */
const createFoot = (breaker: Breaker, headTitle: string) => {
  let page = 0;
  return (flow: Flow) => {
    page += 1;
    const base = paper.height - paper.bottom + 30;
    const number = oneLine(breaker, String(page), quiet, 60);
    const most = paper.width - paper.side * 2 - 80;
    const title = oneLine(breaker, headTitle, { ...quiet, size: 8 }, most);
    if (title) flow.drawLine(title, paper.side, base);
    if (number) flow.drawLine(number, paper.width - paper.side - number.width, base);
  };
};

const writeHead = (writer: Writer, head: PdfHead): void => {
  const { flow, breaker } = writer;
  const style: Style = { kind: 'bold', size: 19, color: colors.ink };
  flow.lines(breaker.breakLines([{ text: head.title, style }], flow.width), {
    size: style.size,
    leading: 1.35,
  });
  flow.space(3);
  writeText(writer, head.about, quiet);
  if (head.mark !== '') writeText(writer, head.mark, quiet);
  flow.space(8);
  flow.fill(flow.left, flow.y, flow.width, 0.8, colors.line);
  flow.space(12);
};

const writeSpeaker = ({ flow, breaker }: Writer, speaker: string, time: string): void => {
  flow.need(56);
  const base = flow.y + 10;
  const said = time === '' ? undefined : oneLine(breaker, time, quiet, 200);
  const name: Style = { kind: 'bold', size: 10, color: colors.accent };
  const who = oneLine(breaker, speaker, name, flow.width - 150);
  if (who) flow.drawLine(who, flow.left, base);
  if (said) flow.drawLine(said, flow.left + flow.width - said.width, base);
  flow.y += 17;
};

const writeMessage = (writer: Writer, message: PdfMessage): void => {
  const { flow } = writer;
  writeSpeaker(writer, message.speaker, message.time);
  if (message.title !== '') {
    writeText(writer, message.title, { kind: 'bold', size: 12, color: colors.ink });
    flow.space(3);
  }
  if (message.text !== '')
    flow.inside({ left: 10, right: 10, pad: 6, color: colors.mine }, () =>
      writeText(writer, message.text),
    );
  flow.space(6);
  for (const address of message.images) showImage(writer, address, '');
  for (const file of message.files) writeText(writer, `附件：${file}`, quiet);
  for (const answer of message.answers) {
    flow.space(4);
    writeSpeaker(writer, answer.name, '');
    writeMarkdown(writer, answer.text);
    for (const address of answer.images) showImage(writer, address, '');
  }
  flow.space(14);
};

/** Fetches what the messages show, before they are written. */
const prepare = async (
  { formulas, images }: Writer,
  messages: readonly PdfMessage[],
  drawn: ReadonlySet<string>,
): Promise<void> => {
  const texts = messages.flatMap((message) => message.answers.map((answer) => answer.text));
  if (texts.some((text) => /\$|\\[([]/.test(text))) await formulas.load();
  await images.load([
    ...messages.flatMap((message) => [
      ...message.images,
      ...message.answers.flatMap((answer) => answer.images),
    ]),
    ...texts.flatMap(imagesIn),
    ...texts
      .flatMap(diagramsIn)
      .filter((source) => drawn.has(source))
      .map((source) => diagramAddress + source),
  ]);
};

/** A conversation as a PDF with real text: to be selected, searched and copied in reading order. */
export const makePdf = async ({
  head,
  messages,
  fetchImage,
  onProgress,
}: PdfSource): Promise<Pdf> => {
  const { document, bytes } = openDocument(head);
  document.addPage();
  const faces = openFaces(document);
  const breaker = createBreaker(faces);
  const writeFoot = createFoot(breaker, head.title);
  const flow = createFlow(document, () => writeFoot(flow));
  writeFoot(flow);
  const images = createImages(document, fetchImage);
  const formulas = createFormulas(document, faces.name);
  const writer = { flow, breaker, formulas, images, base: head.base };
  writeHead(writer, head);
  const drawn = new Set(head.diagrams);
  let done = 0;
  for await (const part of messages) {
    await prepare(writer, part, drawn);
    for (const message of part) writeMessage(writer, message);
    done += part.length;
    onProgress(Math.min(0.95, (done / Math.max(1, head.count)) * 0.95));
  }
  if (head.foot !== '') writeText(writer, head.foot, quiet);
  document.end();
  return { data: await bytes, failed: images.failed() };
};
