import { memo, useMemo } from 'react';
import { blocksOf, type Block } from '#common/markdown/document.ts';
import { BlockView } from './render.tsx';
import css from './markdown.module.css';

const blocksAGroup = 24;

/** Blocks in groups: a text that grows renders its last group again and compares the others once. */
const Group = memo(function Group({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, at) => <BlockView key={at} block={block} />);
});

/** `last`: nothing of the same text follows below. */
export const BlocksView = ({
  groups,
  last = true,
}: {
  groups: readonly (readonly Block[])[];
  last?: boolean;
}) => (
  <div className={last ? `${css.markdown} ${css.markdownLast}` : css.markdown}>
    {groups.map((blocks, at) => (
      <Group key={at} blocks={blocks} />
    ))}
  </div>
);

const groupsOf = (blocks: readonly Block[]): (readonly Block[])[] => {
  const groups: (readonly Block[])[] = [];
  for (let at = 0; at < blocks.length; at += blocksAGroup)
    groups.push(blocks.slice(at, at + blocksAGroup));
  return groups;
};

/** People's or a model's Markdown that is whole. */
export const Markdown = ({ text }: { text: string }) => {
  const groups = useMemo(() => groupsOf(blocksOf(text)), [text]);
  return <BlocksView groups={groups} />;
};
