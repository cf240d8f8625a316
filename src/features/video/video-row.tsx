import { ApiError } from '@/platform/api-error.ts';
import { api } from '@/platform/api.ts';
import { progressText } from '@/platform/job-text.ts';
import { isUnfinished, useJob } from '@/platform/jobs.ts';
import { useModel } from '@/platform/queries.ts';
import { Icon } from '@/ui/icon.tsx';
import { PhotoViewer } from '@/ui/photo-viewer.tsx';
import { smallImage } from '@/widgets/image/image-sources.ts';
import type { Message } from '@contract/chat.ts';
import { codes } from '@contract/errors.ts';
import type { Job, JobEvent } from '@contract/job.ts';
import type { MadeVideo } from '@contract/video.ts';
import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { useChatActs } from '@/widgets/conversation/chat-context.ts';
import css from './video-session.module.css';
import { generateVideo } from './video-make.ts';
import { videoPrice, readVideoAsked, type VideoAsked } from './video-request.ts';
import { readVideos } from '@/widgets/image/video-reply.ts';
import { MoreAct } from '@/widgets/conversation/message-acts.tsx';
import { Separator, useLongPress } from '@/features/chat/message-row.tsx';
import { useAsking, useRefused } from '@/widgets/conversation/work.ts';
import type { WorkRow as Row } from '@/widgets/conversation/rows.ts';

const Question = ({ message, asked }: { message: Message; asked: VideoAsked }) => {
  const acts = useChatActs();
  const [viewing, setViewing] = useState(false);
  const press = useLongPress(() => acts.openMenu(message, 'question'));
  const { cfg_scale, motion_bucket_id } = asked.parameters;
  return (
    <div className="question">
      {!acts.owner && <span className="speaker">{message.user_name}</span>}
      {asked.base_image !== '' && (
        <button
          type="button"
          className="asked-base"
          aria-label="查看图片"
          onClick={() => setViewing(true)}
        >
          <img src={smallImage(asked.base_image, 180)} alt="图片" loading="lazy" />
        </button>
      )}
      <div className="bubble bubble-mine" {...press}>
        <span className="asked-task">图片变视频</span>
        {asked.prompt}
      </div>
      <p className="asked-facts">
        运动 {motion_bucket_id} · 忠于原图 {cfg_scale.toFixed(1)}
      </p>
      {viewing && (
        <PhotoViewer images={[asked.base_image]} index={0} onClose={() => setViewing(false)} />
      )}
    </div>
  );
};

const cancel = async (job: Job) => {
  try {
    await api.cancelJob({ request_id: job.uuid });
  } catch (error) {
    // The call has said why.
    if (!(error instanceof ApiError)) throw error;
  }
};

