import { memo, useRef } from 'react';
import { MarkdownDocument, type Block } from './document.ts';
import { BlockView } from './render.tsx';
import './markdown.css';

const blocksAGroup = 24;

/** Blocks in groups: a text that grows renders its last group again and compares the others once. */
const Group = memo(function Group({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, at) => <BlockView key={at} block={block} />);
});

export const BlocksView = ({ groups }: { groups: readonly (readonly Block[])[] }) => (
  <div className="markdown">
    {groups.map((blocks, at) => (
      <Group key={at} blocks={blocks} />
    ))}
  </div>
);

interface Parsed {
  text: string;
  document: MarkdownDocument;
  groups: (readonly Block[])[];
  grouped: number;
  revision: number;
  ended: boolean;
}

const start = (): Parsed => ({
  text: '',
  document: new MarkdownDocument(),
  groups: [],
  grouped: 0,
  revision: 0,
  ended: false,
});

/** Reads what is new in the text; a text that is not the former one with more behind it begins anew. */
const advance = (before: Parsed | null, text: string, streaming: boolean): Parsed => {
  const goesOn = before !== null && !before.ended && text.startsWith(before.text);
  if (before !== null && before.ended && before.text === text && !streaming) return before;
  const parsed = goesOn ? before : start();
  parsed.document.append(text.slice(parsed.text.length));
  parsed.text = text;
  if (!streaming) {
    parsed.document.end();
    parsed.ended = true;
  }
  return parsed;
};

const group = (parsed: Parsed): readonly (readonly Block[])[] => {
  const { document } = parsed;
  if (parsed.revision !== document.revision) {
    parsed.groups = [];
    parsed.grouped = 0;
    parsed.revision = document.revision;
  }
  while (document.blocks.length - parsed.grouped >= blocksAGroup) {
    parsed.groups.push(document.blocks.slice(parsed.grouped, parsed.grouped + blocksAGroup));
    parsed.grouped += blocksAGroup;
  }
  const last = document.blocks.slice(parsed.grouped);
  const { open } = document;
  return [...parsed.groups, open ? [...last, open] : last];
};

/** People's or a model's Markdown. `streaming`: more of the text will come. */
export const Markdown = ({ text, streaming = false }: { text: string; streaming?: boolean }) => {
  // A cache of what was already read; the same text gives the same blocks whatever it held before.
  const parsed = useRef<Parsed | null>(null);
  parsed.current = advance(parsed.current, text, streaming);
  return <BlocksView groups={group(parsed.current)} />;
};
