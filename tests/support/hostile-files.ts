import { crc32, deflateRawSync, deflateSync } from 'node:zlib';
import { zipSync, type Zippable } from 'fflate';
import sharp from 'sharp';
import {
  docxFiles,
  docxOf,
  glassPng,
  noise,
  pdfOf,
  photoWithPlace,
  wordXml,
} from './sample-files.ts';

/** Stands in hostile files for what must never be served again. */
export const mark = 'QQ-HOSTILE-MARK';
/** What parsers that can be talked into writing or reading would leave or give away. */
export const planted = '/tmp/queqiao-was-here';

export interface HostileFile {
  what: string;
  call: 'uploadImage' | 'uploadFile';
  name: string;
  mime: string;
  data: Buffer;
  /** It must be refused; otherwise it may be taken, made harmless. */
  refused: boolean;
}

const script = `<script>/*${mark}*/alert(1)</script>`;

/** Packs much of the same, quickly. */
const quick = { level: 1 } as const;

/** The same numbers every time. */
const random = (seed: number) => {
  let state = seed >>> 0;
  return (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const flipped = (data: Buffer, seed: number, flips: number): Buffer => {
  const next = random(seed);
  const copy = Buffer.from(data);
  for (let at = 0; at < flips; at += 1) {
    const place = next(copy.length);
    copy[place] = (copy[place] ?? 0) ^ (1 << next(8));
  }
  return copy;
};

const chunk = (type: string, body: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
};
const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const header = (width: number, height: number, depth = 1, colour = 0): Buffer => {
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  body[8] = depth;
  body[9] = colour;
  return chunk('IHDR', body);
};
const end = chunk('IEND', Buffer.alloc(0));
/** A PNG of one bit a pixel that says it is this large; its pixels are there where `real`. */
export const pngOf = (width: number, height: number, real: boolean, more: Buffer[] = []): Buffer =>
  Buffer.concat([
    signature,
    header(width, height),
    ...more,
    chunk(
      'IDAT',
      deflateSync(Buffer.alloc(real ? (Math.ceil(width / 8) + 1) * height : 100), quick),
    ),
    end,
  ]);

/** A JPEG whose frame says that it is this large. */
const jpegSaying = (jpeg: Buffer, width: number, height: number): Buffer => {
  const copy = Buffer.from(jpeg);
  for (let at = 2; at < copy.length - 9;) {
    const kind = copy[at + 1] ?? 0;
    if (kind >= 0xc0 && kind <= 0xc2) {
      copy.writeUInt16BE(height, at + 5);
      copy.writeUInt16BE(width, at + 7);
      break;
    }
    at += 2 + copy.readUInt16BE(at + 2);
  }
  return copy;
};
const jpegWith = (jpeg: Buffer, segment: number, body: Buffer): Buffer => {
  const head = Buffer.from([0xff, segment, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, body, jpeg.subarray(2)]);
};

const svg = (inside: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">${inside}</svg>`;

const notImages = async (): Promise<[string, Buffer | string][]> => {
  const plain = sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } });
  return [
    ['svg with a script', svg(script)],
    ['svg with onload', svg('').replace('<svg', `<svg onload="alert('${mark}')"`)],
    ['svg behind a declaration', `<?xml version="1.0"?>${svg(script)}`],
    ['svg behind a mark', `\uFEFF${svg(script)}`],
    ['svg with a file', svg('<image xlink:href="file:///etc/passwd" width="9" height="9"/>')],
    ['svg with an entity', `<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('&x;')}`],
    ['html', `<!doctype html>${script}`],
    ['html behind spaces', `${' '.repeat(300)}<html>${script}`],
    ['xml', '<?xml version="1.0"?><a/>'],
    ['php', `<?php system("touch ${planted}"); ?>`],
    ['javascript', `alert("${mark}")`],
    ['shell', `#!/bin/sh\ntouch ${planted}\n`],
    ['postscript', `%!PS\n(${mark}) show (%pipe%touch ${planted}) (w) file\n`],
    ['mvg', `push graphic-context\nimage over 0,0 0,0 'https://x";|touch ${planted}"'\n`],
    ['pdf', '%PDF-1.4\n1 0 obj<<>>endobj\n'],
    ['zip', Buffer.from(zipSync({ 'a.txt': Buffer.from(mark) }))],
    ['exe', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(200, 0x90)])],
    ['elf', Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(200)])],
    ['gif', await plain.clone().gif().toBuffer()],
    ['gif with javascript', `GIF89a/*${'a'.repeat(20)}*/=1;alert("${mark}")`],
    ['webp', await plain.clone().webp().toBuffer()],
    ['tiff', await plain.clone().tiff().toBuffer()],
    ['avif', await plain.clone().avif().toBuffer()],
    ['bmp', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)])],
    ['ico', Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.alloc(60)])],
    ['psd', Buffer.concat([Buffer.from('8BPS\0\x01'), Buffer.alloc(60)])],
    ['mp4', Buffer.concat([Buffer.alloc(4), Buffer.from('ftypisom'), Buffer.alloc(60)])],
    ['wav', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(60)])],
    ['jpeg 2000', Buffer.from('0000000c6a5020200d0a870a00000000', 'hex')],
    ['flash', Buffer.concat([Buffer.from('FWS\x09'), Buffer.alloc(60)])],
    ['nothing', ''],
    ['one byte', Buffer.from([0xff])],
    ['the beginning of a jpeg', Buffer.from([0xff, 0xd8, 0xff])],
    ['the beginning of a png', signature],
    ['a jpeg that begins later', Buffer.concat([Buffer.from('\n'), await photoWithPlace()])],
  ];
};

