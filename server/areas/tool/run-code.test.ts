import { expect, test } from 'vitest';
import { runProgram } from './run-code.ts';

const run = (code: string, data = new Uint8Array(0)) =>
  runProgram(
    { language: 'python', code, files: [{ name: '已有.bin', data }] },
    { person: 'p1', guest: false },
  );

test('a program that never ends is stopped', async () => {
  const endless = { language: 'javascript' as const, code: 'for (;;) {}', files: [] };
  const running = runProgram(endless, { person: 'p1', guest: false }, 1);
  await expect(running).rejects.toThrow('已停下');
});

test('files of a program take no more than they may, however they grow', async () => {
  const code = `
import os
def tried(work):
    try:
        work()
        print('有')
    except OSError as e:
        print(e.strerror)
def far():
    with open('a', 'wb', buffering=0) as f:
        f.seek(3 * 10**9)
        f.write(b'x')
def longer(path, size):
    with open(path, 'ab') as f: f.truncate(size)
def again():
    for n in range(20):
        with open('c', 'wb') as f: f.write(bytes(4 * 1024 * 1024))
    os.remove('c')
tried(far)
tried(lambda: longer('b', 3 * 10**9))
os.mkdir('d')
tried(lambda: longer('d/e', 20 * 1024 * 1024))
tried(lambda: longer('d/f', 20 * 1024 * 1024))
os.remove('d/e')
tried(lambda: longer('d/f', 20 * 1024 * 1024))
tried(again)
open('好.txt', 'w').write('好')
print(os.path.getsize('已有.bin'))`;
  const { text, files } = await run(code, new Uint8Array(20 * 1024 * 1024));
  const full = 'No space left on device';
  expect(text.split('\n').slice(0, 7)).toEqual([full, full, '有', full, '有', '有', '20971520']);
  expect(files.map(({ name }) => name)).toContain('好.txt');
});
