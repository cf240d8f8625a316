import { unzipSync } from 'fflate';
import { expect, test, vi } from 'vitest';
import { ApiError } from '#src/platform/api-error.ts';
import { sendInTime } from './file-upload.ts';
import { parcelsOf } from './many-files.ts';

const parcels = async (files: readonly File[]): Promise<File[]> => {
  const made: File[] = [];
  for await (const parcel of parcelsOf(files)) made.push(parcel);
  return made;
};

test('hundreds of files go in a few archives, the same ones twice as the same bytes', async () => {
  const files = Array.from({ length: 500 }, (_, at) => new File([`第 ${at} 篇`], '笔记.md'));
  const made = await parcels(files);
  expect(made.map(({ name }) => name)).toEqual(['第 1–400 个文件.zip', '第 401–500 个文件.zip']);
  const bytes = await Promise.all(made.map((each) => each.arrayBuffer()));
  const texts = bytes.flatMap((each) =>
    Object.entries(unzipSync(new Uint8Array(each))).map(([name, data]) => {
      expect(name).toMatch(/^\d+\/笔记\.md$/);
      return new TextDecoder().decode(data);
    }),
  );
  expect(texts).toEqual(files.map((_, at) => `第 ${at} 篇`));
  const again = await parcels(files);
  const same = Buffer.from(await again[1]!.arrayBuffer()).equals(Buffer.from(bytes[1]!));
  expect(same).toBe(true);
});

test('what is large, an archive or cannot be read goes by itself', async () => {
  const large = new File([new Uint8Array(3_000_000)], '大.txt');
  const archive = new File(['PK'], '旧.ZIP');
  const gone = new File(['x'], '不在了.txt');
  gone.arrayBuffer = () => Promise.reject(new DOMException('gone', 'NotFoundError'));
  const made = await parcels([large, archive, gone]);
  expect(made).toEqual([large, archive, gone]);
  // None is larger than what the server takes.
  const half = Array.from({ length: 9 }, (_, at) => new File([new Uint8Array(1e6)], `${at}.txt`));
  const sizes = (await parcels(half)).map(({ size }) => size);
  expect(sizes.length).toBe(3);
  expect(Math.max(...sizes)).toBeLessThan(4 * 1024 * 1024);
});

test('an upload that was too often goes again as soon as the server says', async () => {
  vi.useFakeTimers();
  try {
    const send = vi.fn(() => Promise.resolve());
    send.mockRejectedValueOnce(new ApiError(429, '太频繁', 429, { retry_after: 2 }));
    const sent = sendInTime(send, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(1_900);
    expect(send).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(200);
    await sent;
    expect(send).toHaveBeenCalledTimes(2);
    const other = sendInTime(() => Promise.reject(new Error('gone')), new AbortController().signal);
    await expect(other).rejects.toThrow('gone');
  } finally {
    vi.useRealTimers();
  }
});
