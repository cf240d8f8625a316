import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { fromXmlText, toXmlText } from '#server/xml-text.ts';
import { type Aigc, aigcText, readAigc } from './aigc.ts';

/** The label in Word files: a property AIGC of docProps/custom.xml. */

const part = 'docProps/custom.xml';
const customType = 'application/vnd.openxmlformats-officedocument.custom-properties+xml';
const relation =
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships/custom-properties';

/** The properties of the file itself, and the label among them. */
const propertiesWith = (before: string | undefined, text: string): string => {
  const ids = [...(before ?? '').matchAll(/\bpid="(\d{1,9})"/g)].map(([, id]) => Number(id));
  const property = `<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="${Math.max(1, ...ids) + 1}" name="AIGC"><vt:lpwstr xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">${toXmlText(text)}</vt:lpwstr></property>`;
  if (before?.includes('</Properties>'))
    return before
      .replace(/<property [^>]*name="AIGC"[^>]*>.*?<\/property>/s, '')
      .replace('</Properties>', `${property}</Properties>`);
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties">${property}</Properties>`;
};

const body = 'word/document.xml';

/** A document with a last paragraph; as it was where its end is not to be found. */
const withLast = (document: string, words: string): string => {
  const end = document.lastIndexOf('</w:body>');
  if (end < 0) return document;
  // The shape of its last pages is what a body ends with.
  const shape = document.lastIndexOf('<w:sectPr', end);
  const at = shape > document.lastIndexOf('</w:p>', end) ? shape : end;
  const paragraph = `<w:p><w:r><w:t>${toXmlText(words)}</w:t></w:r></w:p>`;
  return document.slice(0, at) + paragraph + document.slice(at);
};

/**
 * A Word file of our own making with a label, and with words below its text where there are some.
 * @throws Error: no zip
 */
export const labelledDocx = (data: Uint8Array, label: Aigc, words = ''): Uint8Array => {
  const parts = unzipSync(data);
  const textOf = (name: string) => (parts[name] ? strFromU8(parts[name]) : undefined);
  const text = textOf(body);
  if (words !== '' && text !== undefined) parts[body] = strToU8(withLast(text, words));
  const types = textOf('[Content_Types].xml') ?? '';
  const relations = textOf('_rels/.rels') ?? '';
  parts[part] = strToU8(propertiesWith(textOf(part), aigcText(label)));
  if (!types.includes(`/${part}`))
    parts['[Content_Types].xml'] = strToU8(
      types.replace(
        '</Types>',
        `<Override PartName="/${part}" ContentType="${customType}"/></Types>`,
      ),
    );
  if (!relations.includes(relation))
    parts['_rels/.rels'] = strToU8(
      relations.replace(
        '</Relationships>',
        `<Relationship Id="rIdAigc" Type="${relation}" Target="${part}"/></Relationships>`,
      ),
    );
  return zipSync(parts, { level: 6 });
};

/** The label of a Word file; null: there is none. @throws Error: no zip */
export const readDocxLabel = (data: Uint8Array): Aigc | null => {
  const found = unzipSync(data, { filter: ({ name }) => name === part })[part];
  const [, text] =
    /name="AIGC"[^>]*>\s*<vt:lpwstr[^>]*>([^<]*)</.exec(found ? strFromU8(found) : '') ?? [];
  return text === undefined ? null : readAigc(fromXmlText(text));
};
