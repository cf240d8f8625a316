import { useEffect, useRef, useState } from 'react';
import css from './drop-veil.module.css';

const hasFiles = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes('Files') ?? false;

/** Takes what is dropped anywhere on the page, and shows so while it is dragged. */
export const DropVeil = ({
  text,
  onFiles,
}: {
  text: string;
  onFiles: (files: readonly File[]) => void;
}) => {
  const [over, setOver] = useState(false);
  const taker = useRef(onFiles);
  useEffect(() => {
    taker.current = onFiles;
  });
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event) || document.querySelector('#root')?.hasAttribute('inert')) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!hasFiles(event)) return;
      // Otherwise the browser would leave the page for the file.
      event.preventDefault();
      taker.current([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener('dragover', onOver);
    addEventListener('dragleave', onLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onOver);
      removeEventListener('dragleave', onLeave);
      removeEventListener('drop', onDrop);
    };
  }, []);
  return over ? <div className={css.dropVeil}>{text}</div> : null;
};
