import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { createPortal } from 'react-dom';
import { useAct } from '@/platform/use-act.ts';
import { attempt } from '@/platform/attempt.ts';
import { api } from '@/platform/api.ts';
import { steady, useCall } from '@/platform/call-query.ts';
import { progressText } from '@/platform/job-text.ts';
import { isUnfinished, noteJob, useJob } from '@/platform/jobs.ts';
import { refreshScreens } from '@/platform/query-client.ts';
import { toast } from '@/platform/toast.ts';
import { deleteImage, useDeletedImages } from '@/widgets/image/image-marks.ts';
import { smallImage } from '@/widgets/image/image-sources.ts';
import { sizeOf } from '@/widgets/image/shelves.ts';
import { ProgressBar } from '@/ui/progress-bar.tsx';
import { Act } from '@/ui/act.tsx';
import { Button } from '@/ui/button.tsx';
import { confirmDialog } from '@/ui/dialog.ts';
import { Icon } from '@/ui/icon.tsx';
import { LoadFailed } from '@/ui/load-failed.tsx';
import { useModal } from '@/ui/modal.ts';
import { saveImage, shareImage } from '@/ui/save-image.ts';
import { Sheet } from '@/ui/sheet.tsx';
import { Skeleton } from '@/ui/skeleton.tsx';
import type { ImageInfo, ImageMethod } from '@contract/gallery.ts';
import type { ListedImage } from '@contract/image.ts';
import type { Job } from '@contract/job.ts';
import { Compare } from './compare.tsx';
import { useStopJob } from '../job/use-stop-job.ts';
import type { ImageViewerProps, ViewedImage } from './image-viewer-props.ts';
import { InfoPanel, methodNames } from './info-panel.tsx';
import { isEmpty, maskParameters, noMask, type Mask } from './mask.ts';
import { MaskStage, usualThickness, type MaskTool } from './mask-editor.tsx';
import {
  BackgroundPanel,
  EditPanel,
  InterrogatePanel,
  RemoveBackgroundPanel,
  UpscalePanel,
  VariationsPanel,
  type Tool,
} from './method-panels.tsx';
import { Stage } from './stage.tsx';
import { forgetMask, mayDiscard, useMask } from './use-mask.ts';
import styles from './viewer.module.css';

type Mode = 'info' | ImageMethod;

const viewedOf = (image: ListedImage): ViewedImage => ({
  id: image.id,
  url: image.url,
  ...sizeOf(image.size),
});

/** Follows the work on an image, shows how far it is, then what came of it beside the original. */
const Working = ({
  told,
  image,
  onView,
  onAgain,
}: {
  told: Job;
  image: ViewedImage;
  onView: (image: ViewedImage) => void;
  onAgain: () => void;
}) => {
  const live = useJob(told);
  const job = live?.job ?? told;
  const [chosen, setChosen] = useState(0);
  const { label: stopLabel, busy: stopping, stop } = useStopJob(job);
  const done = job.state === 'done';
  const result = useCall('imageProgress', { request_id: job.uuid }, { ...steady, enabled: done });
  const images = (result.data?.images ?? []).map(viewedOf);
  const shown = images[chosen];
  if (done && shown)
    return (
      <>
        <div className={styles['stage']}>
          <Compare key={shown.id} before={image} after={shown} />
        </div>
        <div className={styles['panel']}>
          <p className={styles['note']} role="status">
            好了，{images.length} 张，已放进“我的图片”。拖动中间的线，对比原图。
          </p>
          {images.length > 1 && (
            <div className={styles['line']} role="group" aria-label="结果">
              {images.map((each, at) => (
                <button
                  key={each.id}
                  type="button"
                  className={styles['kin']}
                  aria-pressed={at === chosen}
                  aria-label={`第 ${at + 1} 张`}
                  onClick={() => setChosen(at)}
                >
                  <img src={smallImage(each.url, 180)} alt="" />
                </button>
              ))}
            </div>
          )}
          <div className={styles['tools']}>
            <Button kind="primary" onClick={() => onView(shown)}>
              看这一张
            </Button>
            <Button onClick={() => void saveImage(shown.url)}>下载</Button>
            <Button onClick={onAgain}>再改一次</Button>
          </div>
        </div>
      </>
    );
  return (
    <>
      <div className={styles['stage']}>
        <div className={styles['frame']}>
          <span
            className={styles['photo']}
            style={{ '--shape': image.width / Math.max(1, image.height) } as React.CSSProperties}
          >
            <img src={live?.current_image || smallImage(image.url, 640)} alt="画到一半的样子" />
          </span>
        </div>
      </div>
      <div className={styles['panel']}>
        {isUnfinished(job) || done ? (
          <>
            <p role="status" className={styles['state']}>
              {done ? '正在取结果…' : progressText(job)}
            </p>
            <ProgressBar label="进度" part={job.progress} />
            <p className={styles['note']}>可以先离开，做好后在“我的图片”和“任务”里。</p>
            {result.isError && (
              <LoadFailed
                error={result.error}
                busy={result.isFetching}
                onRetry={() => void result.refetch()}
              />
            )}
            {!done && !job.stopping && (
              <Button busy={stopping} onClick={stop}>
                {stopLabel}
              </Button>
            )}
          </>
        ) : (
          <>
            <p role="alert" className={styles['state']}>
              {job.state === 'cancelled'
                ? '已取消，没有扣费'
                : job.error_message || '没有做成，没有扣费'}
            </p>
            <Button kind="primary" onClick={onAgain}>
              再试一次
            </Button>
          </>
        )}
      </div>
    </>
  );
};

