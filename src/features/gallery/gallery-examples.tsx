import { useTryExample } from '#src/widgets/empty-place/try-example.ts';
import { ImageIdeas } from '#src/widgets/image/image-ideas.tsx';
import type { ReactNode } from 'react';
import styles from './gallery.module.css';

/**
 * What stands in the galleries until somebody publishes an image: drawings of the built-in canvas.
 * They are no images of anybody: there is nothing to like, and a press only takes their words along.
 */
export const GalleryExamples = ({ action }: { action: ReactNode }) => {
  const tryIt = useTryExample();
  return (
    <section className={styles['examples']} aria-label="示例">
      <p>
        还没有人公开图片。下面是内置画板画的示例，点一张，用它的提示词画自己的；有了第一张公开的图片，它们就不再出现。
      </p>
      {action}
      <ImageIdeas mark="示例" onChoose={(prompt) => tryIt(prompt, true)} />
    </section>
  );
};
