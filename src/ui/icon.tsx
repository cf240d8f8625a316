import { iconPaths, type IconName } from './icon-paths.ts';

export type { IconName } from './icon-paths.ts';

/** Paths on a 24 × 24 ground, drawn with a stroke of 1.75. */

/** Draws a path of a 24 × 24 ground: for the icons of parts that load later. */
export const PathIcon = ({
  path,
  size = 20,
  kind = '',
}: {
  path: string;
  /** px. */
  size?: number;
  /** full: its inside, too; bold: a wider stroke. */
  kind?: '' | 'full' | 'bold';
}) => (
  // How it is drawn is the style sheet's: a list has hundreds, and each attribute costs.
  <svg
    className={kind === '' ? 'icon' : `icon icon-${kind}`}
    width={size}
    height={size}
    viewBox="0 0 24 24"
    aria-hidden="true"
  >
    <path d={path} />
  </svg>
);

/** An image beside words, or inside a control that has a name of its own: always hidden from readers. */
export const Icon = ({ name, size = 20 }: { name: IconName; size?: number }) => (
  <PathIcon
    path={iconPaths[name]}
    size={size}
    kind={name === 'more' ? 'bold' : name === 'stop' ? 'full' : ''}
  />
);
