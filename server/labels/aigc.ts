import { fromXmlText, toXmlText } from '#server/xml-text.ts';

/**
 * The implicit label of GB 45438-2025: a field `AIGC` in the metadata of a file, as JSON. How each
 * container holds it is what the practice guides of TC260 say.
 */
export interface Aigc {
  /** 1: made by a model; 2: may be; 3: is suspected to be. */
  Label: '1' | '2' | '3';
  /** The code of whoever made it, and what they call this piece of content. */
  ContentProducer: string;
  ProduceID: string;
  ReservedCode1: string;
  /** The code of whoever spread it, and what they call it. */
  ContentPropagator: string;
  PropagateID: string;
  ReservedCode2: string;
}

const fields = [
  'Label',
  'ContentProducer',
  'ProduceID',
  'ReservedCode1',
  'ContentPropagator',
  'PropagateID',
  'ReservedCode2',
] as const satisfies readonly (keyof Aigc)[];

/** Letters of one field of somebody else's label that are kept; the reserved ones hold signatures. */
const mostLetters = 512;
/** Letters of metadata that are looked through for a label. */
const mostLooked = 256 * 1024;

export const aigcNamespace = 'http://www.tc260.org.cn/ns/AIGC/1.0/';
export const madeByModel = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';

export const aigcText = (label: Aigc): string =>
  JSON.stringify(Object.fromEntries(fields.map((name) => [name, label[name]])));

const asciiOf = (value: unknown): string =>
  (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
    .replaceAll(/[^!#-[\]-~]/g, '')
    .slice(0, mostLetters);

/** The label in such a text, as far as it may be kept; null: there is none. */
export const readAigc = (text: string): Aigc | null => {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  // Some makers put the object into one more of the field's name.
  const root = given as { AIGC?: unknown } | null;
  const found = (typeof root === 'object' && root?.AIGC) || root;
  if (typeof found !== 'object' || found === null) return null;
  const label = Object.fromEntries(
    fields.map((name) => [name, asciiOf((found as Record<string, unknown>)[name])]),
  ) as unknown as Record<keyof Aigc, string>;
  if (label.Label === '1' || label.Label === '2' || label.Label === '3') return label as Aigc;
  return null;
};

/** What stands in XMP: the label and, of what a model made, the word of IPTC for that. */
export const aigcDescription = (label: Aigc): string => {
  const source =
    label.Label === '1'
      ? `<Iptc4xmpExt:DigitalSourceType>${madeByModel}</Iptc4xmpExt:DigitalSourceType>`
      : '';
  return `<rdf:Description rdf:about="" xmlns:TC260="${aigcNamespace}" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"><TC260:AIGC>${toXmlText(aigcText(label))}</TC260:AIGC>${source}</rdf:Description>`;
};

/** XMP with nothing else. */
export const aigcXmp = (label: Aigc): string =>
  `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${aigcDescription(label)}</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;

/** The label in XMP, as an element or an attribute; null: there is none. */
export const readAigcXmp = (xmp: string): Aigc | null => {
  const [, element, attribute] =
    /<[\w-]{1,40}:AIGC(?:\s[^<>]{0,200})?>([^<]{1,8192})<\/|\s[\w-]{1,40}:AIGC\s?=\s?["']([^"'<]{1,8192})["']/.exec(
      xmp.slice(0, mostLooked),
    ) ?? [];
  const text = element ?? attribute;
  return text === undefined ? null : readAigc(fromXmlText(text));
};

/** Whether metadata says, in the words of IPTC or of well-known makers, that a model made it. */
export const saysModel = (text: string): boolean =>
  /trainedAlgorithmicMedia|compositeWithTrainedAlgorithmicMedia|algorithmicMedia/i.test(
    text.slice(0, mostLooked),
  );
