import { readImages } from '#src/widgets/image/image-reply.ts';
import { ForeignImage, isForeign } from '#src/widgets/image/foreign-image.tsx';
import { madeMarkOf } from '#src/widgets/image/with-made-mark.tsx';
import { imageSources, smallImage, smallerOnes } from '#src/widgets/image/image-sources.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useImageModels, useModel } from '#src/platform/queries.ts';
import { useModuleLabel } from '#src/widgets/image/image-metadata.ts';
import { errorText } from '#src/platform/api-error.ts';
import { toast } from '#src/platform/toast.ts';
import { saveImage } from '#src/ui/save-image.ts';
import { ImageViewer } from '#src/widgets/viewer/image-viewer.tsx';
import { LoadedImage } from '#src/ui/loaded-image.tsx';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { PhotoViewer } from '#src/ui/photo-viewer.tsx';
import type { ImageReply, MadeImage } from '#contract/image.ts';
import type { JobEvent } from '#contract/job.ts';
import type { Message } from '#contract/chat.ts';
import { takesStrength } from '#contract/image-family.ts';
import { Link } from '@tanstack/react-router';
import { useState, type CSSProperties, type ReactNode } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { WorkQuestion, workRow } from '#src/widgets/conversation/work-row.tsx';
import { ImageActs, ImageMenu, useAsBase } from './image-acts.tsx';
import { imagePath } from '#src/widgets/image/image-path.ts';
import { changeAsked } from './image-send.ts';
import { generate } from './image-draw.ts';
import { useWorkState, WorkMissing, WorkProgress } from '#src/widgets/conversation/work-state.tsx';
import { usePriceOf } from './request-price.ts';
import {
  baseOf,
  countOf,
  readAsked,
  shapeOf,
  taskName,
  wordsOf,
  type Asked,
} from './image-request.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';
import drawCss from '#src/widgets/image/image-session.module.css';

/** Longer prompts are folded. */
const longPrompt = 160;

const columnsFor = (count: number): number => {
  if (count === 1) return 1;
  return count === 2 || count === 4 ? 2 : 3;
};

/** The place of the images, as high from the first moment as at the end. */
const Grid = ({
  count,
  shape,
  label,
  children,
}: {
  count: number;
  shape: { width: number; height: number };
  label: string;
  children: ReactNode;
}) => (
  <div
    className={drawCss.made}
    data-count={count}
    style={
      {
        '--made-shape': shape.width / shape.height,
        '--made-columns': columnsFor(count),
      } as CSSProperties
    }
  >
    <ul aria-label={label}>{children}</ul>
  </div>
);

/** The image that it starts from; one that can not be shown is named. */
const BaseImage = ({ url, onView }: { url: string; onView: () => void }) => {
  const [broken, setBroken] = useState(!url.startsWith('/files/'));
  if (isForeign(url)) return <ForeignImage url={url} alt="参考图" />;
  if (broken)
    return (
      <p className={`${drawCss.askedFacts} ${drawCss.askedAddress}`}>
        <PathIcon path={imagePath} size={14} />
        参考图 {url}
      </p>
    );
  return (
    <button type="button" className={drawCss.askedBase} aria-label="查看参考图" onClick={onView}>
      <img
        src={smallImage(url, 180)}
        alt="参考图"
        loading="lazy"
        decoding="async"
        onError={() => setBroken(true)}
      />
    </button>
  );
};

const Question = ({ message, asked }: { message: Message; asked: Asked }) => {
  const acts = useChatActs();
  const [open, setOpen] = useState(false);
  const [viewing, setViewing] = useState(false);
  const model = useModel(acts.model);
  const words = wordsOf(asked);
  const base = baseOf(asked);
  const task = taskName(asked);
  const long = words.length > longPrompt;
  const shape = shapeOf(asked, model);
  const { image } = asked;
  const moduleLabel = useModuleLabel(acts.model, image.controlnet_module);
  const painted = asked.type === 'txt2img' || asked.type === 'img2img' || asked.type === 'vary';
  const facts = [
    painted && model?.image?.family === 'midjourney'
      ? `比例 ${shape.width}:${shape.height}`
      : painted && `${shape.width}×${shape.height}`,
    painted && `${countOf(asked, model)} 张`,
    image.strength !== undefined &&
      base !== '' &&
      takesStrength(model?.image?.family ?? 'built-in') &&
      `重绘幅度 ${image.strength}`,
    model?.image?.checkpoints.find(({ name }) => name === image.parameters.checkpoint)?.label ??
      image.parameters.checkpoint,
    image.controlnet_module !== '' && `构图 ${moduleLabel}`,
  ].filter(Boolean);
  return (
    <WorkQuestion
      message={message}
      before={base !== '' && <BaseImage key={base} url={base} onView={() => setViewing(true)} />}
      after={
        <>
          {facts.length > 0 && <p className={drawCss.askedFacts}>{facts.join(' · ')}</p>}
          {viewing && <PhotoViewer images={[base]} index={0} onClose={() => setViewing(false)} />}
        </>
      }
    >
      {task !== '' && <span className={drawCss.askedTask}>{task}</span>}
      {long && !open ? `${words.slice(0, longPrompt)}…` : words}
      {long && (
        <button type="button" className={rowCss.unfold} onClick={() => setOpen(!open)}>
          {open ? '收起' : `展开全部 ${words.length} 字`}
        </button>
      )}
    </WorkQuestion>
  );
};

