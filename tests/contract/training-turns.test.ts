import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { strToU8, zipSync } from 'fflate';
import PdfDocument from 'pdfkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
import { scanOf } from '../support/sample-files.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Hundreds of files dropped at once, where one worker serves everybody. */

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { WORKERS: '1', DOCUMENT_SECONDS: '1' } });
});
afterAll(() => server.stop());

const packed = (name: string, count: number): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `${name}${at}.txt`,
        strToU8(`${name} ${at}：今天的河水比昨天高。`),
      ]),
    ),
  );

const makeBase = async (person: TestClient, files: Record<string, Uint8Array>) => {
  const { model } = await person.call('newTrainModel', { name: '河水', type: 0 });
  for (const [name, data] of Object.entries(files)) {
    const form = new FormData();
    form.set('model_id', String(model.id));
    form.set('file', new Blob([Buffer.from(data)]), name);
    const answer = await fetch(`${server.baseURL}/api/train/upload_file`, {
      method: 'POST',
      headers: person.headers(),
      body: form,
    });
    expect(await answer.json()).toMatchObject({ code: 0 });
  }
  return model.id;
};

const endOf = async (person: TestClient, id: number) => {
  for (let tries = 0; tries < 600; tries += 1) {
    const { model } = await person.call('trainModel', { model_id: id });
    if (model.job === null && model.over_num > 0) return model;
    await sleep(200);
  }
  throw new Error('the training does not end');
};

test(
  'archives are opened while what came before is learned, and nobody waits for all of it',
  { timeout: 240_000 },
  async () => {
    const [one, other] = [
      await TestClient.register(server.baseURL),
      await TestClient.register(server.baseURL),
    ];
    // Others come while the first of these are opened.
    const few = Array.from({ length: 30 }, (_, at) => [`丁${at}.zip`, packed(`丁${at}-`, 2)]);
    const large = await makeBase(one, {
      ...(Object.fromEntries(few) as Record<string, Uint8Array>),
      '甲.zip': packed('甲', 400),
      '乙.zip': packed('乙', 400),
    });
    const small = await makeBase(other, { '丙.txt': strToU8('丙只有一个文件。') });
    await endOf(other, small);
    const { model } = await one.call('trainModel', { model_id: large });
    expect(model.over_num, 'files learned before the other person had a turn').toBeLessThan(860);
    expect((await endOf(one, large)).over_num).toBe(860);

    const { list } = await one.call('trainFileList', { model_id: large, page: 4, page_size: 256 });
    const logOf = async (name: string) => {
      const file = list.find((each) => each.name === name);
      return (await one.call('trainLog', { file_id: file?.id ?? 0, end_id: 0 })).list;
    };
    const learned = (await logOf('丁0-0.txt')).find(({ content }) => content === '训练完成');
    const opened = (await logOf('乙.zip')).find(({ content }) => content.startsWith('展开出'));
    expect(learned?.id).toBeLessThan(opened?.id ?? 0);
  },
);

/** A PDF whose pages are scans of these texts. */
const scannedPdf = async (texts: readonly string[]): Promise<Buffer> => {
  const document = new PdfDocument({ autoFirstPage: false });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const text of texts) document.addPage().image(await scanOf(text), 0, 0, { width: 600 });
  document.end();
  await once(document, 'end');
  return Buffer.concat(chunks);
};

test(
  'a scanned file gives its turn away between its pages, and looks at none of them again',
  { timeout: 240_000 },
  async () => {
    const [one, other] = [
      await TestClient.register(server.baseURL),
      await TestClient.register(server.baseURL),
    ];
    const pages = ['喜鹊搭起一座桥', '牛郎在河的这边', '织女在河的那边'];
    const large = await makeBase(one, { '扫描.pdf': await scannedPdf(pages) });
    const small = await makeBase(other, { '戊.txt': strToU8('戊只有一个文件。') });
    await endOf(other, small);
    const { list } = await one.call('trainFileList', { model_id: large });
    const logOf = async () =>
      (await one.call('trainLog', { file_id: list[0]?.id ?? 0, end_id: 0 })).list.map(
        ({ content }) => content,
      );
    expect((await logOf()).join(), 'it waits until others had their turn').not.toContain(
      '训练完成',
    );
    await endOf(one, large);
    const log = await logOf();
    expect(log.filter((line) => line.startsWith('3 页是图片'))).toHaveLength(1);
    const { key } = (await one.call('trainModel', { model_id: large })).model;
    for (const question of ['喜鹊搭起什么', '织女在哪边']) {
      const found = await one.call('askKnowledge', { embedding_key: key, question });
      expect(found.list[0]?.title, question).toContain('扫描.pdf');
    }
  },
);
