import { useAct } from '#src/platform/use-act.ts';
import { steady, useCall } from '#src/platform/call-query.ts';
import { progressText } from '#src/platform/job-text.ts';
import { isUnfinished, noteJob, useJob } from '#src/platform/jobs.ts';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { sizeOf } from '#src/widgets/image/shelves.ts';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { saveImage } from '#src/ui/save-image.ts';
import type { ImageInfo } from '#contract/gallery.ts';
import type { ListedImage } from '#contract/image.ts';
import type { Job } from '#contract/job.ts';
import { useEffect, useState } from 'react';
import { Compare } from './compare.tsx';
import { useStopJob } from '../job/use-stop-job.ts';
import type { ViewedImage } from './image-viewer-props.ts';
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
import { forgetMask, useMask } from './use-mask.ts';
import styles from './viewer.module.css';

export const viewedOf = (image: ListedImage): ViewedImage => ({
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
            {result.isError && <QueryFailed query={result} />}
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
                ? `已取消，${job.error_message || '没有扣费'}`
                : job.error_message || '生成失败，没有扣费'}
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
export const Method = ({
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
