import { Link } from '@tanstack/react-router';
import { voteOnImage, useImageMark } from '#src/widgets/image/image-marks.ts';
import { parameterRows } from '#src/widgets/image/parameter-rows.ts';
import { madeWords, noteMade } from '#src/widgets/image/made-mark.tsx';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { sizeOf } from '#src/widgets/image/shelves.ts';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useAct } from '#src/platform/use-act.ts';
import { confirmDialog } from '#src/ui/dialog.ts';
import { copyText } from '#src/platform/copy.ts';
import { dateTime, maskName } from '#src/platform/format.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Button } from '#src/ui/button.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import type { ImageInfo, ImageKin, ImageMethod } from '#contract/gallery.ts';
import { taskNames } from '#contract/image-family.ts';
import type { ViewedImage } from './image-viewer-props.ts';
import styles from './viewer.module.css';

const thumbDown =
  'M17 3.5v10M17 13.5l-4 7a2.2 2.2 0 0 1-2.2-2.2V14.5H5.6a1.8 1.8 0 0 1-1.8-2.2l1.5-7a2.2 2.2 0 0 1 2.2-1.8H17M17 3.5h2.5a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H17';

export const methodNames: Readonly<Record<ImageMethod, string>> = {
  edit: '局部重绘',
  upscale: '高清放大',
  variations: '再来几张',
  removeBg: '抠图',
  editBg: '换背景',
  interrogate: '反推提示词',
};

const origins = { drawn: '画的', uploaded: '上传的', edited: '修改而来', imported: '导入的' };

const nameOf = (how: string): string | undefined =>
  (taskNames as Readonly<Record<string, string>>)[how];

/** What was done to something to get this, as a verb. */
const madeBy = (how: string): string => {
  const act = how === 'vary' ? '再画' : nameOf(how);
  return act === undefined || how === 'img2img' ? '画成' : `${act}而来`;
};

const originText = ({ how, origin }: ImageInfo): string =>
  nameOf(how) === undefined ? origins[origin] : `由另一张图片${madeBy(how)}`;

const viewed = (kin: ImageKin): ViewedImage => ({ id: kin.id, url: kin.url, ...sizeOf(kin.size) });

const KinTile = ({
  kin,
  label,
  onView,
}: {
  kin: ImageKin;
  label: string;
  onView: (image: ViewedImage) => void;
}) => (
  <button
    type="button"
    className={styles['kin']}
    aria-label={kin.url === '' ? `${label}：图片已删除` : `看来历：${label}`}
    disabled={kin.url === ''}
    onClick={() => onView(viewed(kin))}
  >
    {kin.url === '' ? (
      <span>图片已删除</span>
    ) : (
      <img src={smallImage(kin.url, 180)} alt="" loading="lazy" />
    )}
    <small>{label}</small>
  </button>
);

/** Whose words it was drawn from. */
const Inspiration = ({
  info: { inspired_by: from },
  onView,
}: {
  info: ImageInfo;
  onView: (image: ViewedImage) => void;
}) => {
  const { user } = useAuth();
  if (!from) return null;
  return (
    <button type="button" className={styles['inspiration']} onClick={() => onView(viewed(from))}>
      <img src={smallImage(from.url, 180)} alt="" loading="lazy" />
      <span>源自 {from.user_id === user?.id ? '我' : maskName(from.user_name)}</span>
      <Icon name="forward" size={18} />
    </button>
  );
};

