import { tmpdir } from 'node:os';
import { statfs } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createDiskRoom } from './disk-room.ts';

const account = { guest: false };
const guest = { guest: true };

test('a disk that fills up is closed to guests first, then to everybody; the usual reserve is small', async () => {
  const { bavail, bsize } = await statfs(tmpdir());
  const free = bavail * bsize;
  const nearly = createDiskRoom(tmpdir(), free * 0.7);
  await nearly.require(account);
  await expect(nearly.require(guest)).rejects.toMatchObject({ codeName: 'storage_full' });
  await expect(nearly.require(null)).rejects.toThrow('登录之后');
  const full = createDiskRoom(tmpdir(), free * 1.5);
  await expect(full.require(account)).rejects.toMatchObject({ codeName: 'storage_full' });
  const roomy = createDiskRoom(tmpdir(), 0);
  await roomy.require(guest);
});
