import { saveFrom } from '#src/platform/save-file.ts';
import { Chip } from '#src/ui/chip.tsx';
import { maskName } from '#src/platform/format.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { madeByAi } from '#contract/made-by-ai.ts';
import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { api } from '#src/platform/api.ts';
import { errorText } from '#src/platform/api-error.ts';
import { dateTime } from '#src/platform/format.ts';
import { Button } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { site } from '#src/platform/site.ts';
import { toast } from '#src/platform/toast.ts';
import { Exchange } from './conversation.tsx';
import { drawLongImage, type LongImage } from './long-image.ts';
import longImageCss from './long-image.module.css';
import css from './export.module.css';

const choices = [1, 3, 10, 30] as const;

interface Drawn {
  urls: string[];
  image: LongImage;
}

const nameOf = (session: SessionDetail, part: number, parts: number): string => {
  const title = (session.prompt || '鹊桥对话').replace(/[\\/:*?"<>|\s]+/g, ' ').slice(0, 40);
  return parts > 1 ? `${title} ${part + 1}.png` : `${title}.png`;
};

/** The image as a page of its own, outside what is seen, in the theme of this moment. */
const Drawing = ({
  session,
  messages,
  onProgress,
  onDrawn,
  onFailed,
}: {
  session: SessionDetail;
  messages: readonly Message[];
  onProgress: (done: number) => void;
  onDrawn: (image: LongImage) => void;
  onFailed: () => void;
}) => {
  const frame = useRef<HTMLDivElement>(null);
  const page = useRef<HTMLDivElement>(null);
  const heard = useRef({ onProgress, onDrawn, onFailed });
  useEffect(() => {
    heard.current = { onProgress, onDrawn, onFailed };
  });
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const draw = async (frameBox: HTMLElement, pageBox: HTMLElement) => {
      const tell = (done: number) => heard.current.onProgress(done);
      const image = await drawLongImage(frameBox, pageBox, signal, tell).catch(() => null);
      if (signal.aborted) return;
      if (image && image.parts.length > 0) heard.current.onDrawn(image);
      else heard.current.onFailed();
    };
    if (frame.current && page.current) void draw(frame.current, page.current);
    return () => abort.abort();
  }, []);
  const last = messages.at(-1);
  return createPortal(
    <div className={longImageCss.longStage} aria-hidden="true" inert>
      <div className={longImageCss.longFrame} ref={frame}>
        <div className={longImageCss.longPage} ref={page}>
          <header className={longImageCss.longHead} data-unit>
            <h1>{session.prompt || '鹊桥对话'}</h1>
            <p>
              {maskName(session.user_name)}
              {last && ` · ${dateTime(last.created_at)}`}
            </p>
          </header>
          {messages.map((message) => (
            <div className={longImageCss.longUnit} data-unit key={message.id}>
              <Exchange message={message} still />
            </div>
          ))}
          <footer className={longImageCss.longFoot} data-unit>
            鹊桥 · {location.host}
            {session.type !== sessionTypes.people && site().mark_text && ` · ${madeByAi}`}
          </footer>
        </div>
      </div>
    </div>,
    document.body,
  );
};

/** The images, to be saved or shared. */
const Ready = ({ drawn: { urls, image }, session }: { drawn: Drawn; session: SessionDetail }) => {
  const of = urls.length;
  const files = image.parts.map(
    (part, at) => new File([part], nameOf(session, at, image.parts.length), { type: 'image/png' }),
  );
  const share = async () => {
    try {
      await navigator.share({ files, title: session.prompt });
    } catch (error) {
      const steppedBack = error instanceof DOMException && error.name === 'AbortError';
      if (!steppedBack) toast('没有分享出去，可以先保存图片', 'error');
    }
  };
  const canShare = typeof navigator.canShare === 'function' && navigator.canShare({ files });
  return (
    <>
      <div className={css.exportActs}>
        <Button
          kind="primary"
          onClick={() => urls.forEach((url, at) => saveFrom(url, nameOf(session, at, of)))}
        >
          {of === 1 ? '保存图片' : `保存 ${of} 张图片`}
        </Button>
        {canShare && <Button onClick={() => void share()}>分享…</Button>}
      </div>
      {image.dropped > 0 && (
        <p className={css.exportNote}>
          有 {image.dropped} 张别的网站的图片不能画进来，留了文字说明。
        </p>
      )}
      <div className={longImageCss.longPreview}>
        {urls.map((url, at) => (
          <img key={url} src={url} alt={of > 1 ? `长图第 ${at + 1} 张` : '长图'} />
        ))}
      </div>
    </>
  );
};