/** The modes that change an image: what one marks on it, what one says, and the work that follows. */
const Method = ({
  info,
  image,
  tool,
  onMarked,
  onView,
}: {
  info: ImageInfo;
  image: ViewedImage;
  tool: Tool;
  /** Is told what was marked and no work was begun with. */
  onMarked: (mask: Mask) => void;
  onView: (image: ViewedImage) => void;
}) => {
  const [job, setJob] = useState<Job | null>(null);
  const { busy, run } = useAct();
  const history = useMask(image, job === null);
  const { mask, change: setMask } = history;
  useEffect(() => {
    onMarked(job === null ? mask : noMask);
    return () => onMarked(noMask);
  }, [onMarked, job, mask]);
  const [maskTool, setMaskTool] = useState<MaskTool>('brush');
  const [thick, setThick] = useState<number>(usualThickness);
  const [framing, setFraming] = useState(false);
  const { method } = tool;
  const begin = (ask: () => Promise<{ job: Job }>) =>
    void run(async () => {
      const { job: fresh } = await ask();
      noteJob(fresh);
      forgetMask(image.url);
      setJob(fresh);
    });
  const common = { info, tool, busy, onBegin: begin };
  const marking = method === 'edit' || (method === 'editBg' && framing);
  // What was chosen and written stays for another try.
  const asking = (
    <div className={styles['asking']} hidden={job !== null}>
      {marking ? (
        <MaskStage
          image={image}
          mask={mask}
          tool={method === 'edit' ? maskTool : 'rectangle'}
          thick={thick}
          onChange={(next) =>
            // A background has one frame: the newest.
            setMask(method === 'edit' ? next : { ...next, marks: next.marks.slice(-1) })
          }
        />
      ) : (
        <Stage image={image} alt={info.prompt} from={null} onTurn={{}} onClose={() => undefined} />
      )}
      <div className={styles['panel']}>
        {method === 'upscale' && <UpscalePanel {...common} />}
        {method === 'removeBg' && <RemoveBackgroundPanel {...common} />}
        {method === 'editBg' && (
          <BackgroundPanel
            {...common}
            part={isEmpty(mask) ? null : maskParameters(mask, image).mask}
            onPart={(next) => {
              setFraming(next);
              setMask(noMask);
            }}
          />
        )}
        {method === 'variations' && <VariationsPanel {...common} />}
        {method === 'edit' && (
          <EditPanel
            {...common}
            history={history}
            maskTool={maskTool}
            thick={thick}
            onMaskTool={setMaskTool}
            onThick={setThick}
          />
        )}
        {method === 'interrogate' && <InterrogatePanel info={info} />}
      </div>
    </div>
  );
  return (
    <>
      {asking}
      {job && <Working told={job} image={image} onView={onView} onAgain={() => setJob(null)} />}
    </>
  );
};

/** Where others find it: its page in the gallery. */
const share = (info: ImageInfo) =>
  info.public && !navigator.share ? `/image/public?image_id=${info.id}` : info.url;

