import { useState } from 'react';
import { api } from '#src/platform/api.ts';
import { errorText } from '#src/platform/api-error.ts';
import { byteSize } from '#src/platform/format.ts';
import { Icon } from '#src/ui/icon.tsx';
import { smallImage, type Side } from './image-sources.ts';
import styles from './foreign-image.module.css';

interface Loaded {
  /** Data URL. */
  image: string;
  width: number;
  height: number;
  /** Bytes where it comes from. */
  size: number;
}

/** What was loaded on this page: a row that comes back into a list shows it again. */
const loaded = new Map<string, Loaded>();
const mostLoaded = 30;

const keep = (url: string, image: Loaded) => {
  loaded.set(url, image);
  const oldest = loaded.keys().next();
  if (loaded.size > mostLoaded && !oldest.done) loaded.delete(oldest.value);
};

/** Whether an image lies on another server: it must not be loaded before somebody asks for it. */
export const isForeign = (url: string): boolean =>
  /^https?:\/\//i.test(url) && !url.startsWith(`${globalThis.location?.origin ?? ''}/files/`);

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

interface Props {
  url: string;
  alt: string;
}

/**
 * An image of another server. To load it would tell that server who reads this and when, and what
 * stands in its address, which others may have made a model write. So its host is shown, and only a
 * press loads it, by our server and from it.
 */
export const ForeignImage = (props: Props) => <Chip key={props.url} {...props} />;

const Chip = ({ url, alt }: Props) => {
  const [image, setImage] = useState(() => loaded.get(url) ?? null);
  const [state, setState] = useState<'idle' | 'busy' | { error: string }>('idle');
  const load = async () => {
    setState('busy');
    try {
      const found = await api.foreignImage({ url }, { quiet: true });
      keep(url, found);
      setImage(found);
      setState('idle');
    } catch (error) {
      setState({ error: errorText(error) });
    }
  };
  if (image)
    return (
      <span className={styles['shown']}>
        <img src={image.image} width={image.width} height={image.height} alt={alt} />
        <small>
          {hostOf(url)} · {image.width}×{image.height} · {byteSize(image.size)}
        </small>
      </span>
    );
  const note =
    typeof state === 'object' ? state.error : state === 'busy' ? '正在加载…' : '点按加载';
  return (
    <button
      type="button"
      className={styles['chip']}
      disabled={state === 'busy'}
      aria-label={`加载 ${hostOf(url)} 的图片${alt === '' ? '' : `：${alt}`}`}
      title={url}
      onClick={(event) => {
        event.stopPropagation();
        void load();
      }}
    >
      <Icon name="document" size={18} />
      <span>{alt === '' ? hostOf(url) : `${alt} · ${hostOf(url)}`}</span>
      <small>{note}</small>
    </button>
  );
};

/** An image that somebody works with, small: an own one at once, another server's on a press. */
export const AnyImage = ({ url, side, alt }: { url: string; side: Side; alt: string }) =>
  isForeign(url) ? (
    <ForeignImage url={url} alt={alt} />
  ) : (
    <img src={smallImage(url, side)} alt={alt} loading="lazy" />
  );
