import { saveBlob } from '#src/platform/save-file.ts';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { toast } from '#src/platform/toast.ts';
import { deleteImage } from '#src/widgets/image/image-marks.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import styles from './gallery.module.css';
import type { GalleryImage } from './use-gallery.ts';

/** Does something with each of some images, a few at once; gives how many went well. */
const forEach = async (
  images: readonly GalleryImage[],
  act: (image: GalleryImage) => Promise<unknown>,
  tell: (done: number) => void,
): Promise<number> => {
  const rest = [...images];
  let done = 0;
  let well = 0;
  const work = async (): Promise<void> => {
    for (let image = rest.shift(); image; image = rest.shift()) {
      try {
        await act(image);
        well += 1;
      } catch (error) {
        // The call has said why; the others go on.
        if (!(error instanceof ApiError)) throw error;
      }
      tell((done += 1));
    }
  };
  await Promise.all([work(), work(), work()]);
  return well;
};

const save = (archive: Blob) => {
  saveBlob(archive, `图片-${new Date().toISOString().slice(0, 10)}.zip`);
};

/** What can be done with the images that were chosen. */
export const BatchBar = ({
  chosen,
  all,
  onAll,
  onEnd,
}: {
  chosen: readonly GalleryImage[];
  /** All that are read are chosen. */
  all: boolean;
  onAll: () => void;
  onEnd: () => void;
}) => {
  const [busy, setBusy] = useState('');
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const count = chosen.length;
  const tell = (what: string) => (done: number) => setBusy(`${what} ${done}/${count}`);
  const run = (what: string, act: () => Promise<void>) => {
    setBusy(`${what} 0/${count}`);
    act()
      .catch(() => toast('没有完成，请稍后再试', 'error'))
      .finally(() => setBusy(''));
  };
  const remove = async () => {
    const sure = await confirmDelete({
      title: '删除图片',
      text: count === 1 ? '确定要删除此图片?' : `确定要删除这 ${count} 张图片?`,
    });
    if (!sure) return;
    run('删除', async () => {
      const well = await forEach(chosen, deleteImage, tell('删除'));
      if (well > 0) toast(well === 1 ? '图片已删除' : `${well} 张图片已删除`, 'success');
      onEnd();
    });
  };
  const hiddenAll = chosen.every(({ hidden }) => hidden);
  const hide = () =>
    run('处理', async () => {
      const hidden = hiddenAll ? 0 : 1;
      const act = ({ id }: GalleryImage) => api.hideImage({ image_id: id, hidden });
      await forEach(chosen, act, tell('处理'));
      toast(hiddenAll ? '不再隐藏' : '别人看不到这些图片了', 'success');
      await refreshScreens();
      onEnd();
    });
  const download = () =>
    run('打包', async () => {
      stop.current = new AbortController();
      const { zipImages } = await import('./zip.ts');
      const { archive, missing } = await zipImages(chosen, tell('打包'), stop.current.signal);
      save(archive);
      if (missing > 0) toast(`${missing} 张没有取到，其余已打包`, 'info');
      onEnd();
    });
  return (
    <div className={styles['batch']} role="toolbar" aria-label="对选中的图片">
      <p role="status">{busy || `已选 ${count} 张`}</p>
      <div className={styles['row']}>
        <Button size="small" onClick={onAll}>
          {all ? '全不选' : '全选'}
        </Button>
        <Button size="small" disabled={count === 0 || busy !== ''} onClick={download}>
          下载
        </Button>
        <Button size="small" disabled={count === 0 || busy !== ''} onClick={hide}>
          {count > 0 && hiddenAll ? '不再隐藏' : '隐藏'}
        </Button>
        <Button
          size="small"
          kind="danger"
          disabled={count === 0 || busy !== ''}
          onClick={() => void remove()}
        >
          删除
        </Button>
      </div>
    </div>
  );
};
