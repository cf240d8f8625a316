/** Paths on a 24 × 24 ground, drawn with a stroke of 1.75. */
const paths = {
  chat: 'M12 4c-4.7 0-8.5 3.2-8.5 7.2 0 2.2 1.2 4.2 3 5.5L6 20l3.6-1.9c.8.2 1.6.3 2.4.3 4.7 0 8.5-3.2 8.5-7.2S16.7 4 12 4Z',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M15.5 4.3a3.5 3.5 0 0 1 0 6.4M17.5 14.4c2.4.8 4 2.8 4 5.6',
  plus: 'M12 5v14M5 12h14',
  help: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM9.6 9.4a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.2 1-1.2 1.8M12 16.6v.1',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c0-4 3.3-6.5 7.5-6.5s7.5 2.5 7.5 6.5',
  send: 'M12 19V5M5.5 11.5 12 5l6.5 6.5',
  stop: 'M8 7h8a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1Z',
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  down: 'M6 9l6 6 6-6',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17.5 19.5 7',
  copy: 'M9 9h9a1.5 1.5 0 0 1 1.5 1.5v9A1.5 1.5 0 0 1 18 21H9a1.5 1.5 0 0 1-1.5-1.5v-9A1.5 1.5 0 0 1 9 9ZM16 9V4.5A1.5 1.5 0 0 0 14.5 3h-9A1.5 1.5 0 0 0 4 4.5v9A1.5 1.5 0 0 0 5.5 15h2',
  retry: 'M20 12a8 8 0 1 1-2.5-5.8M20 3.5V8h-4.5',
  trash:
    'M4.5 7h15M9.5 7V4.5h5V7M6.5 7l.8 12a1.5 1.5 0 0 0 1.5 1.4h6.4a1.5 1.5 0 0 0 1.5-1.4l.8-12M10 11v5.5M14 11v5.5',
  lock: 'M7 10.5h10a1.5 1.5 0 0 1 1.5 1.5v7a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19v-7A1.5 1.5 0 0 1 7 10.5ZM8 10.5V8a4 4 0 0 1 8 0v2.5',
  unlock:
    'M7 10.5h10a1.5 1.5 0 0 1 1.5 1.5v7a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19v-7A1.5 1.5 0 0 1 7 10.5ZM8 10.5V8a4 4 0 0 1 7.7-1.5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20.5 20.5 16 16',
  settings:
    'M4 7h9M19 7h1M4 17h1M11 17h9M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  share:
    'M12 15V4M8 7.5 12 3.5l4 4M7 11H6a1.5 1.5 0 0 0-1.5 1.5V19A1.5 1.5 0 0 0 6 20.5h12a1.5 1.5 0 0 0 1.5-1.5v-6.5A1.5 1.5 0 0 0 18 11h-1',
  download: 'M12 4v11M7.5 11 12 15.5l4.5-4.5M4.5 20h15',
  document:
    'M7 3.5h7L19 8.5V19a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5ZM13.5 3.5V9H19M9 13h6M9 16.5h4',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 1 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 1 0 5.7 5.7l1-1',
  logout: 'M10 4.5H6A1.5 1.5 0 0 0 4.5 6v12A1.5 1.5 0 0 0 6 19.5h4M15 8l4.5 4-4.5 4M19 12H10',
  warning: 'M12 4 2.8 19.5h18.4L12 4ZM12 10v4.5M12 17v.1',
  offline:
    'M3.5 3.5l17 17M8.2 8.4A5.5 5.5 0 0 0 7 19h9.5M11 6.6a5.5 5.5 0 0 1 6.9 4.9 3.8 3.8 0 0 1 2.4 5.9',
  spark:
    'M12 3.5l1.9 5.1a2 2 0 0 0 1.2 1.2l5.1 1.9-5.1 1.9a2 2 0 0 0-1.2 1.2L12 19.9l-1.9-5.1a2 2 0 0 0-1.2-1.2l-5.1-1.9 5.1-1.9a2 2 0 0 0 1.2-1.2L12 3.5Z',
  receipt: 'M6 3.5h12v17l-3-2-3 2-3-2-3 2v-17ZM9 8.5h6M9 12.5h6',
  sun: 'M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  columns:
    'M4.5 5h15A1.5 1.5 0 0 1 21 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5v-11A1.5 1.5 0 0 1 4.5 5ZM9 5v14',
  up: 'M6 15l6-6 6 6',
  sort: 'M7 5v14M3.5 15.5 7 19l3.5-3.5M17 19V5M13.5 8.5 17 5l3.5 3.5',
  code: 'M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5',
  pin: 'M9 3.5h6l-.8 6 3.3 3.5v1.5H6.5V13l3.3-3.5L9 3.5ZM12 14.5v6',
  star: 'M12 4l2.5 5.2 5.7.8-4.1 4 1 5.6-5.1-2.7-5.1 2.7 1-5.6-4.1-4 5.7-.8L12 4Z',
  like: 'M12 20s-7.5-4.6-7.5-10A4.2 4.2 0 0 1 12 7.5 4.2 4.2 0 0 1 19.5 10c0 5.4-7.5 10-7.5 10Z',
  outward: 'M9 5h10v10M19 5 6 18',
  edit: 'M4.5 19.5l1-4L16 5a1.8 1.8 0 0 1 2.5 0l.5.5a1.8 1.8 0 0 1 0 2.5L8.5 18.5l-4 1Z',
  sound:
    'M4.500 9.500v5h3.500l4.500 4v-13l-4.500 4H4.500ZM16 9a4 4 0 0 1 0 6M18.500 6.500a8 8 0 0 1 0 11',
  film: 'M5 6.500h9A1.500 1.500 0 0 1 15.500 8v8a1.500 1.500 0 0 1-1.500 1.500H5A1.500 1.500 0 0 1 3.500 16V8A1.500 1.500 0 0 1 5 6.500ZM15.500 10.500l5-2.800v8.600l-5-2.800',
  reply: 'M10 6 4 12l6 6M4.5 12H14a6 6 0 0 1 6 6v1',
  fork: 'M7 4v9a4 4 0 0 0 4 4h5M13.5 13.5 17 17l-3.5 3.5M7 8h9',
} as const;

export type IconName = keyof typeof paths;

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

/** A picture beside words, or inside a control that has a name of its own: always hidden from readers. */
export const Icon = ({ name, size = 20 }: { name: IconName; size?: number }) => (
  <PathIcon
    path={paths[name]}
    size={size}
    kind={name === 'more' ? 'bold' : name === 'stop' ? 'full' : ''}
  />
);
