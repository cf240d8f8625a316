import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { strFromU8, unzipSync } from 'fflate';
import sharp from 'sharp';
import { madeByAi } from '#contract/made-by-ai.ts';
import { markedOf, renewImage, thumbnailOf } from '#server/areas/file/image.ts';
import { makePdf } from '#server/areas/export/pdf-document.ts';
import { contentOf } from '#server/areas/export/office/content.ts';
import { docxFile } from '#server/areas/export/office/docx-file.ts';
import { markedFilm } from '#server/engines/video/marked-film.ts';
import { type Aigc, readAigcXmp } from '#server/labels/aigc.ts';
import { type SignedMime, signedFile } from '#server/labels/c2pa.ts';
import { labelledDocx, readDocxLabel } from '#server/labels/docx.ts';
import { labelledImage, readImageLabel } from '#server/labels/image.ts';
import { labelledMp4, readMp4Label } from '#server/labels/mp4.ts';
import { labelledSound, labelParts, readSoundLabel } from '#server/labels/sound.ts';
import { labelledText, readTextLabel } from '#server/labels/text.ts';
import { labelledWebm, readWebmLabel } from '#server/labels/webm.ts';
import { makeDocx } from '#server/areas/train/translation/docx.ts';
import { signingKeys } from '#tests/support/certificate.ts';
import { pdfText } from '#tests/support/exports.ts';

/**
 * `FILES=1000 npx tsx tests/load/labels.ts`: so many files of each kind, each with a label of its own,
 * through each of our conversions: how many labels are read back, how many of the words that people
 * see are there, and how long one takes. Films that are encoded anew and files that are signed are
 * fewer (`SLOW`, one of so many): each takes a process or a signature. Where exiftool, ffmpeg and
 * ffprobe are there they open some of the files, too. `KINDS=image,pdf` takes these alone of image,
 * mp4, webm, sound, docx, pdf and text.
 */
const files = Number(process.env['FILES'] ?? 1000);
const kinds = process.env['KINDS']?.split(',');
const wanted = (kind: string): boolean => kinds?.includes(kind) ?? true;
const slow = Number(process.env['SLOW'] ?? 20);
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
const filmProgram = 'ffmpeg';
const [exiftool, ffprobe, ffmpeg] = ['exiftool', 'ffprobe', filmProgram].map(has);

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
  /** Words that people see; null: there are none on this way. */
  seen: number | null;
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

type ReadLabel = (data: Buffer) => Promise<Aigc | null> | Aigc | null;

