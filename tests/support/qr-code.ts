import { expect, type Page } from '@playwright/test';
import { create } from 'qrcode';
import sharp from 'sharp';

/** Whether the picture is the QR code of this text: every dot of it is looked at. */
export const expectCode = async (page: Page, name: string, text: string) => {
  const source = await page.getByRole('img', { name }).getAttribute('src');
  const bytes = Buffer.from((source ?? '').split(',')[1] ?? '', 'base64');
  const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true });
  const { modules } = create(text);
  const margin = 2;
  const dot = info.width / (modules.size + 2 * margin);
  const at = (place: number) => Math.floor((place + margin + 0.5) * dot);
  const read = Array.from(modules.data, (_, index) => {
    const [row, column] = [Math.floor(index / modules.size), index % modules.size];
    return (data[at(row) * info.width + at(column)] ?? 255) < 128 ? 1 : 0;
  });
  expect(read.join('')).toBe(Array.from(modules.data, Number).join(''));
};
