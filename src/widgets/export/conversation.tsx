import { sessionTypes } from '#contract/kinds.ts';
import { maskName } from '#src/platform/format.ts';
import type { Message } from '#contract/chat.ts';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { streamCodes } from '#contract/page-errors.ts';
import { videoBase, readVideos } from '#src/widgets/image/video-reply.ts';
import { readImages } from '#src/widgets/image/image-reply.ts';
import { ForeignImage, isForeign } from '#src/widgets/image/foreign-image.tsx';
import { WithMadeMark } from '#src/widgets/image/with-made-mark.tsx';
import { useModel } from '#src/platform/queries.ts';
import { readQuestion, thumbnailOf } from '#src/platform/question.ts';
import { DrawnFile } from '#src/widgets/conversation/drawn-file.tsx';
import { citedSources, Sources } from '#src/widgets/conversation/sources.tsx';
import { Film } from '#src/ui/film.tsx';
import { Icon } from '#src/ui/icon.tsx';
import css from './conversation.module.css';

type One = Omit<Message, 'beside'>;

/** What was drawn; null: nothing was. */
const Drawn = ({ message }: { message: One }) => {
  const images = readImages(message)?.images.filter(({ url }) => url !== '') ?? [];
  if (images.length === 0) return null;
  return (
    <span className={`${css.toldImages} ${css.toldDrawn}`}>
      {images.map(({ url, uuid, width, height }, at) => (
        <img
          key={uuid}
          src={thumbnailOf(url, 640)}
          width={width}
          height={height}
          alt={`画好的第 ${at + 1} 张图片`}
          loading="lazy"
        />
      ))}
    </span>
  );
};

/** What was filmed, to be played; `still`: its first images alone. */
const Filmed = ({ message, still }: { message: One; still: boolean }) =>
  (readVideos(message) ?? []).map(({ uuid, url, poster, width, height, duration, error }) => {
    const label = `视频，${Math.round(duration)} 秒`;
    if (url === '') return <p key={uuid}>{error || '视频已删除'}</p>;
    return (
      <figure key={uuid} className={css.toldFilm}>
        {still ? (
          <img src={poster} width={width} height={height} alt={label} />
        ) : (
          <Film url={url} poster={poster} width={width} height={height} label={label} />
        )}
        {still && <figcaption>{label}</figcaption>}
      </figure>
    );
  });

/** How a reply ended that is not whole. */
const endings: Partial<Record<Message['state'], string>> = {
  interrupted: streamCodes.interrupted,
  stopped: '回复已停止',
  error: '回复出错，没有写完',
};

const bodyOf = (message: One, still: boolean) => {
  if (message.type === sessionTypes.image) return <Drawn message={message} />;
  if (message.type === sessionTypes.video) return <Filmed message={message} still={still} />;
  return <Markdown text={message.ai} />;
};

const Answer = ({ message, still }: { message: One; still: boolean }) => {
  const model = useModel(message.model);
  const files = (message.tools ?? []).flatMap((tool) => tool.files ?? []);
  const made = files.filter(({ image }) => image);
  if (message.ai === '' && made.length === 0) return null;
  const ending = endings[message.state];
  return (
    <div className={`${css.told} ${css.toldTheirs}`} data-told>
      <span className={css.toldName}>{model?.label ?? message.model}</span>
      {message.tools && (
        <p className={css.toldEnding}>
          用了工具：{[...new Set(message.tools.map(({ label }) => label))].join('、')}
        </p>
      )}
      <div className={css.toldBubble}>{bodyOf(message, still)}</div>
      {made.length > 0 && (
        <div className={`${css.toldImages} ${css.toldDrawn}`}>
          {made.map(({ url, name }) => (
            <img key={url} src={url} alt={name} />
          ))}
        </div>
      )}
      {files.map((file) => (file.shown ? <DrawnFile key={file.url} file={file} /> : null))}
      {message.sources && citedSources(message).cited && <Sources answer={message} />}
      {ending !== undefined && <p className={css.toldEnding}>{ending}</p>}
    </div>
  );
};

/**
 * A message and what was answered, to be read alone: nothing can be done with it.
 * @param still films are shown as images
 */
export const Exchange = ({ message, still = false }: { message: Message; still?: boolean }) => {
  const { text, images: asked, files } = readQuestion(message);
  const base = message.type === sessionTypes.video ? videoBase(message) : '';
  const images = base === '' ? asked : [base, ...asked];
  return (
    <section className={css.toldPair} data-message={message.id}>
      <div className={`${css.told} ${css.toldMine}`} data-told>
        <span className={css.toldName}>{maskName(message.user_name)}</span>
        <div className={css.toldBubble}>
          {message.title !== '' && <strong className={css.toldTitle}>{message.title}</strong>}
          {text}
          {images.length > 0 && (
            <span className={css.toldImages}>
              {images.map((address) =>
                isForeign(address) ? (
                  <ForeignImage key={address} url={address} alt="" />
                ) : (
                  <span key={address} className={css.toldImage}>
                    <img src={thumbnailOf(address, 640)} alt="消息里的图片" loading="lazy" />
                    <WithMadeMark url={address} />
                  </span>
                ),
              )}
            </span>
          )}
          {files.map((file) => (
            <span className={css.toldFile} key={file.uuid}>
              <Icon name="document" size={16} />
              {file.name}
            </span>
          ))}
        </div>
      </div>
      <Answer message={message} still={still} />
      {message.beside && <Answer message={message.beside} still={still} />}
    </section>
  );
};
