import { Icon } from '#src/ui/icon.tsx';
import boxCss from '#src/widgets/composer/send.module.css';
import drawCss from './image-session.module.css';

/** Sends a box; says what that takes. */
export const MakeButton = ({
  word,
  price,
  busy = false,
}: {
  word: string;
  /** Null: not known yet. */
  price: { text: string; words: string } | null;
  busy?: boolean;
}) => (
  <button
    type="submit"
    className={`round ${boxCss.sendButton} ${drawCss.drawButton}`}
    data-sender
    aria-label={price ? `${word}，${price.words}` : word}
    title={price?.words}
    aria-busy={busy || undefined}
    disabled={busy}
  >
    <Icon name="send" size={20} />
    <span>{price?.text ?? word}</span>
  </button>
);
