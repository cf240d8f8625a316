import type { imageIdeas } from '#contract/image-ideas.ts';
import { Chip, Tag } from '#src/ui/chip.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import type { ReactNode } from 'react';
import css from './empty-place.module.css';
import { useTryExample } from './try-example.ts';

interface Example {
  label: string;
  /** Words for the box of home; else what the press does. */
  prompt?: string;
  draws?: boolean;
  onTry?: () => void;
}

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
  drawing: (typeof imageIdeas)[number]['name'];
  text: string;
  action?: ReactNode;
  example?: Example;
}) => {
  const tryIt = useTryExample();
  return (
    <EmptyState
      image={
        <img
          className={css.drawing}
          src={`/samples/idea-${drawing}.webp`}
          width={480}
          height={270}
          alt=""
          loading="lazy"
          decoding="async"
        />
      }
      text={text}
      action={
        <>
          {action}
          {example && (
            <div className={css.example}>
              <Chip
                onClick={() =>
                  (example.onTry ?? (() => tryIt(example.prompt ?? '', example.draws)))()
                }
              >
                <Tag>示例</Tag>
                {example.label}
              </Chip>
            </div>
          )}
        </>
      }
    />
  );
};