const ImageViewerView = ({
  images,
  at,
  onTurn,
  onClose,
  explore = false,
  from = null,
  onBase,
}: ImageViewerProps) => {
  const box = useRef<HTMLDivElement>(null);
  const [visited, setVisited] = useState<ViewedImage | null>(null);
  const [mode, setMode] = useState<Mode>('info');
  const [menu, setMenu] = useState(false);
  const gone = useDeletedImages();
  const listed = images[at];
  const known = visited ?? listed;
  const image: ViewedImage = known ?? { id: 0, url: '', width: 1, height: 1 };
  const deleted = gone.has(image.id);
  const about = useCall(
    'imageInfo',
    { image_id: image.id, explore: explore ? 1 : 0 },
    {
      enabled: image.id > 0 && !deleted,
      placeholderData: (before, query) =>
        query?.queryKey[1]?.image_id === image.id ? before : undefined,
    },
  );
  const info = about.data?.info;
  const shown = deleted ? { ...image, url: '' } : image.url === '' && info ? viewedOf(info) : image;
  const [unused, setUnused] = useState<Mask>(noMask);
  const back = async () => {
    if (mode === 'info') onClose();
    else if (await mayDiscard(unused, shown)) setMode('info');
  };
  useModal(true, () => void back(), box);
  useEffect(() => box.current?.focus({ preventScroll: true }), []);

  const view = (next: ViewedImage) => {
    setMode('info');
    setVisited(next.id === listed?.id ? null : next);
  };
  const turn = (to: number) => {
    setVisited(null);
    onTurn(to);
  };
  const onTurnBy = {
    ...(at > 0 ? { back: () => turn(at - 1) } : {}),
    ...(at < images.length - 1 ? { forward: () => turn(at + 1) } : {}),
  };
  const onKey = (event: KeyboardEvent) => {
    if (mode !== 'info' || event.target instanceof HTMLInputElement) return;
    if (event.key === 'ArrowLeft') onTurnBy.back?.();
    else if (event.key === 'ArrowRight') onTurnBy.forward?.();
  };
  const remove = async () => {
    setMenu(false);
    const sure = await confirmDialog({
      title: '删除图片',
      text: '确定要删除此图片?',
      ok: '删除',
      danger: true,
    });
    if (!sure) {
      toast('已取消删除');
      return;
    }
    await attempt(async () => {
      await deleteImage(image);
      toast('图片已删除', 'success');
    });
  };
  const hide = async (hidden: boolean) => {
    setMenu(false);
    await attempt(async () => {
      await api.hideImage({ image_id: image.id, hidden: hidden ? 1 : 0 });
      toast(hidden ? '别人看不到这张图片了' : '跟随会话公开', 'success');
      await refreshScreens();
    });
  };
  const tool = mode === 'info' ? undefined : info?.tools.find(({ method }) => method === mode);
  const title =
    mode === 'info' ? (info?.own && !explore ? '修改图片' : '查看图片') : methodNames[mode];
  return createPortal(
    <div
      className={styles['viewer']}
      data-whole-window
      role="dialog"
      aria-modal="true"
      aria-label={title}
      tabIndex={-1}
      ref={box}
      onKeyDown={onKey}
    >
      <header className={styles['top']}>
        <Button
          kind="ghost"
          size="icon"
          aria-label={mode === 'info' ? '关闭' : '返回'}
          onClick={() => void back()}
        >
          <Icon name={mode === 'info' ? 'close' : 'back'} size={24} />
        </Button>
        <h2>
          {title}
          {mode === 'info' && !visited && images.length > 1 && (
            <small>
              {at + 1} / {images.length}
            </small>
          )}
        </h2>
        {visited && mode === 'info' && listed && (
          <Button kind="ghost" size="small" onClick={() => setVisited(null)}>
            回到原来那张
          </Button>
        )}
        {info && !deleted && mode === 'info' && (
          <>
            <Button
              kind="ghost"
              size="icon"
              aria-label="分享图片"
              onClick={() => void shareImage(share(info), info.prompt)}
            >
              <Icon name="share" size={22} />
            </Button>
            <Button
              kind="ghost"
              size="icon"
              aria-label="下载图片"
              onClick={() => void saveImage(shown.url)}
            >
              <Icon name="download" size={22} />
            </Button>
            {info.own && (
              <Button kind="ghost" size="icon" aria-label="更多" onClick={() => setMenu(true)}>
                <Icon name="more" size={22} />
              </Button>
            )}
          </>
        )}
      </header>
      {tool && info && shown.url !== '' ? (
        <Method
          key={`${tool.method}${image.id}`}
          info={info}
          image={shown}
          onMarked={setUnused}
          tool={tool}
          onView={view}
        />
      ) : (
        <>
          <Stage
            image={shown}
            alt={info?.prompt.slice(0, 200) || '图片'}
            from={from}
            onTurn={onTurnBy}
            onClose={onClose}
          />
          {onTurnBy.back && (
            <button
              type="button"
              className={`round ${styles['turn']} ${styles['turnBack']}`}
              aria-label="上一张"
              onClick={onTurnBy.back}
            >
              <Icon name="back" size={24} />
            </button>
          )}
          {onTurnBy.forward && (
            <button
              type="button"
              className={`round ${styles['turn']} ${styles['turnForward']}`}
              aria-label="下一张"
              onClick={onTurnBy.forward}
            >
              <Icon name="forward" size={24} />
            </button>
          )}
          <div className={styles['panel']}>
            {deleted ? (
              <p className={styles['note']}>图片已删除</p>
            ) : about.isError && !info ? (
              <LoadFailed
                error={about.error}
                busy={about.isFetching}
                onRetry={() => void about.refetch()}
              />
            ) : info ? (
              info.url === '' ? (
                <p className={styles['note']}>图片已删除</p>
              ) : (
                <InfoPanel
                  info={info}
                  explore={explore}
                  onMethod={setMode}
                  onView={view}
                  onBase={
                    onBase &&
                    (() => {
                      onClose();
                      onBase(shown);
                    })
                  }
                />
              )
            ) : (
              <Skeleton lines={5} />
            )}
          </div>
        </>
      )}
      <Sheet menu open={menu} onClose={() => setMenu(false)} title="这张图片">
        {info && (
          <>
            {info.session && (
              <Act
                icon={info.hidden ? 'unlock' : 'lock'}
                label={info.hidden ? '不再隐藏' : '对别人隐藏'}
                onClick={() => void hide(!info.hidden)}
              />
            )}
            <Act icon="trash" label="删除" danger onClick={() => void remove()} />
          </>
        )}
      </Sheet>
    </div>,
    document.body,
  );
};

export default ImageViewerView;
