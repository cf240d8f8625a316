import { maskName } from '@/platform/format.ts';
import type { Message } from '@contract/chat.ts';
import { Markdown } from '@/widgets/markdown/markdown.tsx';
import { readPictures } from '@/widgets/image/image-reply.ts';
import { ForeignImage, isForeign } from '@/widgets/image/foreign-image.tsx';
import { useModel } from '@/platform/queries.ts';
import { readQuestion, thumbnailOf } from '@/platform/question.ts';
import { Icon } from '@/ui/icon.tsx';
import './conversation.css';

type One = Omit<Message, 'beside'>;

const pictureType = 1;

/** What was drawn; null: nothing was. */
const Drawn = ({ message }: { message: One }) => {
  const images = readPictures(message)?.images.filter(({ url }) => url !== '') ?? [];
  if (images.length === 0) return null;
  return (
    <span className="told-images told-drawn">
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

const Answer = ({ message }: { message: One }) => {
  const model = useModel(message.model);
  if (message.ai === '') return null;
  return (
    <div className="told told-theirs">
      <span className="told-name">{model?.label ?? message.model}</span>
      <div className="told-bubble">
        {message.type === pictureType ? (
          <Drawn message={message} />
        ) : (
          <Markdown text={message.ai} />
        )}
      </div>
    </div>
  );
};

/** A message and what was answered, to be read alone: nothing can be done with it. */
export const Exchange = ({ message }: { message: Message }) => {
  const { text, images, files } = readQuestion(message);
  return (
    <section className="told-pair" data-message={message.id}>
      <div className="told told-mine">
        <span className="told-name">{maskName(message.user_name)}</span>
        <div className="told-bubble">
          {message.title !== '' && <strong className="told-title">{message.title}</strong>}
          {text}
          {images.length > 0 && (
            <span className="told-images">
              {images.map((address) =>
                isForeign(address) ? (
                  <ForeignImage key={address} url={address} alt="" />
                ) : (
                  <img
                    key={address}
                    src={thumbnailOf(address, 640)}
                    alt="消息里的图片"
                    loading="lazy"
                  />
                ),
              )}
            </span>
          )}
          {files.map((file) => (
            <span className="told-file" key={file.uuid}>
              <Icon name="document" size={16} />
              {file.name}
            </span>
          ))}
        </div>
      </div>
      <Answer message={message} />
      {message.beside && <Answer message={message.beside} />}
    </section>
  );
};
