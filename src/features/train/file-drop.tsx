import { byteSize } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { useId, useState } from 'react';
import type { Coming } from './file-upload.ts';
import css from './train.module.css';

/** Where files are dropped or chosen. */
export const FileDrop = ({
  accept,
  text,
  hint,
  onFiles,
}: {
  /** Types or endings, by comma. */
  accept: string;
  text: string;
  hint: string;
  /** Gets the name of the folder that they come from, where one was dropped. */
  onFiles: (files: readonly File[], folder?: string) => void;
}) => {
  const id = useId();
  const [over, setOver] = useState(false);
  return (
    <label
      className={over ? `${css.drop} ${css.dropOver}` : css.drop}
      htmlFor={id}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const { files, items } = event.dataTransfer;
        // They are gone once this has run.
        const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
        const folder = entries.find(({ isDirectory }) => isDirectory);
        if (folder)
          void import('./many-files.ts')
            .then((many) => many.filesBelow(entries))
            .then(
              (all) => onFiles(all, folder.name),
              () => toast('没能读出这个文件夹，请再试一次', 'error'),
            );
        else onFiles([...files]);
      }}
    >
      <Icon name="plus" size={24} />
      <strong>{text}</strong>
      <small>{hint}</small>
      <input
        id={id}
        type="file"
        multiple
        accept={accept}
        className="sr-only"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </label>
  );
};

const mostShown = 50;

/** Files on their way: how far each is, and what to do with one that stopped. */
export const ComingFiles = ({
  coming,
  onRetry,
  onRemove,
}: {
  coming: readonly Coming[];
  onRetry: (id: string) => void;
  onRemove: (id: string) => void;
}) => (
  <>
    {coming.slice(0, mostShown).map(({ id, name, size, progress, error, refused }) => (
      <li key={id} className={css.file}>
        <Icon name={error === '' ? 'up' : 'warning'} />
        <div className={css.fileWords}>
          <strong>{name}</strong>
          {error === '' ? (
            <>
              <small>
                {progress > 0 ? `正在上传 ${Math.floor(progress * 100)}%` : '即将上传'} ·{' '}
                {byteSize(size)}
              </small>
              <ProgressBar label={`${name} 上传进度`} part={progress} />
            </>
          ) : (
            <small className={css.wrong}>{error}</small>
          )}
        </div>
        {error !== '' && !refused && (
          <Button size="small" onClick={() => onRetry(id)}>
            接着传
          </Button>
        )}
        <Button kind="ghost" size="icon" aria-label={`不传 ${name}`} onClick={() => onRemove(id)}>
          <Icon name="close" />
        </Button>
      </li>
    ))}
    {coming.length > mostShown && <li className={css.note}>还有 {coming.length - mostShown} 个</li>}
  </>
);
