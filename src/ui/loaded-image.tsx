import { useEffect, useState, type ImgHTMLAttributes } from 'react';
import { PathIcon } from './icon.tsx';
import css from './loaded-image.module.css';

const lostPath =
  'M5 4.500h14A1.500 1.500 0 0 1 20.500 6v12a1.500 1.500 0 0 1-1.500 1.500H5A1.500 1.500 0 0 1 3.500 18V6A1.500 1.500 0 0 1 5 4.500ZM4 20 20 4';

/** An image in a box of its size. Where it cannot be loaded it says so, and tries again with a network. */
export const LoadedImage = ({
  alt,
  ...image
}: ImgHTMLAttributes<HTMLImageElement> & { alt: string }) => {
  const [failed, setFailed] = useState('');
  const address = `${image.src} ${image.srcSet ?? ''}`;
  const lost = failed === address;
  useEffect(() => {
    if (!lost) return undefined;
    const again = () => setFailed('');
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [lost]);
  if (lost)
    return (
      <span
        className={css.lost}
        role="img"
        aria-label={alt === '' ? '图片没有加载出来' : `${alt}，没有加载出来`}
      >
        <PathIcon path={lostPath} size={20} />
        <small aria-hidden="true">没有加载出来</small>
      </span>
    );
  return <img {...image} alt={alt} onError={() => setFailed(address)} />;
};
