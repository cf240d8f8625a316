import { strFromU8, unzipSync } from 'fflate';
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Output,
  WebMOutputFormat,
} from 'mediabunny';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { makeDocx } from '#server/areas/train/translation/docx.ts';
import { type Aigc, aigcXmp, readAigc } from './aigc.ts';
import { labelledDocx, readDocxLabel } from './docx.ts';
import { labelledPng, originOf, readImageLabel } from './image.ts';
import { labelledMp4, readMp4Label } from './mp4.ts';
import { withPngText } from './png-text.ts';
import { labelledSound, readSoundLabel } from './sound.ts';
import { labelledText, readTextLabel } from './text.ts';
import { labelledWebm, readWebmLabel } from './webm.ts';
import { toldByOthers } from '#tests/support/other-programs.ts';

const label: Aigc = {
  Label: '1',
  ContentProducer: '001191110108MA01ABCD0X10001',
  ProduceID: '0123456789abcdef0123456789abcdef',
  ReservedCode1: '',
  ContentPropagator: '001191110108MA01ABCD0X10001',
  PropagateID: '0123456789abcdef0123456789abcdef',
  ReservedCode2: '<&">',
};
const kept = { ...label, ReservedCode2: '<&>' };

const plain = () => sharp({ create: { width: 40, height: 30, channels: 3, background: '#a33' } });

test('an image keeps its label through every format that we write', async () => {
  const png = labelledPng(await plain().png().toBuffer(), label);
  expect(await readImageLabel(png)).toEqual(kept);
  for (const format of ['jpeg', 'webp', 'png'] as const) {
    const made = await plain().toFormat(format).withXmp(aigcXmp(label)).toBuffer();
    expect(await readImageLabel(made), format).toEqual(kept);
  }
  expect(await readImageLabel(await plain().png().toBuffer())).toBeNull();
});

test('what other makers write is a suspicion, and no label', async () => {
  const about = async (png: Buffer) => originOf(png, await sharp(png).metadata());
  const bare = await plain().png().toBuffer();
  expect(await about(bare)).toEqual({ label: null, suspected: false });
  const drawn = withPngText(bare, 'parameters', '月亮\nSteps: 20, Sampler: Euler, Seed: 1');
  expect(await about(drawn)).toEqual({ label: null, suspected: true });
  // A person may call a text of theirs so, too.
  const own = withPngText(bare, 'parameters', 'f/2.8 1/125');
  expect((await about(own)).suspected).toBe(false);
});

test('somebody else’s label is taken with bounds, and never with more than its fields', () => {
  expect(readAigc(JSON.stringify({ AIGC: label }))).toEqual(kept);
  const long = readAigc(JSON.stringify({ Label: 1, ProduceID: 'x'.repeat(9000), Name: '张三' }));
  expect(long?.ProduceID).toHaveLength(512);
  expect(JSON.stringify(long)).not.toContain('张三');
  for (const none of ['', 'null', '[]', '{"Label":"9"}', '{"AIGC":{}}'])
    expect(readAigc(none), none).toBeNull();
});

const wavOf = (samples: number): Buffer => {
  const wav = Buffer.alloc(44 + samples * 2);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(36 + samples * 2, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8000, 24);
  wav.writeUInt32LE(16_000, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(samples * 2, 40);
  return wav;
};

test('a sound has its label before its first sample, also where only its beginning is there', () => {
  const wav = wavOf(100);
  const made = labelledSound(wav, 'audio/wav', label);
  expect(readSoundLabel(made)).toEqual(kept);
  expect(made.readUInt32LE(4)).toBe(made.length - 8);
  expect(made.subarray(-200)).toEqual(wav.subarray(-200));
  expect(readSoundLabel(labelledSound(wav.subarray(0, 50), 'audio/wav', label))).toEqual(kept);

  // ffprobe finds it, also beside words of another program.
  const info = Buffer.from('LIST\x0e\0\0\0INFOISFT\x02\0\0\0x\0', 'latin1');
  const listed = Buffer.concat([wav.subarray(0, 36), info, wav.subarray(36)]);
  listed.writeUInt32LE(listed.length - 8, 4);
  const told = toldByOthers(labelledSound(listed, 'audio/wav', label), 'wav');
  if (told !== null) expect(told).toContain(kept.ProduceID);

  const frames = Buffer.from('fffb50c400000000', 'hex');
  const mp3 = labelledSound(frames, 'audio/mpeg', label);
  expect(readSoundLabel(mp3)).toEqual(kept);
  expect(mp3.subarray(-frames.length)).toEqual(frames);
  // A tag that is there already stays one tag.
  const other = labelledSound(frames, 'audio/mpeg', { ...label, ProduceID: 'theirs' });
  const twice = labelledSound(other, 'audio/mpeg', label);
  expect(readSoundLabel(twice)).toEqual(kept);
  expect(twice.toString('latin1').split('ID3').length).toBe(2);
});

const box = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};

