import type { ReactNode } from 'react';
import { Icon } from '#src/ui/icon.tsx';
import { isForeign } from './foreign-image.tsx';
import { smallImage } from './image-sources.ts';
import kitCss from '#src/widgets/composer/send-kit.module.css';
import drawCss from './image-session.module.css';

/** What goes along with the next thing that is made: pressed it is changed, and it can be taken away. */
export const AlongChip = ({
  image,
  change,
  without,
  onChange,
  onRemove,
  children,
}: {
  /** Left out: words alone, as long as the line has room. */
  image?: string;
  /** Names of its two buttons. */
  change: string;
  without: string;
  onChange: () => void;
  onRemove: () => void;
  children: ReactNode;
}) => (
  <span
    className={`${kitCss.sendChip} ${drawCss.drawBase}${image === undefined ? ` ${drawCss.drawSticky}` : ''}`}
  >
    <button type="button" className={drawCss.drawBaseView} aria-label={change} onClick={onChange}>
      {image !== undefined && !isForeign(image) && <img src={smallImage(image, 128)} alt="" />}
      {children}
    </button>
    <button type="button" aria-label={without} onClick={onRemove}>
      <Icon name="close" size={14} />
    </button>
  </span>
);
