import type { Tokens } from 'marked';
import { decodeEntities } from '#common/markdown/entities.ts';
import { safeImage } from '#common/markdown/safe-url.ts';
import type { Image } from './pdf-image.ts';
import { colors, plain, sizes, type Writer, writeText } from './pdf-style.ts';

export const drawImage = ({ flow, images }: Writer, image: Image) => {
  const scale = Math.min(1, flow.width / image.width, 420 / image.height);
  const width = image.width * scale;
  const height = image.height * scale;
  flow.need(height);
  flow.paintGrounds(height);
  images.draw(image, flow.left, flow.y, width, height);
  flow.y += height;
  flow.space(6);
};

export const showImage = (writer: Writer, address: string, words: string) => {
  const image = writer.images.get(address);
  if (image) {
    drawImage(writer, image);
    return;
  }
  const name = words === '' ? '' : `：${words}`;
  const text = `［图片没有放进来${name}　${address.startsWith('data:') ? '内嵌图片' : address}］`;
  writeText(writer, text, { kind: 'plain', size: sizes.small, color: colors.second });
  writer.flow.space(4);
};

export const showImages = (writer: Writer, found: readonly Tokens.Image[]) => {
  for (const image of found) {
    const address = safeImage(decodeEntities(image.href));
    const words = decodeEntities(image.text);
    if (address !== null) showImage(writer, address, words);
    else {
      const text = words === '' ? '［图片］' : `［图片：${words}］`;
      writeText(writer, text, { ...plain, color: colors.second });
    }
  }
};