test('a film finds its samples where they are after its label was put before them', () => {
  const table = (at: number) => {
    const body = Buffer.alloc(12);
    body.writeUInt32BE(1, 4);
    body.writeUInt32BE(at, 8);
    return ['stbl', 'minf', 'mdia', 'trak', 'moov'].reduce(
      (inner, type) => box(type, inner),
      box('stco', body),
    );
  };
  const start = box('ftyp', Buffer.from('isom', 'latin1'));
  const samples = start.length + table(0).length + 8;
  const film = Buffer.concat([start, table(samples), box('mdat', Buffer.from('samples!'))]);
  const made = labelledMp4(film, label);
  expect(readMp4Label(made)).toEqual(kept);
  const at = made.readUInt32BE(made.indexOf('stco') + 12);
  expect(made.toString('latin1', at, at + 8)).toBe('samples!');
  expect(() => labelledMp4(Buffer.from('no film at all, but words'), label)).toThrow();
});

test('a Word file has its label among its properties', () => {
  const made = labelledDocx(makeDocx(['你好']), label);
  expect(readDocxLabel(made)).toEqual(kept);
  expect(readDocxLabel(labelledDocx(made, { ...label, ProduceID: 'b' }))?.ProduceID).toBe('b');
  // Words stand behind its last paragraph, before the shape of its pages.
  const told = unzipSync(labelledDocx(made, label, '由人工智能生成'))['word/document.xml'];
  expect(strFromU8(told!)).toMatch(/你好.*<w:p>.*由人工智能生成<\/w:t><\/w:r><\/w:p><w:sectPr/);
});

/** A film of so many packets; only what copies it ever looks at them. */
const webmOf = async (packets: number): Promise<Buffer> => {
  const output = new Output({ format: new WebMOutputFormat(), target: new BufferTarget() });
  const track = new EncodedVideoPacketSource('vp9');
  output.addVideoTrack(track, { frameRate: 25 });
  await output.start();
  const frame = new Uint8Array(20_000).fill(7);
  for (let at = 0; at < packets; at += 1)
    await track.add(new EncodedPacket(frame, at % 25 === 0 ? 'key' : 'delta', at / 25, 1 / 25), {
      decoderConfig: { codec: 'vp09.00.31.08', codedWidth: 64, codedHeight: 48 },
    });
  await output.finalize();
  return Buffer.from(output.target.buffer!);
};

test(
  'long films of one person are labelled by one of the two threads, the other is for others',
  { timeout: 60_000 },
  async () => {
    const [long, short] = [await webmOf(1500), await webmOf(5)];
    const done: string[] = [];
    const write = async (data: Buffer, person: string) => {
      const owner = { person, guest: false };
      const made = await labelledWebm(data, label, { signal: AbortSignal.timeout(30_000), owner });
      expect(readWebmLabel(made)).toEqual(kept);
      expect(made.length).toBeGreaterThan(data.length);
      done.push(person);
    };
    // Both threads are there.
    await Promise.all([write(short, 'a'), write(short, 'b')]);
    done.length = 0;
    const much = [1, 2, 3, 4].map(() => write(long, 'many'));
    await Promise.all([write(short, 'one'), ...much]);
    expect(done.indexOf('one')).toBeLessThan(2);
    // What is no WebM is refused, and the thread is there for the next.
    await expect(write(Buffer.from('not a film'), 'a')).rejects.toThrow();
    await write(short, 'a');
  },
);

describe('texts', () => {
  const words = '由人工智能生成';
  const page = '<!doctype html><html><head><title>海</title></head><body><p>海</p></body></html>';

  test.each([
    ['html', page],
    ['html', '<p>海'],
    ['md', '---\ntitle: 海\n---\n\n# 海\n'],
    ['txt', '海'],
  ])('%s: %s', (ending, text) => {
    const said = labelledText(text, ending, label, words);
    expect(readTextLabel(said)).toEqual(kept);
    expect(said).toContain(words);
    // Where nobody sees it, it is there without the words.
    const quiet = labelledText(text, ending, label, '');
    expect(readTextLabel(quiet)).toEqual(ending === 'txt' ? null : kept);
    expect(quiet).not.toContain(words);
    expect(quiet.startsWith(text.slice(0, 3))).toBe(true);
  });

  test('subtitles begin with the words, for two seconds', () => {
    const film = '1\n00:00:03,000 --> 00:00:04,000\n海\n';
    expect(labelledText(film, 'srt', label, words)).toBe(
      `0\n00:00:00,000 --> 00:00:02,000\n${words}\n\n${film}`,
    );
    expect(labelledText(film, 'srt', label, '')).toBe(film);
  });
});
