import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import sharp from 'sharp';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { median, printTable, quantile } from './lib/measure.ts';

/**
 * A small picture of a photo of 4 MB, asked for the first time and again. Beside it the floor of the
 * same run: sharp in this process, from the bytes in memory, with nothing around it; and a bare
 * server that reads a file of the same size for every request.
 */
const photos = Number(process.env['PHOTOS'] ?? 8);
const repeats = 40;
const sides = [180, 640] as const;

/** As cameras give it: 12 million pixels with grain, close to the 4 MB that may be uploaded. */
const photo = async (seed: number): Promise<Buffer> => {
  const [width, height] = [4000, 3000];
  const grain = { type: 'gaussian', mean: 128, sigma: 26 } as const;
  const plain = { channels: 3, background: '#808080' } as const;
  const coarse = await sharp({ create: { ...plain, width: 500, height: 375, noise: grain } })
    .blur(3 + (seed % 3))
    .png()
    .toBuffer();
  const fine = await sharp({
    create: { ...plain, width, height, noise: { ...grain, sigma: 24 } },
  })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const whole = await sharp(coarse)
    .resize(width, height)
    .composite([{ input: fine, blend: 'soft-light' }])
    .png({ compressionLevel: 1 })
    .toBuffer();
  for (let quality = 94; ; quality -= 2) {
    const data = await sharp(whole).jpeg({ quality }).toBuffer();
    if (data.length <= 4 * 1024 * 1024 || quality < 40) return data;
  }
};

const agent = new http.Agent({ keepAlive: true });
const timed = (url: string): Promise<{ ms: number; bytes: number }> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    http
      .get(url, { agent }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.on('end', () => {
          if (response.statusCode === 200) resolve({ ms: performance.now() - begun, bytes });
          else reject(new Error(`${response.statusCode} ${url}`));
        });
      })
      .on('error', reject);
  });

const server = await startServer({ embedded: true });
const bareFile = path.join(server.dataDir, 'bare.webp');
const bare = http.createServer((_request, response) => {
  void readFile(bareFile).then((data) => response.end(data));
});
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
const bareURL = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
const bareTimes: number[] = [];
try {
  const client = await TestClient.register(server.baseURL);
  const first = new Map<number, number[]>(sides.map((side) => [side, []]));
  const again = new Map<number, number[]>(sides.map((side) => [side, []]));
  const floor = new Map<number, number[]>(sides.map((side) => [side, []]));
  const sizes: number[] = [];
  for (let at = -1; at < photos; at += 1) {
    const data = await photo(at);
    const blob = new Blob([new Uint8Array(data)], { type: 'image/jpeg' });
    const { image } = await client.upload('uploadImage', blob, `${at}.jpg`);
    const stored = Buffer.from(await (await fetch(`${server.baseURL}${image.url}`)).arrayBuffer());
    for (const side of sides) {
      const url = `${server.baseURL}${image.url}?size=${side}`;
      const made = await timed(url);
      const begun = performance.now();
      await sharp(stored)
        .resize({ width: side, height: side, fit: 'inside' })
        .webp({ quality: 80 })
        .toBuffer();
      // The first is for warming up.
      if (at < 0) continue;
      floor.get(side)?.push(performance.now() - begun);
      first.get(side)?.push(made.ms);
      await writeFile(bareFile, Buffer.alloc(made.bytes));
      for (let time = 0; time < repeats; time += 1) {
        again.get(side)?.push((await timed(url)).ms);
        bareTimes.push((await timed(bareURL)).ms);
      }
    }
    if (at >= 0) sizes.push(stored.length / 1024 / 1024);
  }
  const of = (values: Map<number, number[]>, side: number) => values.get(side) ?? [];
  printTable(
    sides.flatMap((side) => [
      { measure: `${side}: first, median`, value: median(of(first, side)), goal: 150, unit: 'ms' },
      {
        measure: `${side}: first, slowest`,
        value: quantile(of(first, side), 1),
        goal: 150,
        unit: 'ms',
      },
      { measure: `${side}: again, median`, value: median(of(again, side)), goal: 5, unit: 'ms' },
      {
        measure: `${side}: again, p95`,
        value: quantile(of(again, side), 0.95),
        goal: 5,
        unit: 'ms',
      },
    ]),
  );
  console.log(
    `${photos} photos of ${median(sizes).toFixed(1)} MB as stored; floor of the first (sharp alone): ` +
      sides.map((side) => `${side}: ${median(of(floor, side)).toFixed(0)} ms`).join(', ') +
      `; of the others (a bare server): ${median(bareTimes).toFixed(2)} ms, ` +
      `p95 ${quantile(bareTimes, 0.95).toFixed(2)} ms`,
  );
} finally {
  agent.destroy();
  bare.close();
  await server.stop();
}
process.exit(0);
