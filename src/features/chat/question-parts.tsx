import { ownFiles, readQuestion, thumbnailOf, type Question } from '#src/platform/question.ts';
import { isSendKey } from '#src/platform/send-key.ts';
import { useSettings } from '#src/platform/queries.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { byteSize } from '#src/platform/format.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { PhotoViewer } from '#src/ui/photo-viewer.tsx';
import { ForeignImage, isForeign } from '#src/widgets/image/foreign-image.tsx';
import { madeMarkOf, WithMadeMark } from '#src/widgets/image/with-made-mark.tsx';
import type { Message } from '#contract/chat.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useLayoutEffect, useRef, useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import css from './question-parts.module.css';

const AttachedText = lazyAsked(() => import('./attached-text.tsx'));

/** A file by its name; whose own it is opens it. */
const FileChip = ({ file, onOpen }: { file: Question['files'][number]; onOpen: () => void }) => {
  const name = file.name || '附件';
  const words = (
    <>
      <Icon name="document" size={18} />
      <span>{name}</span>
      {file.size > 0 && <small>{byteSize(file.size)}</small>}
    </>
  );
  return ownFiles([file]).length > 0 ? (
    <button type="button" className={css.fileChip} aria-label={`打开${name}`} onClick={onOpen}>
      {words}
    </button>
  ) : (
    <span className={css.fileChip}>{words}</span>
  );
};

/** The images and files of a message. */
export const Attachments = ({ images, files }: Pick<Question, 'images' | 'files'>) => {
  const [shown, setShown] = useState<number | null>(null);
  const [reading, setReading] = useState<Question['files'][number] | null>(null);
  const foreign = images.filter(isForeign);
  const own = images.filter((url) => !isForeign(url));
  return (
    <div className={css.attachments}>
      {foreign.map((url) => (
        <ForeignImage key={url} url={url} alt="" />
      ))}
      {own.length > 0 && (
        <ul className={css.images} data-count={own.length} aria-label="图片">
          {own.map((url, at) => (
            <li key={url}>
              <button
                type="button"
                aria-label={`查看第 ${at + 1} 张图片`}
                onClick={() => setShown(at)}
              >
                <img
                  src={thumbnailOf(url, own.length > 1 ? 128 : 640)}
                  srcSet={
                    own.length > 1
                      ? `${thumbnailOf(url, 128)} 128w, ${thumbnailOf(url, 640)} 640w`
                      : undefined
                  }
                  sizes="120px"
                  alt={`图片 ${at + 1}`}
                  loading="lazy"
                  decoding="async"
                />
                <WithMadeMark url={url} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul className={css.fileChips} aria-label="附件">
          {files.map((file, at) => (
            <li key={at}>
              <FileChip file={file} onOpen={() => setReading(file)} />
            </li>
          ))}
        </ul>
      )}
      {reading && <AttachedText file={reading} onClose={() => setReading(null)} />}
      {shown !== null && (
        <PhotoViewer images={own} index={shown} mark={madeMarkOf} onClose={() => setShown(null)} />
      )}
    </div>
  );
};

/** A question in place of its bubble, to be asked in other words: a new branch. */
export const QuestionEditor = ({ message }: { message: Message }) => {
  const acts = useChatActs();
  const { disable_enter } = useSettings();
  const before = readQuestion(message).text;
  const draft = `${acts.uuid}.${message.id}`;
  const [text, setText] = useState(() => readDraft(draft) || before);
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = 'auto';
    if (text !== '') area.style.height = `${Math.min(320, area.scrollHeight + 2)}px`;
  }, [text]);
  useLayoutEffect(() => {
    const area = box.current;
    area?.focus({ preventScroll: true });
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  const write = (next: string) => {
    setText(next);
    writeDraft(draft, next === before ? '' : next);
  };
  const close = () => {
    writeDraft(draft, '');
    acts.toggle('edit', message.id);
  };
  const wanted = text.trim();
  const ready = wanted !== '' && wanted !== before.trim() && !busy;
  const send = async () => {
    if (!ready) return;
    setBusy(true);
    if (await acts.ask(message, wanted)) writeDraft(draft, '');
    else setBusy(false);
  };
  return (
    <form
      className={css.questionEditor}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={box}
        aria-label="编辑问题"
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
          if (!isSendKey(event.nativeEvent, disable_enter === 1)) return;
          event.preventDefault();
          void send();
        }}
      />
      <footer>
        <small>发送后成为新的分支，原来的保留</small>
        <Button size="small" onClick={close}>
          取消
        </Button>
        <Button size="small" kind="primary" type="submit" busy={busy} disabled={!ready}>
          发送
        </Button>
      </footer>
    </form>
  );
};
