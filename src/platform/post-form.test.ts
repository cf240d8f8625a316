import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** A request whose bytes leave when the test says so. */
class SlowRequest extends EventTarget {
  static last: SlowRequest;
  upload = new EventTarget();
  status = 0;
  responseText = '';
  aborted = false;
  constructor() {
    super();
    SlowRequest.last = this;
  }
  open() {}
  setRequestHeader() {}
  getResponseHeader() {
    return null;
  }
  send() {}
  abort() {
    this.aborted = true;
    this.dispatchEvent(new Event('loadend'));
  }
  left(loaded: number, total: number) {
    this.upload.dispatchEvent(
      Object.assign(new Event('progress'), { lengthComputable: true, loaded, total }),
    );
  }
  answer(data: unknown) {
    Object.assign(this, { status: 200, responseText: JSON.stringify({ code: 0, data }) });
    this.dispatchEvent(new Event('load'));
    this.dispatchEvent(new Event('loadend'));
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  vi.stubGlobal('XMLHttpRequest', SlowRequest);
  // Nobody asks the line how it is while nothing is seen.
  vi.stubGlobal('document', { hidden: true, addEventListener: () => {} });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const size = 870_000;
const begin = async () => {
  const { postForm } = await import('./post-form.ts');
  let told: unknown;
  const parts: number[] = [];
  const done = postForm('uploadFile', new FormData(), { onProgress: (part) => parts.push(part) });
  done.then(
    (data) => (told = data),
    (error: unknown) => (told = error),
  );
  return { told: () => told, parts, request: SlowRequest.last };
};
/** 6 KB a second, a piece each 20 seconds. */
const piece = 120_000;

test('870 KB arrive over a line of 6 KB/s: nothing is given up while bytes move', async () => {
  const { told, parts, request } = await begin();
  for (let loaded = piece; loaded < size; loaded += piece) {
    await vi.advanceTimersByTimeAsync(20_000);
    request.left(loaded, size);
  }
  // What left the browser may lie in the buffers of the device for as long as all of it takes.
  request.left(size, size);
  await vi.advanceTimersByTimeAsync((size / 6_000) * 1_000);
  expect(told()).toBeUndefined();
  expect(parts.at(-1)).toBe(1);
  request.answer({ file: { uuid: 'a' } });
  await vi.advanceTimersByTimeAsync(0);
  expect(told()).toEqual({ file: { uuid: 'a' } });
  expect(request.aborted).toBe(false);
});

test('an upload that stands still is given up, and says that the network does not answer', async () => {
  const { told, request } = await begin();
  request.left(piece, size);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(told()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2_000);
  // Status 0: who asked for it begins again by itself.
  expect(told()).toMatchObject({ status: 0, message: expect.stringContaining('网络') });
  expect(request.aborted).toBe(true);
});

test('where others are answered, an upload of which nothing is heard is sent again under its key', async () => {
  const { postForm } = await import('./post-form.ts');
  const { heard } = await import('./line.ts');
  const done = postForm('uploadFile', new FormData(), { idempotencyKey: 'same' });
  const first = SlowRequest.last;
  first.left(piece, piece);
  for (let second = 0; second < 40; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    heard();
  }
  expect(first.aborted).toBe(true);
  expect(SlowRequest.last).not.toBe(first);
  SlowRequest.last.answer({ file: { uuid: 'a' } });
  expect(await done).toEqual({ file: { uuid: 'a' } });
});

test('after a silence an upload that was on its way is sent again once others are answered, however large it is', async () => {
  const { postForm } = await import('./post-form.ts');
  const { heard, lost } = await import('./line.ts');
  const done = postForm('uploadFile', new FormData(), { idempotencyKey: 'same' });
  const first = SlowRequest.last;
  first.left(size, size);
  await vi.advanceTimersByTimeAsync(5_000);
  lost();
  await vi.advanceTimersByTimeAsync(5_000);
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second += 1) {
      heard();
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };
  // What the device holds back of it may still leave.
  await seconds(12);
  expect(first.aborted).toBe(false);
  await seconds(8);
  expect(first.aborted).toBe(true);
  SlowRequest.last.answer({ file: { uuid: 'a' } });
  expect(await done).toEqual({ file: { uuid: 'a' } });
});

test('a line that comes and goes puts off no doubt, and what outlasts it is sent again with it', async () => {
  const { postForm } = await import('./post-form.ts');
  const { heard, lineIsWell, lost } = await import('./line.ts');
  const face = 60_000;
  let told: unknown;
  const done = postForm('uploadAvatar', new FormData(), { idempotencyKey: 'same', outlasts: true });
  done.catch((error: unknown) => (told = error));
  const first = SlowRequest.last;
  first.left(face, face);
  // There for three seconds, and gone for five.
  for (let times = 0; times < 3; times += 1) {
    lost();
    await vi.advanceTimersByTimeAsync(5_000);
    heard();
    await vi.advanceTimersByTimeAsync(3_000);
  }
  expect(first.aborted).toBe(true);
  expect(SlowRequest.last).not.toBe(first);

  // It breaks off altogether: nothing is sent until the line is back.
  const second = SlowRequest.last;
  second.dispatchEvent(new Event('error'));
  second.dispatchEvent(new Event('loadend'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([told, lineIsWell(), SlowRequest.last]).toEqual([undefined, false, second]);
  heard();
  await vi.advanceTimersByTimeAsync(0);
  expect(SlowRequest.last).not.toBe(second);
  SlowRequest.last.answer({ url: '/a', avatar: '/a' });
  expect(await done).toEqual({ url: '/a', avatar: '/a' });
});