/**
 * What is seen of images to come, by their place. An engine that paints one after the other shows
 * each at its own; what others show may be all of them at once, and lies over all places.
 */
const usePreviews = (live: JobEvent | null, count: number, inTurn: boolean): readonly string[] => {
  const [seen, setSeen] = useState<readonly string[]>([]);
  const image = live?.current_image ?? '';
  if (image === '' || !inTurn) return [];
  const at = Math.min(count - 1, Math.floor((live?.job.progress ?? 0) * count));
  if (seen[at] === image) return seen;
  const next = Array.from({ length: at + 1 }, (_, place) => seen[place] ?? '');
  next[at] = image;
  setSeen(next);
  return next;
};

const Waiting = ({
  asked,
  live,
  cancellable,
}: {
  asked: Asked;
  /** Null: it is on its way to the server. */
  live: JobEvent | null;
  cancellable: boolean;
}) => {
  const { model: name } = useChatActs();
  const model = useModel(name);
  const shape = shapeOf(asked, model);
  const count = countOf(asked, model);
  const inTurn = count === 1 || model?.image?.family === 'built-in';
  const previews = usePreviews(live, count, inTurn);
  return (
    <>
      <Grid count={count} shape={shape} label="正在画">
        {Array.from({ length: count }, (_, at) => (
          <li key={at} className={`${drawCss.madeTile} ${drawCss.madeWait}`}>
            {previews[at] && <img src={previews[at]} alt={`第 ${at + 1} 张画到现在的样子`} />}
          </li>
        ))}
        {live && !inTurn && live.current_image !== '' && (
          <li className={drawCss.madePreview}>
            <img src={live.current_image} alt="画到现在的样子" />
          </li>
        )}
      </Grid>
      <WorkProgress live={live} cancellable={cancellable} label="作画进度" />
    </>
  );
};

const Tile = ({
  image,
  at,
  columns,
  onView,
  onMenu,
  onBase,
}: {
  image: MadeImage;
  /** Its number, from 0. */
  at: number;
  columns: number;
  onView: () => void;
  onMenu: () => void;
  /** Null: it cannot be gone on from. */
  onBase: (() => void) | null;
}) => {
  const label = `第 ${at + 1} 张`;
  if (image.url === '')
    return (
      <li className={`${drawCss.madeTile} ${drawCss.madeNone}`}>
        <Icon name="warning" size={20} />
        {image.error === '' ? '图片已删除' : '生成失败'}
      </li>
    );
  return (
    <li className={drawCss.madeTile}>
      <button
        type="button"
        className={drawCss.madeView}
        aria-label={`查看${label}`}
        onClick={onView}
      >
        <LoadedImage
          {...imageSources(image)}
          sizes={`(min-width: 750px) ${columns === 1 ? 440 : Math.round(560 / columns)}px, ${Math.round(88 / columns)}vw`}
          width={image.width}
          height={image.height}
          alt={label}
          loading="lazy"
          decoding="async"
        />
      </button>
      <span className={drawCss.madeHover}>
        {onBase && (
          <button
            type="button"
            aria-label={`${label}作为参考图`}
            title="作为参考图"
            onClick={onBase}
          >
            <Icon name="reply" size={18} />
          </button>
        )}
        <button
          type="button"
          aria-label={`保存${label}`}
          title="保存"
          onClick={() =>
            void saveImage(image.url).catch((error: unknown) => toast(errorText(error), 'error'))
          }
        >
          <Icon name="download" size={18} />
        </button>
      </span>
      <button
        type="button"
        className={`round ${drawCss.madeMore}`}
        aria-label={`${label}的更多操作`}
        onClick={onMenu}
      >
        <Icon name="more" size={18} />
      </button>
    </li>
  );
};

