const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  times: '×',
  divide: '÷',
  plusmn: '±',
  deg: '°',
  middot: '·',
  bull: '•',
  larr: '←',
  rarr: '→',
  uarr: '↑',
  darr: '↓',
  le: '≤',
  ge: '≥',
  ne: '≠',
  yen: '¥',
  euro: '€',
  ensp: '\u2002',
  emsp: '\u2003',
};

/** The characters that entities stand for; what is unknown stays as it is written. */
export const decodeEntities = (text: string): string =>
  text.includes('&')
    ? text.replace(
        /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
        (raw, decimal, hex, name) => {
          if (typeof name === 'string') return named[name] ?? raw;
          const code = decimal ? Number(decimal) : Number.parseInt(String(hex), 16);
          const shown = code > 0x1f && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
          return shown || code === 10 ? String.fromCodePoint(code) : '\ufffd';
        },
      )
    : text;