const measure = async (
  name: string,
  label: Aigc,
  ending: string,
  make: () => Promise<Buffer> | Buffer,
  read: ReadLabel,
  see?: (data: Buffer) => Promise<boolean> | boolean,
): Promise<Buffer> => {
  const way = ways.get(name) ?? { made: 0, read: 0, seen: see ? 0 : null, ms: 0, byOthers: [] };
  ways.set(name, way);
  const begun = performance.now();
  const data = await make();
  way.ms += performance.now() - begun;
  way.made += 1;
  if ((await read(data))?.ProduceID === label.ProduceID) way.read += 1;
  if (way.seen !== null && (await see?.(data))) way.seen += 1;
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
const pdfOf = (label: Aigc, mark: string) => ({
  head: { title: '测', about: '', base: '', count: 1, diagrams: [], label, mark, foot: '' },
  messages: oneTalk(),
  fetchImage: () => Promise.resolve(null),
  onProgress: () => {},
});
const pdfLabel = (data: Buffer): Aigc | null => {
  const text = data.toString('utf8');
  return readAigcXmp(text.slice(text.lastIndexOf('<?xpacket begin')));
};

/** Whether what was added to a plain picture is as high as the standard asks for. */
const wordsOver = async (plain: Buffer, marked: Buffer): Promise<boolean> => {
  const grey = (data: Buffer) =>
    sharp(data).removeAlpha().greyscale().raw().toBuffer({ resolveWithObject: true });
  const [before, after] = await Promise.all([plain, marked].map(grey));
  if (!before || !after) return false;
  const { width, height } = before.info;
  const rows = new Set<number>();
  for (let at = 0; at < before.data.length; at += 1)
    if (Math.abs(before.data[at]! - after.data[at]!) > 20) rows.add(Math.floor(at / width));
  return rows.size >= Math.min(width, height) * 0.05;
};
const wordIn = (part: string) => (data: Buffer) =>
  strFromU8(unzipSync(data)[part] ?? new Uint8Array()).includes(madeByAi);

/** A frame of a film as a picture, at a time in seconds. */
const frameAt = (film: Buffer, seconds: number): Buffer => {
  const file = path.join(folder, 'seen.mp4');
  writeFileSync(file, film);
  const out = ['-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', '-'];
  return execFileSync(filmProgram, ['-v', 'error', '-i', file, '-ss', String(seconds), ...out], {
    maxBuffer: 2 ** 24,
  });
};

const sample = (ending: 'mp4' | 'webm' | 'mp3' | 'wav'): Buffer | null => {
  if (!ffmpeg) return null;
  const file = path.join(folder, `sample.${ending}`);
  const source =
    ending === 'mp4' || ending === 'webm'
      ? ['-f', 'lavfi', '-i', 'color=c=navy:size=320x240:rate=12:duration=3']
      : ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1'];
  const yuv = ending === 'mp4' ? ['-pix_fmt', 'yuv420p'] : [];
  execFileSync(filmProgram, ['-v', 'error', '-y', ...source, ...yuv, file]);
  return readFileSync(file);
};

// The thread that labels films keeps nobody waiting for it, also not this script.
const alive = setInterval(() => {}, 1_000);
try {
  const [mp4, webm] = (['mp4', 'webm'] as const).map(sample);
  const sounds = { mp3: sample('mp3'), wav: sample('wav') };
  const soundMimes = { mp3: 'audio/mpeg', wav: 'audio/wav' } as const;
  const docx = makeDocx(['由模型翻译的一段话']);
  const parts = contentOf('# 石榴\n\n一段话。');
  const { chain, key } = signingKeys();
  const signer = { chain, key };
  const owner = { person: 'labels', guest: false };
  const work = { signal: new AbortController().signal, owner };
  for (let at = 0; at < files; at += 1) {
    const label = labelOf();
    const background = { r: (at * 37) % 256, g: (at * 91) % 256, b: (at * 13) % 256 };
    const [width, height] = [160 + ((at * 7) % 160), 120 + ((at * 11) % 120)];
    const plain = sharp({ create: { width, height, channels: 3, background } });
    const isSlow = at % slow === 0;
    const signed = (
      name: string,
      ending: string,
      data: Buffer,
      mime: SignedMime,
      read: ReadLabel,
    ) => measure(`${name}: signed`, label, ending, () => signedFile(data, mime, signer), read);
    const withWords = async (
      ending: 'mp4' | 'webm',
      film: Buffer,
      labelled: (film: Buffer) => Promise<Buffer> | Buffer,
      read: ReadLabel,
    ) => {
      const poster = await plain.clone().png().toBuffer();
      const again = async () =>
        labelled((await markedFilm({ data: film, poster }, work, () => {})).data);
      const whole = (made: Buffer) =>
        Promise.all([0, 1, 1.9].map((time) => wordsOver(frameAt(film, time), frameAt(made, time))));
      await measure(`${ending}: with words for 2 s`, label, ending, again, read, async (made) =>
        (await whole(made)).every(Boolean),
      );
    };
    for (const type of wanted('image') ? (['png', 'jpg'] as const) : []) {
      const bare = await plain.clone()[type === 'png' ? 'png' : 'jpeg']().toBuffer();
      const each = (
        way: string,
        ending: string,
        make: () => Promise<Buffer> | Buffer,
        see?: (data: Buffer) => Promise<boolean>,
      ) => measure(`${type}: ${way}`, label, ending, make, readImageLabel, see);
      const kept = await each('kept', type, () => labelledImage(bare, type, label));
      await each('thumbnail, 128', 'webp', () => thumbnailOf(kept, 128, 128));
      await each('thumbnail, 640', 'webp', () => thumbnailOf(kept, 640, 640));
      const marked = await each(
        'with words',
        type,
        async () => (await markedOf(kept))!,
        (data) => wordsOver(kept, data),
      );
      await each('brought again', type, async () => (await renewImage(kept)).data);
      await each(
        'with words, brought again',
        type,
        async () => (await renewImage(marked)).data,
        (data) => wordsOver(kept, data),
      );
      const mime = type === 'png' ? 'image/png' : 'image/jpeg';
      if (isSlow) await signed(type, type, kept, mime, readImageLabel);
    }
    if (mp4 && wanted('mp4')) {
      const kept = () => labelledMp4(mp4, label);
      await measure('mp4', label, 'mp4', kept, readMp4Label);
      if (isSlow) {
        await signed('mp4', 'mp4', kept(), 'video/mp4', readMp4Label);
        await withWords('mp4', mp4, (film) => labelledMp4(film, label), readMp4Label);
      }
    }
    if (webm && wanted('webm')) {
      const kept = (film: Buffer) => labelledWebm(film, label, work);
      await measure('webm', label, 'webm', () => kept(webm), readWebmLabel);
      if (isSlow) await withWords('webm', webm, kept, readWebmLabel);
    }
    for (const ending of wanted('sound') ? (['mp3', 'wav'] as const) : []) {
      const sound = sounds[ending];
      if (!sound) continue;
      const mime = soundMimes[ending];
      const kept = () => labelledSound(sound, mime, label);
      await measure(ending, label, ending, kept, readSoundLabel);
      const inParts = () => {
        const stream = labelParts(label);
        const all: Buffer[] = [];
        for (let from = 0; from < sound.length; from += 4_000)
          all.push(stream.next(sound.subarray(from, from + 4_000), mime));
        return Buffer.concat([...all, stream.rest()]);
      };
      await measure(`${ending}: in parts`, label, ending, inParts, readSoundLabel);
      if (isSlow) await signed(ending, ending, kept(), mime, readSoundLabel);
    }
    if (wanted('docx')) {
      const written = () => Buffer.from(labelledDocx(docxFile(parts, madeByAi), label));
      const seeWord = wordIn('word/document.xml');
      await measure('docx: made', label, 'docx', written, readDocxLabel, seeWord);
      const translated = () => Buffer.from(labelledDocx(docx, label, madeByAi));
      await measure('docx: translated', label, 'docx', translated, readDocxLabel, seeWord);
    }
    if (wanted('pdf')) {
      const paper = await measure(
        'pdf',
        label,
        'pdf',
        async () => (await makePdf(pdfOf(label, madeByAi))).data,
        pdfLabel,
        async (data) => (await pdfText(data)).text.includes(madeByAi),
      );
      if (isSlow) await signed('pdf', 'pdf', paper, 'application/pdf', pdfLabel);
    }
    const seeText = (data: Buffer) => data.toString().includes(madeByAi);
    const texts = [
      ['md', '等于二。'],
      ['html', '<html><head></head><body><p>等于二。</p></body></html>'],
      ['txt', '等于二。'],
    ] as const;
    for (const [ending, text] of texts)
      await measure(
        `text: ${ending}`,
        label,
        '',
        () => Buffer.from(labelledText(text, ending, label, madeByAi)),
        (data) => readTextLabel(data.toString()),
        seeText,
      );
  }
  console.table(
    Object.fromEntries(
      [...ways].map(([name, { made, read, seen, ms, byOthers }]) => [
        name,
        {
          files: made,
          'labels read back': read,
          'words seen': seen ?? '',
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