/** What it was made from, the first one first, and what was made from it. */
const Kin = ({ info, onView }: { info: ImageInfo; onView: (image: ViewedImage) => void }) => {
  const line = [...info.parents].reverse();
  if (line.length + info.children.length === 0) return null;
  return (
    <>
      {line.length > 0 && (
        <section>
          <h3>创作来源</h3>
          <div className={styles['line']}>
            {line.map((kin) => (
              <KinTile
                key={kin.id}
                kin={kin}
                label={nameOf(kin.how) ?? origins[kin.origin]}
                onView={onView}
              />
            ))}
            <span className={styles['here']}>由它{madeBy(info.how)}</span>
          </div>
        </section>
      )}
      {info.children.length > 0 && (
        <section>
          <h3>用它做成的</h3>
          <div className={styles['line']}>
            {info.children.map((kin) => (
              <KinTile
                key={kin.id}
                kin={kin}
                label={nameOf(kin.how) ?? origins[kin.origin]}
                onView={onView}
              />
            ))}
          </div>
        </section>
      )}
    </>
  );
};

const Votes = ({ info }: { info: ImageInfo }) => {
  const mark = useImageMark(info);
  return (
    <div className={styles['votes']}>
      <button
        type="button"
        aria-pressed={mark.like === 1}
        aria-label={`赞，${mark.liked_count} 人`}
        onClick={() => void voteOnImage(info, 1)}
      >
        <Icon name="like" size={22} />
        {mark.liked_count}
      </button>
      <button
        type="button"
        aria-pressed={mark.like === -1}
        aria-label={`踩，${mark.disliked_count} 人`}
        onClick={() => void voteOnImage(info, -1)}
      >
        <PathIcon path={thumbDown} size={22} />
        {mark.disliked_count}
      </button>
    </div>
  );
};

const Facts = ({ info }: { info: ImageInfo }) => {
  const rows: [string, string][] = [
    ['模型', info.model_label],
    ['尺寸', info.size.replace('x', '×')],
    ['种子', info.seed === null ? '' : String(info.seed)],
    ...parameterRows(info.parameters),
    ['来历', originText(info)],
    ['标识', info.made ? madeWords[info.made][1] : ''],
    ['时间', dateTime(info.created_at)],
    [
      '谁能看到',
      info.own ? (info.public ? '所有人' : info.hidden ? '只有您（已隐藏）' : '只有您') : '',
    ],
  ];
  return (
    <dl className={styles['facts']}>
      {rows
        .filter(([, value]) => value !== '')
        .map(([name, value], at) => (
          <div key={`${name}${at}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
};

/** Whoever brought an image says of it what its file did not. */
const Declare = ({ info }: { info: ImageInfo }) => {
  const { busy, run } = useAct();
  const declare = async () => {
    const sure = await confirmDialog({
      title: '声明由 AI 生成',
      text: '看到这张图片的人都会看到“声明 AI 生成”，文件里也会写上。声明之后不能撤回。',
      ok: '声明',
    });
    if (!sure) return;
    await run(async () => {
      const { made } = await api.declareImage({ url: info.url });
      noteMade(info.url, made);
    }, '已声明');
  };
  return (
    <Button size="small" busy={busy} onClick={() => void declare()}>
      这张图片由 AI 生成
    </Button>
  );
};

/** All that is known of an image. */
export const InfoPanel = ({
  info,
  onView,
}: {
  info: ImageInfo;
  onView: (image: ViewedImage) => void;
}) => (
  <>
    <header className={styles['author']}>
      <Link
        to="/"
        search={{ user_id: info.user_id, channel: 'public' }}
        className={styles['person']}
      >
        <Avatar name={info.user_name} size={36} />
        <span>{info.own ? '我' : maskName(info.user_name)}</span>
      </Link>
      <Votes info={info} />
    </header>
    {info.prompt !== '' && (
      <section className={styles['words']}>
        <p className="selectable">{info.prompt}</p>
        <Button
          kind="ghost"
          size="icon"
          aria-label="复制提示词"
          title="复制提示词"
          onClick={() => void copyText(info.prompt)}
        >
          <Icon name="copy" size={18} />
        </Button>
      </section>
    )}
    <Inspiration info={info} onView={onView} />
    <Kin info={info} onView={onView} />
    {info.own && (info.made === undefined || info.made === 'suspected') && <Declare info={info} />}
    <Facts info={info} />
  </>
);
