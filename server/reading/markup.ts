import { Parser } from 'htmlparser2';
import { Unwanted } from './block.ts';

/** Nothing that people write is nested deeper. */
const deepest = 500;

export interface Walker {
  open: (name: string, attributes: Readonly<Record<string, string>>) => void;
  close?: (name: string) => void;
  text?: (text: string) => void;
}

const walk = (source: string, walker: Walker, xmlMode: boolean): void => {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        if (depth > deepest) throw new Unwanted('文件太复杂，无法读取');
        walker.open(name, attributes);
      },
      onclosetag: (name) => {
        depth -= 1;
        walker.close?.(name);
      },
      ontext: (text) => walker.text?.(text),
    },
    { xmlMode, decodeEntities: true },
  );
  parser.write(source);
  parser.end();
};

/** Goes through a part that is XML. No entity but those of XML itself is known: none can swell. */
export const walkXml = (part: Uint8Array | undefined, walker: Walker): void => {
  if (part) walk(new TextDecoder().decode(part), walker, true);
};

export const walkHtml = (source: string, walker: Walker): void => walk(source, walker, false);

/** The name behind its prefix: `w:p` and `p` are the same. */
export const bare = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Where the links of an Office part lead, by their ids. */
export const linksOf = (
  part: Uint8Array | undefined,
): Map<string, { target: string; type: string }> => {
  const links = new Map<string, { target: string; type: string }>();
  walkXml(part, {
    open: (name, { Id: id = '', Target: target = '', Type: type = '' }) => {
      if (bare(name) === 'Relationship')
        links.set(id, { target, type: type.slice(type.lastIndexOf('/') + 1) });
    },
  });
  return links;
};
