import { createPortal } from 'react-dom';
import { useStore } from '#src/platform/store.ts';
import { Icon } from './icon.tsx';
import { veils } from './modal.ts';

/** How high it is, for what covers the whole window. */
const tellHeight = (banner: HTMLElement | null) => {
  if (banner) document.documentElement.style.setProperty('--line-over', `${banner.offsetHeight}px`);
};

/** What is said of the line, above whatever covers the page; the page keeps its place meanwhile. */
export const LineBanner = ({
  className,
  text,
  more = '',
}: {
  className: string;
  text: string;
  /** What follows on the page alone. */
  more?: string;
}) => {
  const covered = useStore(veils) > 0;
  if (!covered)
    return (
      <p className={className} role="status" data-banner>
        <Icon name="offline" size={16} />
        {text + more}
      </p>
    );
  return (
    <>
      <p className={className} data-place-of={text + more} />
      {createPortal(
        <p className="line-over" role="status" data-banner ref={(banner) => tellHeight(banner)}>
          <Icon name="offline" size={16} />
          {text}
        </p>,
        document.body,
      )}
    </>
  );
};