const polyglots = (jpeg: Buffer, png: Buffer): [string, Buffer][] => {
  const zip = Buffer.from(zipSync({ 'a.html': Buffer.from(script) }));
  const behind: [string, Buffer][] = [
    ['html', Buffer.from(script)],
    ['php', Buffer.from(`<?php /*${mark}*/ ?>`)],
    ['zip', zip],
    ['pdf', Buffer.from(`%PDF-1.4\n%${mark}\n1 0 obj<<>>endobj`)],
    ['javascript', Buffer.from(`*/alert("${mark}")`)],
    ['another picture', Buffer.concat([jpeg, Buffer.from(mark)])],
    ['a megabyte', Buffer.concat([Buffer.alloc(1024 * 1024, 'x'), Buffer.from(mark)])],
  ];
  const body = Buffer.from(`${mark} <script>alert(1)</script>`);
  const texts = (type: string) =>
    Buffer.concat([
      png.subarray(0, 33),
      chunk(type, Buffer.concat([Buffer.from('a\0\0'), body])),
      png.subarray(33),
    ]);
  return [
    ...behind.flatMap(([what, more]): [string, Buffer][] => [
      [`jpeg and behind it ${what}`, Buffer.concat([jpeg, more])],
      [`png and behind it ${what}`, Buffer.concat([png, more])],
    ]),
    ['jpeg with a comment of html', jpegWith(jpeg, 0xfe, body)],
    ...Array.from({ length: 16 }, (_, at): [string, Buffer] => [
      `jpeg with html in APP${at}`,
      jpegWith(jpeg, 0xe0 + at, at === 1 ? Buffer.concat([Buffer.from('Exif\0\0'), body]) : body),
    ]),
    ...['tEXt', 'zTXt', 'iTXt', 'eXIf', 'iCCP', 'prVt', 'sPLT'].map((type): [string, Buffer] => [
      `png with html in ${type}`,
      texts(type),
    ]),
    [
      'png with html behind its last chunk but one',
      Buffer.concat([png.subarray(0, -12), chunk('teXt', body), end]),
    ],
  ];
};

