import sharp from 'sharp';
import { expect, test } from 'vitest';
import { aigcXmp } from '#server/labels/aigc.ts';
import { readImageLabel } from '#server/labels/image.ts';
import { carryLabel } from './carry-label.ts';

const plain = sharp({ create: { width: 40, height: 30, channels: 3, background: '#3a6' } });
const label = {
  Label: '1',
  ContentProducer: '001191110108MA01ABCD0X10001',
  ProduceID: 'a'.repeat(32),
  ReservedCode1: '',
  ContentPropagator: '',
  PropagateID: '',
  ReservedCode2: '',
} as const;

const carried = async (from: Buffer) => {
  const jpeg = await plain.clone().jpeg().toBuffer();
  const made = await carryLabel(new Blob([new Uint8Array(from)]), new Blob([new Uint8Array(jpeg)]));
  const bytes = Buffer.from(await made.arrayBuffer());
  expect((await sharp(bytes).metadata()).width).toBe(40);
  return readImageLabel(bytes);
};

test('what an image says of its making goes along through a canvas, and nothing else does', async () => {
  const xmp = aigcXmp(label);
  expect(await carried(await plain.clone().withXmp(xmp).png().toBuffer())).toEqual(label);
  expect(await carried(await plain.clone().withXmp(xmp).jpeg().toBuffer())).toEqual(label);
  const parameters = await plain.clone().png().toBuffer();
  const { withPngText } = await import('#server/labels/png-text.ts');
  const drawn = withPngText(parameters, 'parameters', 'a moon\nSteps: 20, Sampler: Euler a');
  expect(await carried(drawn)).toMatchObject({ Label: '3' });
  expect(await carried(await plain.clone().jpeg().toBuffer())).toBeNull();
});
