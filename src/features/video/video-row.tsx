import { errorText } from '#src/platform/api-error.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { Chip } from '#src/ui/chip.tsx';
import { useModel } from '#src/platform/queries.ts';
import { Icon } from '#src/ui/icon.tsx';
import { Film } from '#src/ui/film.tsx';
import { PhotoViewer } from '#src/ui/photo-viewer.tsx';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import type { Message } from '#contract/chat.ts';
import type { JobEvent } from '#contract/job.ts';
import type { MadeVideo } from '#contract/video.ts';
import { useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import css from './video-session.module.css';
import { lastFrame } from './last-frame.ts';
import { generateVideo, makeVideo } from './video-make.ts';
import {
  changeVideoAsked,
  videoPrice,
  readVideoAsked,
  wayWords,
  type VideoAsked,
} from './video-request.ts';
import { readVideos } from '#src/widgets/image/video-reply.ts';
import { MoreAct } from '#src/widgets/conversation/message-acts.tsx';
import { WorkQuestion, workRow } from '#src/widgets/conversation/work-row.tsx';
import { useWorkState, WorkMissing, WorkProgress } from '#src/widgets/conversation/work-state.tsx';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';

const Question = ({ message, asked }: { message: Message; asked: VideoAsked }) => {
  const [viewing, setViewing] = useState(false);
  const { base_image: base, parameters, prompt } = asked;
  return (
    <WorkQuestion
      message={message}
      before={
        base !== '' && (
          <button
            type="button"
            className={drawCss.askedBase}
            aria-label="查看图片"
            onClick={() => setViewing(true)}
          >
            <img src={smallImage(base, 180)} alt="图片" loading="lazy" />
          </button>
        )
      }
      after={
        <>
          <p className={drawCss.askedFacts}>{wayWords(parameters)}</p>
          {viewing && <PhotoViewer images={[base]} index={0} onClose={() => setViewing(false)} />}
        </>
      }
    >
      <span className={drawCss.askedTask}>图生视频</span>
      {prompt}
    </WorkQuestion>
  );
};

const Waiting = ({
  asked,
  live,
  cancellable,
}: {
  asked: VideoAsked;
  /** Null: it is on its way to the server. */
  live: JobEvent | null;
  cancellable: boolean;
}) => {
  const seen = live?.current_image || smallImage(asked.base_image, 640);
  return (
    <>
      <div className={css.wait}>{seen !== '' && <img src={seen} alt="做到现在的样子" />}</div>
      <WorkProgress live={live} cancellable={cancellable} label="制作进度" />
    </>
  );
};

/** What a film costs here; empty: nothing. */
const usePriceText = (): string => {
  const model = useModel(useChatActs().model);
  const price = model && videoPrice(model);
  return price && price.tokens > 0 ? price.words : '';
};

/** What comes after a film: the same once more, or what follows its last image. */
const Onward = ({ asked, film }: { asked: VideoAsked; film: MadeVideo }) => {
  const acts = useChatActs();
  const price = usePriceText();
  const { busy, run } = useAct((error) => toast(errorText(error), 'error'));
  const { move, reverse } = asked.parameters;
  if (!acts.owner || !acts.writable) return null;
  const again = (change: Partial<VideoAsked['parameters']>) =>
    void acts.follow(
      makeVideo(acts.thread, { ...asked, parameters: { ...asked.parameters, ...change } }),
    );
  const goOn = () =>
    run(async () => {
      const url = await lastFrame(film.url);
      changeVideoAsked(acts.uuid, { ...asked, base_image: url });
    }, '最后一帧已放好，写下接着怎样动');
  return (
    <div className={css.onward}>
      <Chip onClick={() => again({})}>
        再做一次
        {price !== '' && <small>{price}</small>}
      </Chip>
      {move && (
        <Chip onClick={() => again({ reverse: reverse === 1 ? 0 : 1 })}>
          反向
          {price !== '' && <small>{price}</small>}
        </Chip>
      )}
      <Chip disabled={busy} onClick={() => void goOn()}>
        接着最后一帧
      </Chip>
    </div>
  );
};

const Videos = ({
  message,
  asked,
  films,
}: {
  message: Message;
  asked: VideoAsked;
  films: readonly MadeVideo[];
}) => {
  const quiet = useMedia('(prefers-reduced-motion: reduce)');
  const last = films.findLast(({ url }) => url !== '');
  return (
    <>
      {films.map(({ uuid, url, poster, width, height, duration, error }) =>
        url === '' ? (
          <p key={uuid} className={css.gone}>
            {error || '视频已删除'}
          </p>
        ) : (
          <figure key={uuid} className={css.film} style={{ aspectRatio: `${width} / ${height}` }}>
            <Film
              url={url}
              poster={poster}
              width={width}
              height={height}
              begins={!quiet}
              ahead="metadata"
              label={`视频，${Math.round(duration)} 秒`}
            />
          </figure>
        ),
      )}
      <div className={rowCss.acts}>
        {films.some(({ url }) => url !== '') && (
          <a
            className={rowCss.smallAct}
            href={films[0]?.url}
            download
            aria-label="下载视频"
            title="下载"
          >
            <Icon name="download" size={16} />
          </a>
        )}
        <MoreAct message={message} of="question" />
      </div>
      {last && <Onward asked={asked} film={last} />}
    </>
  );
};

const Answer = ({ message, asked }: { message: Message; asked: VideoAsked }) => {
  const acts = useChatActs();
  const price = usePriceText();
  const films = readVideos(message);
  const state = useWorkState(message, { unbegun: '还没有开始制作', begin: '开始制作' });
  if (films && films.length > 0) return <Videos message={message} asked={asked} films={films} />;
  if ('live' in state) return <Waiting asked={asked} {...state} />;
  return (
    <WorkMissing
      message={message}
      missing={state.missing}
      prompt={asked.prompt}
      price={price}
      onBegin={() => void generateVideo(acts.thread, message.id)}
      onChange={() => changeVideoAsked(acts.uuid, asked)}
    />
  );
};

/** What was to be filmed, and what came of it. */
export const VideoRow = workRow(readVideoAsked, Question, Answer);
