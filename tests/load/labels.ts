import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { markedOf, renewImage, thumbnailOf } from '#server/areas/file/image.ts';
import { makePdf } from '#server/areas/export/pdf-document.ts';
import { type Aigc, readAigcXmp } from '#server/labels/aigc.ts';
import { labelledDocx, readDocxLabel } from '#server/labels/docx.ts';
import { labelledImage, readImageLabel } from '#server/labels/image.ts';
import { labelledMp4, readMp4Label } from '#server/labels/mp4.ts';
import { labelledSound, readSoundLabel } from '#server/labels/sound.ts';
import { labelledWebm, readWebmLabel } from '#server/labels/webm.ts';
import { makeDocx } from '#server/areas/train/translation/docx.ts';

/**
 * `FILES=1000 npx tsx tests/load/labels.ts`: so many files of each kind, each with a label of its own,
 * through each of our conversions; how many labels are read back, and how long one takes. Where
 * exiftool, ffmpeg and ffprobe are there they open some of the files, too.
 */
const files = Number(process.env['FILES'] ?? 1000);
/** Files of each way that other programs open: each takes them tens of ms. */
const opened = 10;
const folder = mkdtempSync(path.join(tmpdir(), 'labels-'));

const has = (program: string): boolean => {
  try {
    execFileSync(program, ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    try {
      execFileSync(program, ['-ver'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }
};
const [exiftool, ffprobe, ffmpeg] = ['exiftool', 'ffprobe', 'ffmpeg'].map(has);

const labelOf = (): Aigc => ({
  Label: '1',
  ContentProducer: '001191110108MA01ABCD0X10001',
  ProduceID: randomBytes(16).toString('hex'),
  ReservedCode1: '',
  ContentPropagator: '001191110108MA01ABCD0X10001',
  PropagateID: '',
  ReservedCode2: '',
});

interface Way {
  made: number;
  read: number;
  ms: number;
  byOthers: string[];
}
const ways = new Map<string, Way>();

/** What exiftool or ffprobe finds of the label's number. */
const foundByOthers = (program: string, file: string, id: string): boolean => {
  const args =
    program === 'exiftool'
      ? ['-a', '-u', '-G1', '-j', file]
      : ['-v', 'error', '-show_format', '-print_format', 'json', file];
  return execFileSync(program, args, { maxBuffer: 2 ** 24 })
    .toString()
    .includes(id);
};

const measure = async (
  name: string,
  label: Aigc,
  ending: string,
  make: () => Promise<Buffer> | Buffer,
  read: (data: Buffer) => Promise<Aigc | null> | Aigc | null,
): Promise<Buffer> => {
  const way = ways.get(name) ?? { made: 0, read: 0, ms: 0, byOthers: [] };
  ways.set(name, way);
  const begun = performance.now();
  const data = await make();
  way.ms += performance.now() - begun;
  way.made += 1;
  if ((await read(data))?.ProduceID === label.ProduceID) way.read += 1;
  const program = /webm|mp4|wav|mp3/.test(ending) ? ffprobe && 'ffprobe' : exiftool && 'exiftool';
  if (program && ending !== '' && way.made <= opened) {
    const file = path.join(folder, `${way.made}.${ending}`);
    writeFileSync(file, data);
    way.byOthers.push(foundByOthers(program, file, label.ProduceID) ? program : `not ${program}`);
  }
  return data;
};

async function* oneTalk() {
  yield [
    {
      speaker: '小鹊',
      time: '2026-11-21 09:36',
      title: '',
      text: '一加一等于几',
      images: [],
      files: [],
      answers: [{ name: '内置助手', text: '等于二。', images: [] }],
    },
  ];
}
const pdfOf = (label: Aigc) => ({
  head: { title: '测', about: '', base: '', count: 1, diagrams: [], label, mark: '', foot: '' },
  messages: oneTalk(),
  fetchImage: () => Promise.resolve(null),
  onProgress: () => {},
});

const film = (ending: 'mp4' | 'webm' | 'mp3' | 'wav'): Buffer | null => {
  if (!ffmpeg) return null;
  const file = path.join(folder, `sample.${ending}`);
  const source =
    ending === 'mp4' || ending === 'webm'
      ? ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=12:duration=1']
      : ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1'];
  const program = 'ffmpeg';
  execFileSync(program, ['-v', 'error', '-y', ...source, file]);
  return execFileSync('cat', [file], { maxBuffer: 2 ** 24 });
};

// The thread that labels films keeps nobody waiting for it, also not this script.
const alive = setInterval(() => {}, 1_000);
try {
  const samples = { mp4: film('mp4'), webm: film('webm'), mp3: film('mp3'), wav: film('wav') };
  const docx = makeDocx(['由模型翻译的一段话']);
  const work = {
    signal: new AbortController().signal,
    owner: { person: 'labels', guest: false },
  };
  for (let at = 0; at < files; at += 1) {
    const label = labelOf();
    const background = { r: (at * 37) % 256, g: (at * 91) % 256, b: (at * 13) % 256 };
    const [width, height] = [160 + ((at * 7) % 160), 120 + ((at * 11) % 120)];
    const plain = sharp({ create: { width, height, channels: 3, background } });
    for (const type of ['png', 'jpg'] as const) {
      const bare = await plain.clone()[type === 'png' ? 'png' : 'jpeg']().toBuffer();
      const each = (way: string, ending: string, make: () => Promise<Buffer> | Buffer) =>
        measure(`${type}: ${way}`, label, ending, make, readImageLabel);
      const kept = await each('kept', type, () => labelledImage(bare, type, label));
      await each('thumbnail, 128', 'webp', () => thumbnailOf(kept, 128, 128));
      await each('thumbnail, 640', 'webp', () => thumbnailOf(kept, 640, 640));
      const marked = await each('with words', type, async () => (await markedOf(kept))!);
      await each('brought again', type, async () => (await renewImage(kept)).data);
      await each('with words, brought again', type, async () => (await renewImage(marked)).data);
    }
    const { mp4, webm, mp3, wav } = samples;
    if (mp4) await measure('mp4', label, 'mp4', () => labelledMp4(mp4, label), readMp4Label);
    // Each takes a thread of its own.
    if (webm && at % 10 === 0)
      await measure('webm', label, 'webm', () => labelledWebm(webm, label, work), readWebmLabel);
    if (mp3)
      await measure(
        'mp3',
        label,
        'mp3',
        () => labelledSound(mp3, 'audio/mpeg', label),
        readSoundLabel,
      );
    if (wav)
      await measure(
        'wav',
        label,
        'wav',
        () => labelledSound(wav, 'audio/wav', label),
        readSoundLabel,
      );
    await measure(
      'docx',
      label,
      'docx',
      () => Buffer.from(labelledDocx(docx, label)),
      readDocxLabel,
    );
    await measure(
      'pdf',
      label,
      'pdf',
      async () => (await makePdf(pdfOf(label))).data,
      (data) => {
        const text = data.toString('utf8');
        return readAigcXmp(text.slice(text.lastIndexOf('<?xpacket begin')));
      },
    );
  }
  console.table(
    Object.fromEntries(
      [...ways].map(([name, { made, read, ms, byOthers }]) => [
        name,
        {
          files: made,
          'labels read back': read,
          'ms each': Number((ms / made).toFixed(2)),
          'by other programs': `${byOthers.filter((each) => !each.startsWith('not')).length} of ${byOthers.length} ${byOthers[0] ?? ''}`,
        },
      ]),
    ),
  );
} finally {
  clearInterval(alive);
  rmSync(folder, { recursive: true, force: true });
}