/** Chooses how many of the newest messages, draws them, and hands the images out. */
export const LongImageMaker = ({
  session,
  messages,
}: {
  session: SessionDetail;
  messages?: readonly Message[] | undefined;
}) => {
  const [count, setCount] = useState<number>(3);
  const [progress, setProgress] = useState(0);
  const [drawn, setDrawn] = useState<Drawn | 'failed' | null>(null);
  const [attempt, setAttempt] = useState(0);
  const stored = useQuery({
    queryKey: ['exportMessages', session.uuid, count],
    queryFn: async ({ signal }) => {
      const found: Message[] = [];
      // A page that is heavy ends early.
      for (let page = 1, last = 1; page <= last && found.length < count; page += 1) {
        const input = { session_id: session.uuid, newest: 1, page_size: count, page } as const;
        const part = await api.historyList(input, { signal, quiet: true });
        found.push(...part.list);
        last = part.page_count;
      }
      return found.slice(0, count).reverse();
    },
    enabled: messages === undefined,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: { steady: true },
  });
  const wanted = messages ? messages.slice(-count) : stored.data;
  const forget = () => {
    setProgress(0);
    setDrawn(null);
    setAttempt((before) => before + 1);
  };
  const urls = drawn === null || drawn === 'failed' ? null : drawn.urls;
  useEffect(
    () => () => {
      for (const url of urls ?? []) URL.revokeObjectURL(url);
    },
    [urls],
  );
  const choose = (next: number) => {
    if (next === count) return;
    forget();
    setCount(next);
  };
  return (
    <div className={css.exportPart}>
      <div className={longImageCss.longChoice} role="group" aria-label="画最近多少条消息">
        {choices.map((each) => (
          <Chip key={each} aria-pressed={each === count} onClick={() => choose(each)}>
            最近 {each} 条
          </Chip>
        ))}
      </div>
      {messages === undefined && stored.isError && (
        <EmptyState
          icon="warning"
          text={errorText(stored.error)}
          action={
            <Button kind="primary" onClick={() => void stored.refetch()}>
              重试
            </Button>
          }
        />
      )}
      {wanted?.length === 0 && <EmptyState icon="chat" text="还没有消息，先聊几句吧。" />}
      {drawn === 'failed' && (
        <EmptyState
          icon="warning"
          text="长图生成失败，少选几条再试试。"
          action={
            <Button kind="primary" onClick={forget}>
              重试
            </Button>
          }
        />
      )}
      {drawn === null && wanted?.length !== 0 && !stored.isError && (
        <div className={longImageCss.longWait}>
          <progress max={1} value={progress} aria-label="正在画长图" />
          <small>正在画…</small>
        </div>
      )}
      {drawn === null && wanted !== undefined && wanted.length > 0 && (
        <Drawing
          key={`${count}/${attempt}`}
          session={session}
          messages={wanted}
          onProgress={setProgress}
          onDrawn={(image) =>
            setDrawn({ image, urls: image.parts.map((part) => URL.createObjectURL(part)) })
          }
          onFailed={() => setDrawn('failed')}
        />
      )}
      {drawn !== null && drawn !== 'failed' && <Ready drawn={drawn} session={session} />}
    </div>
  );
};
