import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { App, expect, foreignServer, test } from '../support/app.ts';
import { TestClient } from '../support/client.ts';
import { openLine } from '../support/faulty-line.ts';
import { settleIn, startPhone } from '../support/phone.ts';

test.skip(foreignServer, 'needs a server whose line the test may cut');

/** A disk of its own; null where this user may not make one. */
const makeDisk = (): { folder: string; fill: () => void; end: () => void } | null => {
  const folder = mkdtempSync(path.join(tmpdir(), 'queqiao-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', folder]);
  if (status !== 0) {
    rmdirSync(folder);
    return null;
  }
  let times = 0;
  return {
    folder,
    fill: () => {
      times += 1;
      const file = openSync(path.join(folder, `full${times}`), 'w');
      try {
        for (const size of [1_000_000, 4_096, 1])
          for (let room = true; room;)
            try {
              room = writeSync(file, Buffer.alloc(size)) > 0;
            } catch {
              room = false;
            }
      } finally {
        closeSync(file);
      }
    },
    end: () => {
      spawnSync('umount', ['-l', folder]);
      rmdirSync(folder);
    },
  };
};

test('a disk without a byte left: the conversation reads, what is written is marked, and is sent once with the line @O2 @O3', async ({
  baseURL,
}) => {
  const disk = makeDisk();
  test.skip(disk === null, 'only root may mount a small disk');
  if (!disk) return;
  const client = await TestClient.register(baseURL ?? '');
  const { uuid, id } = await client.ask('满了也要看得到', { model: 'mock-chat' });
  await client.read(uuid, id);
  const line = await openLine(baseURL ?? '');
  const phone = await startPhone(client, { folder: disk.folder });
  try {
    const { page } = phone;
    const app = new App(page);
    const open = () => page.goto(`${line.baseURL}/chat?uuid=${uuid}`);
    await open();
    await settleIn(page, 1);
    line.cut();
    disk.fill();
    await open();
    await expect(app.log).toContainText('您说：满了也要看得到');
    // What is kept in reserve has room for one or two; once that is gone, the page alone has the next.
    const said: string[] = [];
    const full = page.getByText(/手机存储已满|没能存到这台设备上/).first();
    const isFull = () =>
      full.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
    do {
      // What the browser gave back meanwhile is used up, too.
      disk.fill();
      said.push(`第${said.length + 1}条一个字节也没有了${'，'.repeat(3_000)}`);
      await app.say(said.at(-1) ?? '');
      await expect(app.log).toContainText(`第${said.length}条一个字节也没有了`);
    } while (said.length < 12 && !(await isFull()));
    await expect(full).toBeVisible();
    line.state = 'well';
    await expect(app.log).toContainText(`您说：第${said.length}条`, { timeout: 30_000 });
    const { list } = await client.call('historyList', { session_id: uuid, newest: 0 });
    expect(list.map(({ human }) => human)).toEqual(['满了也要看得到', ...said]);
  } finally {
    await phone.end();
    await line.close();
    disk.end();
  }
});