const Waiting = ({
  asked,
  live,
  owner,
}: {
  asked: VideoAsked;
  /** Null: it is on its way to the server. */
  live: JobEvent | null;
  owner: boolean;
}) => {
  const [cancelling, setCancelling] = useState(false);
  const job = live?.job;
  const seen = live?.current_image || smallImage(asked.base_image, 640);
  return (
    <>
      <div className={css.wait}>{seen !== '' && <img src={seen} alt="做到现在的样子" />}</div>
      <div className="made-state">
        <p role="status">{job ? progressText(job) : '正在发送…'}</p>
        {job && owner && (
          <button
            type="button"
            className="notice-act"
            disabled={cancelling}
            onClick={() => {
              setCancelling(true);
              void cancel(job).finally(() => setCancelling(false));
            }}
          >
            取消
          </button>
        )}
        <span
          className="made-bar"
          role="progressbar"
          aria-label="制作进度"
          aria-valuenow={Math.floor((job?.progress ?? 0) * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <i style={{ transform: `scaleX(${job?.progress ?? 0})` }} />
        </span>
      </div>
    </>
  );
};

const Failed = ({
  reason,
  code,
  quiet,
  label,
  message,
}: {
  reason: string;
  code: number;
  /** It was the person's own will. */
  quiet: boolean;
  label: string;
  message: Message;
}) => {
  const acts = useChatActs();
  const model = useModel(acts.model);
  const asking = useAsking(message.id);
  const poor = code === codes.balance.code || code === codes.balance_excluded.code;
  const price = model && videoPrice(model);
  return (
    <div
      className={quiet ? 'made-failed made-quiet' : 'made-failed'}
      role={quiet ? undefined : 'alert'}
    >
      <p>
        {!quiet && <Icon name="warning" size={16} />}
        <span>{reason}</span>
      </p>
      {acts.owner && acts.writable && (
        <div className="notice-acts">
          {poor && (
            <>
              <Link className="notice-act notice-act-first" to="/account" search={{ tab: 'usage' }}>
                余额与充值
              </Link>
              <button
                type="button"
                className="notice-act"
                onClick={() => acts.startAnew(readVideoAsked(message).prompt, 'free')}
              >
                换免费模型
              </button>
            </>
          )}
          <button
            type="button"
            className={poor ? 'notice-act' : 'notice-act notice-act-first'}
            disabled={asking}
            onClick={() => void generateVideo(acts.thread, message.id)}
          >
            {label}
            {price && price.tokens > 0 && ` · ${price.words}`}
          </button>
        </div>
      )}
    </div>
  );
};

const Videos = ({ message, films }: { message: Message; films: readonly MadeVideo[] }) => (
  <>
    {films.map(({ uuid, url, poster, width, height, duration, error }) =>
      url === '' ? (
        <p key={uuid} className={css.gone}>
          {error || '视频已删除'}
        </p>
      ) : (
        <figure key={uuid} className={css.film} style={{ aspectRatio: `${width} / ${height}` }}>
          {/* Nothing is spoken in it. */}
          <video
            src={url}
            poster={poster}
            width={width}
            height={height}
            controls
            loop
            muted
            playsInline
            preload="metadata"
            aria-label={`视频，${Math.round(duration)} 秒`}
          />
        </figure>
      ),
    )}
    <div className="acts">
      {films.some(({ url }) => url !== '') && (
        <a className="small-act" href={films[0]?.url} download aria-label="下载视频" title="下载">
          <Icon name="download" size={16} />
        </a>
      )}
      <MoreAct message={message} of="question" />
    </div>
  </>
);

const Answer = ({ message, asked }: { message: Message; asked: VideoAsked }) => {
  const acts = useChatActs();
  const live = useJob(message.job);
  const refused = useRefused(message.id);
  const asking = useAsking(message.id);
  const films = readVideos(message);
  const job = live?.job ?? null;
  if (films && films.length > 0) return <Videos message={message} films={films} />;
  if (message.id < 0 || asking) return <Waiting asked={asked} live={null} owner={false} />;
  // What has ended elsewhere is being read.
  const arriving = job?.state === 'done' && message.state === 'none';
  if (job && (isUnfinished(job) || arriving))
    return <Waiting asked={asked} live={live} owner={acts.owner && !arriving} />;
  const failed = { message, label: '重试', quiet: false };
  if (refused) return <Failed {...failed} reason={refused.message} code={refused.code} />;
  if (job?.state === 'cancelled' || message.state === 'stopped')
    return <Failed message={message} quiet label="重新开始" reason="已取消，没有扣费" code={0} />;
  if (job?.state === 'error' || message.state === 'error')
    return (
      <Failed
        {...failed}
        reason={job?.error_message || message.error_message || codes.engine_failed.text}
        code={job?.error_code ?? 0}
      />
    );
  return <Failed message={message} quiet label="开始制作" reason="还没有开始制作" code={0} />;
};

/** What was to be filmed, and what came of it. */
export const VideoRow = memo(function VideoRow({ row: { message, time } }: { row: Row }) {
  const asked = readVideoAsked(message);
  return (
    <div className="row-question picture-row" data-message={message.id}>
      <Separator time={time} />
      <Question message={message} asked={asked} />
      <div className="made-answer">
        <Answer message={message} asked={asked} />
      </div>
    </div>
  );
});
