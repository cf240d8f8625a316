import type { Message } from '@contract/chat.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { safeImage } from '../markdown/safe-url.ts';
import { Icon } from '../ui/icon.tsx';
import './conversation.css';
import { saidIn } from './said.ts';

type One = Omit<Message, 'beside'>;

const Answer = ({ message }: { message: One }) =>
  message.ai === '' ? null : (
    <div className="told told-theirs">
      <span className="told-name">{message.model}</span>
      <div className="told-bubble">
        <Markdown text={message.ai} />
      </div>
    </div>
  );

/** A message and what was answered, to be read alone: nothing can be done with it. */
export const Exchange = ({ message }: { message: Message }) => {
  const { text, images, files } = saidIn(message);
  const shown = images.map(safeImage).filter((address) => address !== null);
  return (
    <section className="told-pair" data-message={message.id}>
      <div className="told told-mine">
        <span className="told-name">{message.user_name}</span>
        <div className="told-bubble">
          {message.title !== '' && <strong className="told-title">{message.title}</strong>}
          {text}
          {shown.length > 0 && (
            <span className="told-images">
              {shown.map((address) => (
                <img key={address} src={address} alt="消息里的图片" loading="lazy" />
              ))}
            </span>
          )}
          {files.map((name, at) => (
            <span className="told-file" key={at}>
              <Icon name="document" size={16} />
              {name}
            </span>
          ))}
        </div>
      </div>
      <Answer message={message} />
      {message.beside && <Answer message={message.beside} />}
    </section>
  );
};
