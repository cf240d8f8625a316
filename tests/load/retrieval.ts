import { setTimeout as sleep } from 'node:timers/promises';
import { strToU8, zipSync } from 'fflate';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';

/**
 * An adapter for a benchmark of retrieval: pages become the files of a knowledge base, and each
 * question goes over HTTP as a person's does who tries it. It gives the files of the passages that
 * were found, the best first.
 *
 * Whoever measures calls `open` with the pages and then `search`; the process has to be ended by
 * `close`, or by its own end.
 */
export interface Page {
  id: string;
  /** Empty: the page has none. */
  title: string;
  text: string;
}

/** Files of one archive. */
const together = 400;

const server = await startServer({
  embedded: true,
  env: { RATE_LIMIT: '1000000', UPLOAD_LIMIT: '1000', LOG_LEVEL: 'warn' },
});
const person = await TestClient.register(server.baseURL);
let key = '';
let bases = 0;
let ids: string[] = [];

export const open = async (pages: readonly Page[]): Promise<void> => {
  bases += 1;
  key = `retrieval_${bases}`;
  ids = pages.map(({ id }) => id);
  const { model } = await person.call('newTrainModel', { name: key, key, type: 0 });
  for (let from = 0; from < pages.length; from += together) {
    const files = pages.slice(from, from + together).map(({ title, text }, at) => {
      const body = text.replaceAll('\n', '\n\n');
      return [`${from + at}.md`, strToU8(title === '' ? body : `# ${title}\n\n${body}`)];
    });
    const archive = zipSync(Object.fromEntries(files) as Record<string, Uint8Array>, { level: 1 });
    await person.upload('uploadTrainFile', new Blob([archive.slice()]), `${from}.zip`);
  }
  for (let tries = 0; tries < 1500; tries += 1) {
    const now = (await person.call('trainModel', { model_id: model.id })).model;
    if (now.failed_num > 0) throw new Error(`${now.failed_num} files failed`);
    if (now.over_num === pages.length) return;
    await sleep(400);
  }
  throw new Error('the base was not learned in time');
};

export const search = async (question: string, most: number): Promise<string[]> => {
  const { list } = await person.call('askKnowledge', {
    embedding_key: key,
    question: question.slice(0, 200),
  });
  const files = list.map(({ title }) => ids[Number(/^\d+/.exec(title)?.[0])] ?? '');
  return [...new Set(files)].slice(0, most);
};

export const close = (): Promise<void> => server.stop();
