import sharp from 'sharp';
import { expect, test } from 'vitest';
import { type Identity, Refusal } from '#server/http/handlers.ts';
import { createImageTurns } from './image-turns.ts';
import { createUploads } from './uploads.ts';

test('a picture that there is no room for is judged by nobody', async () => {
  let judged = 0;
  let full = true;
  const none = () => Promise.reject(new Error('not asked for'));
  const uploads = createUploads({
    db: {} as never,
    storage: {} as never,
    fetch: none,
    uploadLimit: 100,
    documentSeconds: 1,
    keepUploaded: none,
    checkPicture: () => {
      judged += 1;
      return Promise.resolve(null);
    },
    requireRoom: () => (full ? Promise.reject(new Refusal('file_quota')) : Promise.resolve()),
    turns: createImageTurns(),
  });
  const plain = { create: { width: 8, height: 8, channels: 3, background: '#4a7' } } as const;
  const file = { name: 'a.png', mime: 'image/png', data: await sharp(plain).png().toBuffer() };
  const user = { id: 1, guest: false, person: '1' } as Identity;
  await expect(uploads.image(file, user)).rejects.toMatchObject({ codeName: 'file_quota' });
  expect(judged).toBe(0);
  full = false;
  await uploads.image(file, user);
  expect(judged).toBe(1);
});
