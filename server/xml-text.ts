/** Text within XML and HTML. */

/** As it stands in an element or a quoted attribute; what XML 1.0 has no way to write is left out. */
export const toXmlText = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** The text that was meant; entities of other names stay as they are. */
export const fromXmlText = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, ten, hex, name) => {
    const code = ten ? Number(ten) : hex ? Number.parseInt(hex as string, 16) : null;
    if (code !== null) return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : '';
    return entities[String(name)] ?? whole;
  });
