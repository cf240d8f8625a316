import type { imageIdeas } from '#contract/image-ideas.ts';
import { Chip, Tag } from '#src/ui/chip.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import type { ComponentProps, ReactNode } from 'react';
import css from './empty-place.module.css';
import { useTryExample } from './try-example.ts';

interface Example {
  label: string;
  /** Words for the box of home; else what the press does. */
  prompt?: string;
  draws?: boolean;
  onTry?: () => void;
}

const TryOne = ({ example }: { example: Example }) => {
  const tryIt = useTryExample();
  return (
    <div className={css.example}>
      <Chip onClick={() => (example.onTry ?? (() => tryIt(example.prompt ?? '', example.draws)))()}>
        <Tag>示例</Tag>
        {example.label}
      </Chip>
    </div>
  );
};

type Drawn = (typeof imageIdeas)[number]['name'];

/** What stands in an empty place: a table without lines takes it as well. */
export const emptyPlace = (
  drawing: Drawn,
  text: string,
  action?: ReactNode,
  example?: Example,
): ComponentProps<typeof EmptyState> => ({
  image: (
    <img
      className={css.drawing}
      src={`/samples/idea-${drawing}.webp`}
      width={480}
      height={270}
      alt=""
      loading="lazy"
      decoding="async"
    />
  ),
  text,
  action: (
    <>
      {action}
      {example && <TryOne example={example} />}
    </>
  ),
});

/**
 * An area that holds nothing yet: a drawing of the built-in canvas, what will be there, one act, and
 * one example to try, which makes nothing before it is sent.
 */
export const EmptyPlace = ({
  drawing,
  text,
  action,
  example,
}: {
  drawing: Drawn;
  text: string;
  action?: ReactNode;
  example?: Example;
}) => <EmptyState {...emptyPlace(drawing, text, action, example)} />;
