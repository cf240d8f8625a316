import { useState } from 'react';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { useSite } from '#src/platform/site.ts';
import { toast } from '#src/platform/toast.ts';
import { deleteImage } from '#src/widgets/image/image-marks.ts';
import { confirmDelete } from '#src/ui/dialog.ts';
import { iconPaths } from '#src/ui/icon-paths.ts';
import { PathIcon } from '#src/ui/icon.tsx';
import { saveImage, saveUnmarked, shareImage } from '#src/ui/save-image.ts';
import { Sheet } from '#src/ui/sheet.tsx';
import type { ImageInfo, ImageMethod } from '#contract/gallery.ts';
import { useNavigate } from '@tanstack/react-router';
import type { ViewedImage } from './image-viewer-props.ts';
import { methodNames } from './info-panel.tsx';
import { useStartFrom } from './start-from.ts';
import { actIcons } from './viewer-icons.ts';
import styles from './viewer.module.css';

export interface ViewerAct {
  label: string;
  /** On a ground of 24 × 24. */
  path: string;
  /** Of the keyboard, upper case. */
  key?: string;
  danger?: boolean;
  run: () => void;
}

/** Where others find it: its page in the gallery. */
const share = (info: ImageInfo) =>
  info.public && !navigator.share ? `/image/public?image_id=${info.id}` : info.url;

const remove = async (image: ViewedImage) => {
  const sure = await confirmDelete({
    title: '删除图片',
    text: '确定要删除此图片?',
  });
  if (!sure) return;
  await attempt(async () => {
    await deleteImage(image);
    toast('图片已删除', 'success');
  });
};

const hide = async (image: ViewedImage, hidden: boolean) => {
  await attempt(async () => {
    await api.hideImage({ image_id: image.id, hidden: hidden ? 1 : 0 });
    toast(hidden ? '别人看不到这张图片了' : '跟随会话公开', 'success');
    await refreshScreens();
  });
};

/** What changes it, by how often it is wanted. */
const methods: readonly (Pick<ViewerAct, 'path' | 'key'> & { method: ImageMethod })[] = [
  { method: 'variations', path: actIcons.again, key: 'V' },
  { method: 'edit', path: iconPaths.edit, key: 'E' },
  { method: 'upscale', path: actIcons.enlarge, key: 'U' },
  { method: 'removeBg', path: actIcons.cut },
  { method: 'editBg', path: actIcons.ground },
  { method: 'interrogate', path: iconPaths.quote },
];
/** So many stand beside 更多. */
const atHand = 4;
/** Of those that change it, so many come before the film. */
const before = 3;

/** Everything that can be done with the image in sight: what stands at the thumb, and the rest. */
export const useViewerActs = ({
  info,
  image,
  onMethod,
  onBase,
}: {
  info: ImageInfo | undefined;
  image: ViewedImage;
  onMethod: (method: ImageMethod) => void;
  /** Undefined: it becomes the base of a new session. */
  onBase: (() => void) | undefined;
}): { main: ViewerAct[]; rest: ViewerAct[]; all: ViewerAct[] } => {
  const start = useStartFrom();
  const navigate = useNavigate();
  const { guest } = useAuth();
  const { mark_images: marked, allow_unmarked: allowed } = useSite();
  if (!info) return { main: [], rest: [], all: [] };
  const { own, session } = info;
  const { imageToVideo } = start;
  // Without a session it is somebody's upload: its words are not theirs to give away.
  const fromWords = info.prompt !== '' && (own || session !== null);
  const changes = methods.flatMap(({ method, ...act }) =>
    info.tools.some((tool) => tool.method === method)
      ? [{ ...act, label: methodNames[method], run: () => onMethod(method) }]
      : [],
  );
  const film: ViewerAct[] = imageToVideo
    ? [{ label: '图生视频', path: iconPaths.film, key: 'F', run: () => void imageToVideo(info) }]
    : [];
  const again: ViewerAct[] = fromWords
    ? [{ label: '画同款', path: iconPaths.spark, run: () => void start.remix(info) }]
    : [];
  const base: ViewerAct = {
    label: '作为参考图',
    path: actIcons.base,
    run: onBase ?? (() => void start.imageToImage(info)),
  };
  const sharing: ViewerAct = {
    label: '分享图片',
    path: iconPaths.share,
    run: () => void shareImage(share(info), info.prompt),
  };
  const saving: ViewerAct = {
    label: '下载图片',
    path: iconPaths.download,
    key: 'D',
    run: () => void saveImage(image.url),
  };
  const all: ViewerAct[] = [
    ...(own ? [] : [...again, base]),
    ...changes.slice(0, before),
    ...film,
    ...(own ? [] : [sharing]),
    ...changes.slice(before),
    ...(own ? [...again, base] : []),
    ...(session
      ? [
          {
            label: '打开会话',
            path: iconPaths.chat,
            run: () =>
              void navigate({
                to: '/chat',
                search: { uuid: session.uuid, history_id: info.history.id || undefined },
              }),
          },
        ]
      : []),
    ...(own ? [sharing] : []),
    saving,
    ...(own && marked && allowed && !guest
      ? [
          {
            label: '下载没有标识的',
            path: actIcons.bare,
            run: () => void attempt(() => saveUnmarked(image.url)),
          },
        ]
      : []),
    ...(own && session
      ? [
          {
            label: info.hidden ? '不再隐藏' : '对别人隐藏',
            path: info.hidden
              ? 'M7 10.5h10a1.5 1.5 0 0 1 1.5 1.5v7a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19v-7A1.5 1.5 0 0 1 7 10.5ZM8 10.5V8a4 4 0 0 1 7.7-1.5'
              : iconPaths.lock,
            run: () => void hide(image, !info.hidden),
          },
        ]
      : []),
    ...(own
      ? [{ label: '删除', path: iconPaths.trash, danger: true, run: () => void remove(image) }]
      : []),
  ];
  return { main: all.slice(0, atHand), rest: all.slice(atHand), all };
};

/** At the thumb: what is wanted most, each with its name, and the way to the rest. */
export const ActBar = ({ main, rest }: { main: ViewerAct[]; rest: ViewerAct[] }) => {
  const [open, setOpen] = useState(false);
  const titleOf = ({ key }: ViewerAct) => (key === undefined ? undefined : `按 ${key}`);
  return (
    <div className={styles['acts']} role="toolbar" aria-label="对这张图片">
      {main.map((act) => (
        <button key={act.label} type="button" title={titleOf(act)} onClick={act.run}>
          <PathIcon path={act.path} size={22} />
          <span>{act.label}</span>
        </button>
      ))}
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <PathIcon path={actIcons.grid} size={22} />
        <span>更多</span>
      </button>
      <Sheet night popover="list" open={open} onClose={() => setOpen(false)} title="这张图片">
        <div className={styles['grid']}>
          {rest.map((act) => (
            <button
              key={act.label}
              type="button"
              title={titleOf(act)}
              data-danger={act.danger}
              onClick={() => {
                setOpen(false);
                act.run();
              }}
            >
              <PathIcon path={act.path} size={24} />
              <span>{act.label}</span>
            </button>
          ))}
        </div>
      </Sheet>
    </div>
  );
};