const bombs = (jpeg: Buffer): [string, Buffer, boolean][] => [
  ['png of 65535 × 65535', pngOf(65_535, 65_535, false), true],
  ['png of 2147483647 × 2147483647', pngOf(0x7fffffff, 0x7fffffff, false), true],
  ['png of 4294967295 × 1', pngOf(0xffffffff, 1, false), true],
  ['png of 100000 × 1', pngOf(100_000, 1, true), true],
  ['png of 1 × 1000000', pngOf(1, 1_000_000, true), true],
  ['png of 0 × 0', pngOf(0, 0, false), true],
  ['png of 20000 × 20000, all of it', pngOf(20_000, 20_000, true), true],
  ['png of 6400 × 6400, all of it', pngOf(6_400, 6_400, true), true],
  ['png of 6000 × 6000, all of it', pngOf(6_000, 6_000, true), false],
  ['png of 300 × 29000, all of it', pngOf(300, 29_000, true), false],
  ['png that lacks its pixels', pngOf(5_000, 5_000, false), true],
  [
    'png with text of 100 MB',
    pngOf(8, 8, true, [
      chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(100e6), quick)])),
    ]),
    false,
  ],
  [
    'png with a profile of 100 MB',
    pngOf(8, 8, true, [
      chunk('iCCP', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(100e6), quick)])),
    ]),
    false,
  ],
  [
    'png of 50,000 chunks',
    pngOf(
      8,
      8,
      true,
      Array.from({ length: 50_000 }, () => chunk('prVt', Buffer.alloc(1))),
    ),
    false,
  ],
  [
    'png whose chunk says it has 4 GB',
    Buffer.concat([signature, header(8, 8), Buffer.from('ffffffff49444154', 'hex')]),
    true,
  ],
  ['jpeg that says 65500 × 65500', jpegSaying(jpeg, 65_500, 65_500), true],
  ['jpeg that says 0 × 0', jpegSaying(jpeg, 0, 0), true],
  ['jpeg that says 1 × 65500', jpegSaying(jpeg, 1, 65_500), true],
  ['jpeg that says 6300 × 6300', jpegSaying(jpeg, 6_300, 6_300), false],
  ['jpeg of 4 MB of 0xFF', Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(4e6, 0xff)]), true],
  [
    'a byte more than 4 MB',
    Buffer.concat([jpeg, Buffer.alloc(4 * 1024 * 1024 + 1 - jpeg.length)]),
    true,
  ],
  ['12 MB', Buffer.concat([jpeg, Buffer.alloc(12e6)]), true],
];

export const hostileNames = [
  '../../../../etc/passwd',
  '..\\..\\windows\\system32\\a',
  '/etc/passwd',
  'C:\\a',
  '\\\\server\\share\\a',
  planted,
  'a\0.php',
  'a\r\nset-cookie: a=b',
  'a"; filename="b',
  "a'; DROP TABLE files; --",
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '.htaccess',
  '.',
  '..',
  '',
  ' ',
  'CON',
  'a'.repeat(5000),
  '很长的名字'.repeat(500),
  'a/../../b',
  '%2e%2e%2f%2e%2e%2fa',
  '..%c0%af..%c0%afa',
  'a\u202Egnp.exe',
  '\uFEFFa',
  '\u2028a',
  'a?size=128#b',
  '__proto__',
  '${jndi:ldap://127.0.0.1/a}',
  '{{7*7}}',
  '`id`',
  '$(id)',
  '|id',
];

const documentOf = (inside: string, before = ''): string =>
  wordXml([]).replace('<w:body>', `<w:body>${inside}`).replace('?><w', `?>${before}<w`);

/** A zip of large files, packed quickly; `told` is what it says of the size of each. */
const largeZip = (files: Record<string, Uint8Array>, told?: number): Buffer => {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of Object.entries(files)) {
    const packed = deflateRawSync(data, quick);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(told ?? data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    centrals.push(Buffer.from('PK\x01\x02\x14\0'), fields, place, Buffer.from(name));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(locals.length, 4);
  tail.writeUInt16LE(locals.length, 6);
  tail.writeUInt32LE(central.length, 8);
  tail.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), tail]);
};