const nothingMade = { uuid: '', seed: null, error: '' };

/** What the words name and the canvas cannot draw, and who could. */
const Unread = ({ words }: { words: readonly string[] }) => {
  const { user } = useAuth();
  const others = (useImageModels().data ?? []).some(({ built_in }) => !built_in);
  return (
    <p className={drawCss.madeUnread}>
      没听懂：{words.join('、')}
      {others ? (
        '，换成其他画图模型可画'
      ) : user?.admin ? (
        <>
          ，
          <Link className="link" to="/manager/start">
            连接模型可画
          </Link>
        </>
      ) : (
        '，连接模型可画'
      )}
    </p>
  );
};

const Images = ({
  message,
  asked,
  reply,
}: {
  message: Message;
  asked: Asked;
  reply: ImageReply;
}) => {
  const [viewing, setViewing] = useState<number | null>(null);
  const [menu, setMenu] = useState<number | null>(null);
  const asBase = useAsBase();
  const { images } = reply;
  const first = images.find(({ url, width, height }) => url !== '' && width > 0 && height > 0);
  const shape = first ?? (reply.width > 0 && reply.height > 0 ? reply : { width: 1, height: 1 });
  const shown = images.filter(({ url }) => url !== '');
  const columns = columnsFor(images.length);
  // Of what an older server made there is no more than its address.
  const whole = shown.every(({ id }) => id > 0);
  const use = (act: (image: MadeImage) => void) => (at: number) => {
    const image = shown[at];
    if (image) act(image);
  };
  const madeOf = ({ id }: { id: number }) => shown.find((each) => each.id === id) ?? nothingMade;
  const failed = images.flatMap(({ error }, at) => (error === '' ? [] : [{ error, at }]));
  return (
    <>
      <Grid count={images.length} shape={shape} label="画好的图片">
        {images.map((image, at) => (
          <Tile
            key={image.uuid || at}
            image={image}
            at={at}
            columns={columns}
            onView={() => setViewing(shown.indexOf(image))}
            onMenu={() => setMenu(at)}
            onBase={asBase ? () => asBase(image) : null}
          />
        ))}
      </Grid>
      {failed.length > 0 && (
        <ul className={drawCss.madeErrors} role="alert">
          {failed.map(({ error, at }) => (
            <li key={at}>
              第 {at + 1} 张：{error}
            </li>
          ))}
        </ul>
      )}
      {reply.unread && reply.unread.length > 0 && <Unread words={reply.unread} />}
      <ImageActs message={message} asked={asked} reply={reply} />
      <ImageMenu
        asked={asked}
        reply={reply}
        at={menu}
        onView={(at) => {
          const image = images[at];
          if (image) setViewing(shown.indexOf(image));
        }}
        onClose={() => setMenu(null)}
      />
      {viewing !== null &&
        (whole ? (
          <ImageViewer
            images={shown}
            at={viewing}
            onTurn={setViewing}
            onClose={() => setViewing(null)}
            onBase={asBase ? (image) => asBase({ ...image, ...madeOf(image) }) : undefined}
          />
        ) : (
          <PhotoViewer
            images={shown.map(({ url }) => url)}
            smallerOf={smallerOnes}
            index={viewing}
            words={asked.prompt}
            mark={madeMarkOf}
            acts={asBase ? [{ icon: 'reply' as const, label: '作为参考图', run: use(asBase) }] : []}
            onClose={() => setViewing(null)}
          />
        ))}
    </>
  );
};

const Answer = ({ message, asked }: { message: Message; asked: Asked }) => {
  const acts = useChatActs();
  const priceOf = usePriceOf();
  const reply = readImages(message);
  const each = reply?.images.flatMap(({ error }, at) =>
    error === '' ? [] : [`第 ${at + 1} 张：${error}`],
  );
  const state = useWorkState(message, {
    unbegun: acts.owner ? '还没有开始画' : '还没有画',
    begin: '开始画',
    ...(each?.length ? { failed: each.join('\n') } : {}),
  });
  if (reply?.images.some(({ url, error }) => url !== '' || error === ''))
    return <Images message={message} asked={asked} reply={reply} />;
  if ('live' in state) return <Waiting asked={asked} {...state} />;
  return (
    <WorkMissing
      message={message}
      missing={state.missing}
      prompt={asked.prompt}
      price={priceOf(asked)?.words ?? ''}
      onBegin={() => void generate(acts.thread, message.id, asked)}
      onChange={() => changeAsked(acts.uuid, asked)}
    />
  );
};

/** What was asked of a painter, and what came of it. */
export const ImageRow = workRow(readAsked, Question, Answer);
