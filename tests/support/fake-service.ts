import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';

/** What a fake of an outside service needs at its wire. */
export interface FakeService {
  /** Such as `http://127.0.0.1:40123`. */
  url: string;
  close(): Promise<void>;
}

export const listen = async (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<FakeService> => {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else reply(response, 500, { detail: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

export const reply = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

export const replyPicture = (response: ServerResponse, data: Buffer): void => {
  response.writeHead(200, { 'content-type': 'image/png' });
  response.end(data);
};

/** A PNG of one colour. */
export const paint = (width: number, height: number, colour: string): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: colour } })
    .png()
    .toBuffer();

/** The four pictures of a grid, in reading order. */
export const gridColours = ['#ff0000', '#00ff00', '#0000ff', '#ffff00'] as const;

export const paintGrid = async (side: number): Promise<Buffer> => {
  const tiles = await Promise.all(
    gridColours.map(async (colour, at) => ({
      input: await paint(side, side, colour),
      left: (at % 2) * side,
      top: Math.floor(at / 2) * side,
    })),
  );
  return sharp(await paint(side * 2, side * 2, '#000000'))
    .composite(tiles)
    .png()
    .toBuffer();
};

/** Something that begins like a PNG and ends too early. */
export const truncated = async (width: number, height: number): Promise<Buffer> => {
  const noise = Buffer.alloc(width * height * 3, 0);
  for (let at = 0; at < noise.length; at += 1) noise[at] = (at * 7919) % 251;
  const whole = await sharp(noise, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  return whole.subarray(0, Math.floor(whole.length / 2));
};

/** The colour of a picture's middle, as #rrggbb. */
export const colourOf = async (data: Buffer): Promise<string> => {
  const { width, height } = await sharp(data).metadata();
  const [red = 0, green = 0, blue = 0] = await sharp(data)
    .extract({ left: Math.floor(width / 2), top: Math.floor(height / 2), width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer();
  return `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
};

/** Width and height of a base64 picture, with or without a data URL's head; null: it is none. */
export const sizeOf = async (text: unknown): Promise<{ width: number; height: number } | null> => {
  if (typeof text !== 'string') return null;
  try {
    const data = Buffer.from(text.replace(/^data:image\/\w+;base64,/, ''), 'base64');
    const { width, height } = await sharp(data).metadata();
    return { width, height };
  } catch {
    return null;
  }
};
