import { parentPort } from 'node:worker_threads';
import { makePdf, type PdfHead, type PdfMessage } from './pdf-document.ts';

/** Makes one PDF of what it is sent; whoever started this ends it. */

export type ToWorker =
  | { kind: 'head'; head: PdfHead }
  /** Null: there are no more. */
  | { kind: 'messages'; messages: PdfMessage[] | null }
  | { kind: 'image'; address: string; data: Uint8Array | null };

export type FromWorker =
  /** It wants more messages. */
  | { kind: 'more' }
  | { kind: 'image'; address: string }
  | { kind: 'progress'; done: number }
  | { kind: 'done'; data: Uint8Array; failed: string[] };

const port = parentPort;
if (!port) throw new Error('this runs in a thread alone');
const send = (message: FromWorker, transfer: ArrayBuffer[] = []) =>
  port.postMessage(message, transfer);

const images = new Map<string, (data: Uint8Array | null) => void>();
let takeHead: (head: PdfHead) => void = () => undefined;
let takeMessages: (messages: PdfMessage[] | null) => void = () => undefined;

port.on('message', (message: ToWorker) => {
  if (message.kind === 'head') takeHead(message.head);
  else if (message.kind === 'messages') takeMessages(message.messages);
  else {
    images.get(message.address)?.(message.data);
    images.delete(message.address);
  }
});

const nextMessages = () =>
  new Promise<PdfMessage[] | null>((resolve) => {
    takeMessages = resolve;
    send({ kind: 'more' });
  });

async function* allMessages() {
  for (;;) {
    const messages = await nextMessages();
    if (!messages) return;
    yield messages;
  }
}

const head = await new Promise<PdfHead>((resolve) => {
  takeHead = resolve;
});
const { data, failed } = await makePdf({
  head,
  messages: allMessages(),
  fetchImage: (address) =>
    new Promise((resolve) => {
      images.set(address, resolve);
      send({ kind: 'image', address });
    }),
  onProgress: (done) => send({ kind: 'progress', done }),
});
const bytes = new Uint8Array(data);
send({ kind: 'done', data: bytes, failed }, [bytes.buffer]);
