import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '#src/platform/api.ts';
import { act, laterText } from '#src/platform/outbox.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import type { Out } from '#contract/calls.ts';
import type { SessionDetail } from '#contract/session.ts';
import css from './publish-sheet.module.css';

type Image = Out<'imageIndex'>['list'][number];

/** Every image of a session: none becomes public that was not seen here. */
const useImages = (session: number) =>
  useQuery({
    queryKey: ['imageIndex', 'publish', session],
    queryFn: async ({ signal }) => {
      const found: Image[] = [];
      for (let page = 1, last = 1; page <= last; page += 1) {
        const asked = { private: 1, session_id: session, page } as const;
        const part = await api.imageIndex(asked, { signal, quiet: true });
        found.push(...part.list);
        last = part.page_count;
      }
      return found;
    },
    gcTime: 0,
  });

/** What is changed from a photograph shows more than its person may think of. */
const offered = ({ hidden, origin }: Image) =>
  !hidden && origin !== 'edited' && origin !== 'uploaded';

/** Opens a session to everybody: all that becomes public, its images one by one. */
const PublishSheet = ({ session, onClose }: { session: SessionDetail; onClose: () => void }) => {
  const images = useImages(session.id);
  const [changed, setChanged] = useState<ReadonlyMap<number, boolean>>(new Map());
  const { busy, run } = useAct();
  const list = images.data ?? [];
  const isShown = (image: Image) => changed.get(image.id) ?? offered(image);
  const shown = list.filter(isShown).length;
  const choose = (some: readonly Image[], on: boolean) =>
    setChanged((old) => new Map([...old, ...some.map(({ id }) => [id, on] as const)]));
  const publish = () =>
    run(async () => {
      // What stays hidden is hidden before anybody can look.
      for (const image of list)
        if (image.hidden === isShown(image))
          await api.hideImage({ image_id: image.id, hidden: isShown(image) ? 0 : 1 });
      const done = await act('setSession', session.uuid, { session_id: session.uuid, private: 0 });
      toast(done ? '会话状态更改' : `会话状态更改，${laterText}`, 'success');
      onClose();
    });
  return (
    <Sheet open onClose={onClose} title="公开这个会话">
      <div className={css.publish}>
        <p>任何人都能在公共频道里看到，随时可以再设为私有。会公开：</p>
        <label className={css.words}>
          <input type="checkbox" checked disabled />
          <span>
            全部问题与回答
            <small>连同附件、参考图和您的昵称</small>
          </span>
        </label>
        {images.isPending && <Skeleton lines={3} />}
        {images.isError && <QueryFailed query={images} />}
        {list.length > 0 && (
          <>
            <p className={css.count}>
              <b>
                图片 {shown} / {list.length}
              </b>
              <Button kind="ghost" size="small" onClick={() => choose(list, shown < list.length)}>
                {shown < list.length ? '全选' : '全不选'}
              </Button>
            </p>
            <ul className={css.images} aria-label="公开哪些图片">
              {list.map((image) => (
                <li key={image.id}>
                  <label title={image.prompt}>
                    <img
                      src={smallImage(image.url, 320)}
                      alt={image.prompt || '图片'}
                      loading="lazy"
                    />
                    <input
                      type="checkbox"
                      checked={isShown(image)}
                      onChange={(event) => choose([image], event.target.checked)}
                    />
                    {image.origin === 'edited' && <small>修改过的</small>}
                  </label>
                </li>
              ))}
            </ul>
            <p className="field-hint">没有勾选的图片仍然只有您能看；修改过的图片要您自己勾选。</p>
          </>
        )}
        <Button
          kind="primary"
          busy={busy}
          disabled={images.data === undefined}
          onClick={() => void publish()}
        >
          公开
        </Button>
      </div>
    </Sheet>
  );
};

export default PublishSheet;
