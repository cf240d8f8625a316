import { setTimeout as sleep } from 'node:timers/promises';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../support/client.ts';
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