const wordFiles = (): [string, Buffer, boolean][] => {
  const good = docxOf(wordXml(['好的']));
  const zeros = Buffer.alloc(70e6);
  const laughs = Array.from(
    { length: 12 },
    (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`,
  ).join('');
  const many: Zippable = {};
  for (let at = 0; at < 20_000; at += 1) many[`word/a${at}.xml`] = new Uint8Array(1);
  const xml = (what: string, before: string): [string, Buffer, boolean] => [
    what,
    docxOf(documentOf('<w:p><w:r><w:t>&x;</w:t></w:r></w:p>', before)),
    false,
  ];
  return [
    [
      'docx of 70 MB in one part',
      largeZip(docxFiles(wordXml([]), { 'word/document.xml': zeros })),
      true,
    ],
    [
      'docx of 70 MB in a part that nobody needs',
      largeZip(docxFiles(wordXml(['好']), { 'media/a.bin': zeros })),
      false,
    ],
    ['docx that lies about its size', largeZip({ 'word/document.xml': zeros }, 1000), true],
    ['docx of 20,000 parts', docxOf(wordXml(['好']), many as Record<string, Uint8Array>), false],
    [
      'docx of parts outside',
      docxOf(wordXml(['好']), {
        '../../../tmp/queqiao-was-here': Buffer.from('x'),
        [planted]: Buffer.from('x'),
      }),
      false,
    ],
    ['docx in a docx', docxOf(good.toString('latin1')), true],
    xml('docx with a file as an entity', '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    xml(
      'docx with an address as an entity',
      '<!DOCTYPE d [<!ENTITY x SYSTEM "http://127.0.0.1:9/">]>',
    ),
    xml(
      'docx with entities of parameters',
      '<!DOCTYPE d [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;<!ENTITY x "1">]>',
    ),
    xml('docx with a DTD from outside', '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/a.dtd">'),
    xml(
      'docx with a billion laughs',
      `<!DOCTYPE d [<!ENTITY l0 "lol">${laughs}<!ENTITY x "&l12;">]>`,
    ),
    [
      'docx 200,000 elements deep',
      docxOf(documentOf(`${'<w:p>'.repeat(2e5)}${'</w:p>'.repeat(2e5)}`)),
      false,
    ],
    ['docx of 300,000 paragraphs', docxOf(documentOf('<w:p/>'.repeat(3e5))), false],
    ['docx without a document', Buffer.from(zipSync({ 'a.xml': Buffer.from('a') })), true],
    ['docx whose document is no xml', docxOf('\0\x01\x02'), true],
    ['docx that is a zip of nothing', Buffer.from(zipSync({})), true],
    ['docx that ends early', good.subarray(0, good.length - 30), true],
    ['docx that is its end alone', good.subarray(-30), true],
  ];
};

const pdf = (objects: string[], trailer = '/Root 1 0 R'): Buffer =>
  Buffer.from(
    `%PDF-1.7\n${objects.map((body, at) => `${at + 1} 0 obj\n${body}\nendobj\n`).join('')}trailer\n<</Size ${objects.length + 1} ${trailer}>>\n%%EOF`,
    'latin1',
  );
const stream = (body: Buffer, dictionary = ''): string =>
  `<<${dictionary}/Length ${body.length}>>\nstream\n${body.toString('latin1')}\nendstream`;
const onePage = (content: string, more: string[] = [], page = ''): Buffer =>
  pdf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>${page}>>`,
    content,
    ...more,
  ]);
const written = (text: string) => stream(Buffer.from(`BT /F 12 Tf (${text}) Tj ET`));

/** A PDF of some 10 KB that takes far longer to read than anybody may. */
export const slowPdf = (): Buffer => {
  const text = Buffer.alloc(60e6, 'BT /F 1 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n');
  const packed = deflateSync(deflateSync(text, quick));
  return onePage(stream(packed, '/Filter[/FlateDecode/FlateDecode]'));
};

const pdfFiles = (): [string, Buffer, boolean][] => [
  [
    'pdf with JavaScript',
    pdf([
      `<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL\\("file://${planted}"\\))>>/AA<</WC<</S/Launch/F(touch ${planted})>>>>>>`,
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      '<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>',
      written('hello'),
    ]),
    false,
  ],
  ['pdf 200,000 arrays deep', onePage(`${'['.repeat(2e5)}${']'.repeat(2e5)}`), true],
  ['pdf 200,000 dictionaries deep', onePage(`${'<</A'.repeat(2e5)} 1${'>>'.repeat(2e5)}`), true],
  [
    'pdf whose pages hold themselves',
    pdf(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>']),
    true,
  ],
  [
    'pdf that says it has two billion pages',
    pdf(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[]/Count 2147483647>>']),
    true,
  ],
  [
    'pdf of 50,000 times the same page',
    pdf([
      '<</Type/Catalog/Pages 2 0 R>>',
      `<</Type/Pages/Kids[${'3 0 R '.repeat(5e4)}]/Count 50000>>`,
      '<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>',
      written('again '),
    ]),
    false,
  ],
  [
    'pdf with a stream of 300 MB',
    onePage(
      stream(
        deflateSync(deflateSync(Buffer.alloc(300e6, 'q '), quick)),
        '/Filter[/FlateDecode/FlateDecode]',
      ),
    ),
    true,
  ],
  [
    'pdf with a text of 60 MB',
    onePage(
      stream(
        deflateSync(
          Buffer.alloc(60e6, 'BT /F 1 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n'),
          quick,
        ),
        '/Filter/FlateDecode',
      ),
    ),
    false,
  ],
  [
    'pdf packed 200 times',
    onePage(stream(Buffer.alloc(100), `/Filter[${'/FlateDecode'.repeat(200)}]`)),
    true,
  ],
  [
    'pdf whose form draws itself',
    onePage(stream(Buffer.from('/X Do')), [], '/Resources<</XObject<</X 4 0 R>>>>'),
    true,
  ],
  ['pdf whose length is another’s', onePage('<</Length 4 0 R>>\nstream\nq\nendstream'), true],
  [
    'pdf whose table comes before itself',
    Buffer.from(
      '%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer<</Size 1/Prev 9/Root 1 0 R>>\nstartxref\n9\n%%EOF',
    ),
    true,
  ],
  [
    'pdf that is locked',
    pdf(
      ['<</Type/Catalog>>'],
      '/Root 1 0 R/Encrypt<</Filter/Standard/V 4/R 4/O(a)/U(b)/P -1>>/ID[(a)(b)]',
    ),
    true,
  ],
  ['pdf that is its first line', Buffer.from('%PDF-1.7'), true],
  [
    'pdf of 2 MB of nothing',
    Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(2e6, '1 0 obj ')]),
    true,
  ],
  [
    'pdf of 2 MB of brackets',
    Buffer.concat([Buffer.from('%PDF-1.7\n1 0 obj\n'), Buffer.alloc(2e6, '(')]),
    true,
  ],
];

const textFiles = (): [string, string, Buffer | string, boolean][] => [
  [
    'a program as txt',
    'a.txt',
    Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(500)]),
    true,
  ],
  ['a picture as md', 'a.md', pngOf(8, 8, true), true],
  ['a zip as csv', 'a.csv', Buffer.from(zipSync({ a: Buffer.from('a') })), true],
  ['noise as json', 'a.json', flipped(Buffer.alloc(5000), 7, 50_000), true],
  ['NULs', 'a.txt', '\0'.repeat(1000), true],
  ['a NUL in a text', 'a.txt', `文字\0${'文字'.repeat(100)}`, true],
  ['nothing', 'a.txt', '', true],
  ['spaces', 'a.txt', ' \n'.repeat(1000), true],
  ['a mark alone', 'a.txt', Buffer.from('fffe', 'hex'), true],
  ['half a character', 'a.txt', Buffer.from('fffe41', 'hex'), true],
  ['lone halves of pairs', 'a.txt', Buffer.from('fffe00d800d800dc41004200', 'hex'), true],
  ['10 MB of lines', 'a.txt', '\n'.repeat(1e7) + 'a', false],
  ['one line of 10 MB', 'a.txt', 'a'.repeat(1e7), false],
  ['a byte more than 10 MB', 'a.txt', 'a'.repeat(10 * 1024 * 1024 + 1), true],
  ['json 1,000,000 deep', 'a.json', '['.repeat(1e6), false],
  ['a page with a script', 'a.html', script, false],
  ['a formula', 'a.csv', `=cmd|'/C calc'!A0,${mark}`, false],
  ['turned directions', 'a.md', '\u202E'.repeat(1000), false],
  ['an unknown kind', 'a.xyz', 'text', true],
  ['a program by name', 'a.exe', 'text', true],
  ['no ending', 'abc', 'text', true],
  ['a presentation', 'a.pptx', docxOf(wordXml(['好'])), true],
];

