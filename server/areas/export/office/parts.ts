import { strToU8, zipSync } from 'fflate';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export const relations = officeRelations;
export const drawingNames = 'http://schemas.openxmlformats.org/drawingml/2006/main';

/** Relations of a part: id to kind and target. */
export const relationsOf = (list: readonly { id: string; kind: string; target: string }[]) =>
  `<Relationships xmlns="${packages}/relationships">${list
    .map(
      ({ id, kind, target }) =>
        `<Relationship Id="${id}" Type="${officeRelations}/${kind}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`;

/**
 * A file of Office: its parts by their names, with the list of their kinds.
 * @param types content types by part, without `application/vnd.openxmlformats-officedocument.`
 */
export const officeFile = (
  main: string,
  types: Readonly<Record<string, string>>,
  parts: Readonly<Record<string, string>>,
): Uint8Array => {
  const overrides = Object.entries(types).map(
    ([name, type]) =>
      `<Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  );
  const all = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`,
    '_rels/.rels': relationsOf([{ id: 'rId1', kind: 'officeDocument', target: main }]),
    ...parts,
  };
  return zipSync(
    Object.fromEntries(
      Object.entries(all).map(([name, text]) => [
        name,
        strToU8(text.startsWith('<?xml') ? text : head + text),
      ]),
    ),
    { level: 6 },
  );
};
