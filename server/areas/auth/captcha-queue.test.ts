import { expect, test } from 'vitest';
import { createCaptchaQueue } from './captcha-queue.ts';

/** A drawing that ends when it is told to. */
const drawing = () => {
  const begun: string[] = [];
  let end = () => {};
  return {
    begun,
    end: () => end(),
    draw: (name: string) => () => {
      begun.push(name);
      return new Promise<string>((resolve) => {
        end = () => resolve(name);
      });
    },
  };
};
const here = () => false;

test('pictures are drawn in turn by network, and none for who has gone', async () => {
  const inTurn = createCaptchaQueue();
  const { begun, end, draw } = drawing();
  const left = new Set<string>();
  const ask = (ip: string, name: string) =>
    inTurn({ ip, gone: () => left.has(name) }, draw(name)).catch(({ codeName }) => codeName);
  // One network asks from many addresses at once; then comes somebody else.
  const flood = Array.from({ length: 31 }, (_, n) =>
    ask(`2001:db8:5:${n.toString(16)}::1`, `flood ${n}`),
  );
  const over = ask('2001:db8:6::1', 'over');
  const other = ask('198.51.100.7', 'other');
  expect(await over).toBe('too_many');
  for (let n = 1; n < 31; n += 1) left.add(`flood ${n}`);
  await expect.poll(() => begun).toEqual(['flood 0']);
  end();
  expect(await flood[0]).toBe('flood 0');
  await expect.poll(() => begun).toEqual(['flood 0', 'other']);
  end();
  expect(await other).toBe('other');
  expect((await Promise.all(flood)).slice(1)).toEqual(Array(30).fill('unavailable'));
  expect(begun).toEqual(['flood 0', 'other']);
});

test('of a provider one is drawn at a time, however many networks it asks from', async () => {
  const inTurn = createCaptchaQueue();
  const { begun, end, draw } = drawing();
  const ask = (ip: string, name: string) => inTurn({ ip, gone: here }, draw(name));
  const names = ['a', 'a', 'b', 'c', 'd'].map((network, n) => `${network}${n}`);
  const flood = names.map((name) => ask(`2001:db8:${name[0]}00::1`, name));
  const others = [ask('198.51.100.7', 'other'), ask('2001:db9::1', 'another')];
  for (let drawn = 1; drawn <= 7; drawn += 1) {
    await expect.poll(() => begun.length).toBe(drawn);
    end();
  }
  await Promise.all([...flood, ...others]);
  // Of each network one, before the second of the first.
  expect(begun).toEqual(['a0', 'other', 'another', 'b2', 'c3', 'd4', 'a1']);
});

test('those behind a proxy of this machine are not one', async () => {
  const inTurn = createCaptchaQueue();
  const all = Array.from({ length: 100 }, () =>
    inTurn({ ip: '127.0.0.1', gone: here }, () => Promise.resolve('drawn')),
  );
  expect(await Promise.all(all)).toEqual(Array(100).fill('drawn'));
});