/** More than 200 files that want to harm whoever opens them. */
export const hostileFiles = async (): Promise<HostileFile[]> => {
  const files: HostileFile[] = [];
  const add = (
    call: HostileFile['call'],
    what: string,
    name: string,
    mime: string,
    data: Buffer | string,
    refused: boolean,
  ) => files.push({ call, what, name, mime, data: Buffer.from(data), refused });

  const jpeg = await photoWithPlace();
  const png = await glassPng();
  const larger = await noise(60, 60);
  const largerPng = await noise(40, 40, 'png');
  for (const [what, data] of await notImages()) {
    add('uploadImage', `${what} as png`, 'a.png', 'image/png', data, true);
    add('uploadImage', `${what} as jpg`, 'a.jpg', 'image/jpeg', data, true);
  }
  for (const [what, data] of polyglots(jpeg, png))
    add('uploadImage', what, 'a.png.html', 'text/html', data, false);
  for (const [what, data, refused] of bombs(larger))
    add('uploadImage', what, 'a.png', 'image/png', data, refused);
  for (let part = 1; part < 20; part += 1) {
    const cut = (data: Buffer) => data.subarray(0, Math.floor((data.length * part) / 20));
    add('uploadImage', `${part * 5} % of a jpeg`, 'a.jpg', 'image/jpeg', cut(larger), true);
    add('uploadImage', `${part * 5} % of a png`, 'a.png', 'image/png', cut(largerPng), true);
  }
  for (let seed = 1; seed <= 30; seed += 1) {
    const flips = 1 + (seed % 10) * 5;
    add(
      'uploadImage',
      `jpeg flipped by ${seed}`,
      'a.jpg',
      'image/jpeg',
      flipped(larger, seed, flips),
      false,
    );
    add(
      'uploadImage',
      `png flipped by ${seed}`,
      'a.png',
      'image/png',
      flipped(largerPng, seed, flips),
      false,
    );
  }
  for (const [what, data, refused] of wordFiles())
    add('uploadFile', what, 'a.docx', 'application/octet-stream', data, refused);
  for (const [what, data, refused] of pdfFiles())
    add('uploadFile', what, 'a.pdf', 'application/pdf', data, refused);
  const goodPdf = await pdfOf(['床前明月光', '疑是地上霜']);
  for (let seed = 1; seed <= 4; seed += 1) {
    add(
      'uploadFile',
      `pdf flipped by ${seed}`,
      'a.pdf',
      'application/pdf',
      flipped(goodPdf, seed, seed * 20),
      false,
    );
    add(
      'uploadFile',
      `${seed * 22} % of a pdf`,
      'a.pdf',
      'application/pdf',
      goodPdf.subarray(0, (goodPdf.length * seed * 22) / 100),
      false,
    );
  }
  for (const [what, name, data, refused] of textFiles())
    add('uploadFile', what, name, 'text/plain', data, refused);
  for (const name of hostileNames) {
    add(
      'uploadImage',
      `a picture named ${JSON.stringify(name.slice(0, 40))}`,
      name,
      'image/png',
      png,
      false,
    );
    add(
      'uploadFile',
      `a text named ${JSON.stringify(name.slice(0, 40))}`,
      `${name}.txt`,
      'text/plain',
      '文字',
      false,
    );
  }
  return files;
};
