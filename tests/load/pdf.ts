import { monitorEventLoopDelay } from 'node:perf_hooks';
import PDFDocument from 'pdfkit';
import { conversation } from '#scripts/demo-text.ts';
import type { PdfMessage } from '#server/areas/export/pdf-document.ts';
import { makePdfApart } from '#server/areas/export/pdf.ts';
import { house } from '#server/fair-queue.ts';

/**
 * How long a PDF of 1,000 messages takes, in the thread that makes it on the server; beside it the
 * floor, PDFKit writing the same characters without any form, and how late this thread's own timers
 * fire meanwhile, which is what other people would notice.
 */
const count = Number(process.argv[2] ?? 1_000);

const talk = conversation();
const talks = Array.from({ length: count }, (_, at): PdfMessage => ({
  speaker: '小鹊',
  time: '2026-11-21 09:36',
  title: '',
  text: talk.ask(at),
  images: [],
  files: [],
  answers: [{ name: '内置助手', text: talk.answer(), images: [] }],
}));
const characters = talks.reduce(
  (sum, talk) => sum + talk.text.length + (talk.answers[0]?.text.length ?? 0),
  0,
);

async function* pieces() {
  for (let at = 0; at < talks.length; at += 20) yield talks.slice(at, at + 20);
}

const floorOnce = async (): Promise<number> => {
  const started = performance.now();
  const document = new PDFDocument({ size: 'A4' });
  const ended = new Promise((resolve) => void document.on('end', resolve).resume());
  document.font('node_modules/@embedpdf/fonts-sc/fonts/NotoSansHans-Regular.otf').fontSize(10);
  for (const talk of talks) document.text(`${talk.text}\n${talk.answers[0]?.text ?? ''}\n`);
  document.end();
  await ended;
  return performance.now() - started;
};

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const started = performance.now();
const { data } = await makePdfApart({
  who: house,
  head: {
    title: '一千条消息',
    about: '测量',
    base: '',
    diagrams: [],
    label: null,
    mark: '',
    foot: '',
    count,
  },
  messages: pieces(),
  image: async () => null,
  onProgress: () => undefined,
  signal: new AbortController().signal,
});
const taken = performance.now() - started;
delay.disable();
const floor = await floorOnce();
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
console.log(`${count} messages, ${characters} characters, ${(data.length / 1e6).toFixed(1)} MB`);
console.log(
  `PDF: ${seconds(taken)} (goal 10 s); floor: ${seconds(floor)}; ratio ${(taken / floor).toFixed(2)}`,
);
console.log(
  `event loop of the server meanwhile: p99 ${(delay.percentile(99) / 1e6).toFixed(0)} ms, max ${(delay.max / 1e6).toFixed(0)} ms`,
);
