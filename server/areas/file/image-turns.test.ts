import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { createImageTurns } from './image-turns.ts';
import { createOpenedFiles } from './opened-files.ts';

test('pictures that one program names, or sends, are held three at once, and another’s is worked on among them', async () => {
  const picture = await sharp({
    create: { width: 40, height: 40, channels: 3, background: '#123456' },
  })
    .png()
    .toBuffer();
  let open = 0;
  let most = 0;
  const files = createOpenedFiles({
    storage: {} as never,
    images: { read: async () => null },
    turns: createImageTurns(),
    fetch: async (url) => {
      open += 1;
      most = Math.max(most, open);
      await sleep(url.includes('slow') ? 60 : 0);
      open -= 1;
      return { data: picture, mime: 'image/png' };
    },
  });
  const { signal } = new AbortController();
  const greedy = { person: '1', guest: false };
  const ended: string[] = [];
  const begin = (what: string, asked: Promise<unknown>) =>
    asked.then((found) => ended.push(found === null ? 'nothing' : what));
  const slow = 'https://pictures.example/slow.png';
  const asked = Array.from({ length: 12 }, () => [
    begin('named', files.imageForModel(slow, 'low', { signal, owner: greedy })),
    begin('worked', files.imageAt(slow, signal, greedy)),
  ]).flat();
  const inline = `data:image/png;base64,${picture.toString('base64')}`;
  const other = { signal, owner: { person: '2', guest: false } };
  asked.push(begin('other', files.imageForModel(inline, 'low', other)));
  await Promise.all(asked);
  expect(most).toBe(3);
  expect(ended).toHaveLength(25);
  expect(ended.indexOf('other')).toBeLessThan(4);
  expect(ended).not.toContain('nothing');
});
