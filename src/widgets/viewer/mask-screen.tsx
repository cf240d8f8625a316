import { useRef, useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useModal } from '#src/ui/modal.ts';
import type { ViewedImage } from './image-viewer-props.ts';
import type { Mask } from './mask.ts';
import { MaskStage, MaskTools, usualThickness, type MaskTool } from './mask-editor.tsx';
import { mayDiscard, useMask } from './use-mask.ts';
import styles from './viewer.module.css';

/** Over the whole screen: a part of an image is marked, and below it said what becomes of it. */
export const MaskScreen = ({
  title,
  image,
  onClose,
  children,
}: {
  title: string;
  image: ViewedImage;
  onClose: () => void;
  /** What stands below the tools; it is given what was marked. */
  children: (mask: Mask) => ReactNode;
}) => {
  const box = useRef<HTMLDivElement>(null);
  const history = useMask(image);
  const { mask, change } = history;
  const [tool, setTool] = useState<MaskTool>('brush');
  const [thick, setThick] = useState<number>(usualThickness);
  const leave = async () => {
    if (await mayDiscard(mask, image)) onClose();
  };
  useModal(true, () => void leave(), box);
  return createPortal(
    <div
      className={styles['viewer']}
      data-whole-window
      data-night
      role="dialog"
      aria-modal="true"
      aria-label={title}
      tabIndex={-1}
      ref={box}
    >
      <div className={styles['top']}>
        <Button kind="ghost" size="icon" aria-label="返回" onClick={() => void leave()}>
          <Icon name="back" size={24} />
        </Button>
        <h2>{title}</h2>
      </div>
      <MaskStage image={image} mask={mask} tool={tool} thick={thick} onChange={change} />
      <div className={styles['panel']}>
        <MaskTools
          history={history}
          tool={tool}
          thick={thick}
          onTool={setTool}
          onThick={setThick}
        />
        {children(mask)}
      </div>
    </div>,
    document.body,
  );
};
