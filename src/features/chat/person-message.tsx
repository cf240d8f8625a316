import { copyText } from '@/shared/markdown/copy.ts';
import { Markdown } from '@/shared/markdown/markdown.tsx';
import { useChatModels } from '@/shared/queries.ts';
import { readQuestion } from '@/shared/question.ts';
import { Avatar } from '@/shared/ui/avatar.tsx';
import { memo } from 'react';
import { useChatActs, useRowMode } from './chat-context.ts';
import { separatorTime } from './chat-time.ts';
import { ActsRow, MoreAct, Marks, SmallAct } from './message-acts.tsx';
import { MessageEditor } from './message-editor.tsx';
import { useLongPress } from './message-row.tsx';
import './person-message.css';
import { Attachments } from './question-parts.tsx';
import type { QuestionRow } from './rows.ts';

/** What a person wrote in a session of people: who, when, to whom, and Markdown. */
const PersonMessage = memo(function PersonMessage({ row: { message } }: { row: QuestionRow }) {
  const acts = useChatActs();
  const models = useChatModels();
  const press = useLongPress(() => acts.openMenu(message, 'question'));
  const { text, images, files, atUser, atAi } = readQuestion(message);
  const editing = useRowMode('edit', message.id);
  const mine = message.user_id === acts.me;
  const person = { id: message.user_id, name: message.user_name };
  const aiLabel = models.data?.find((model) => model.name === atAi)?.label ?? atAi;
  return (
    <article
      className="person-message"
      data-message={message.id}
      data-mine={mine || undefined}
      aria-label={`${message.user_name}的消息`}
    >
      <button
        type="button"
        className="person-face"
        aria-label={`关于${message.user_name}`}
        onClick={() => acts.openPerson(person)}
      >
        <Avatar name={message.user_name || '我'} size={36} />
      </button>
      <div className="person-words">
        <header>
          <b>{message.user_name}</b>
          <time dateTime={message.created_at}>{separatorTime(message.created_at)}</time>
          {message.edited && <span>已编辑</span>}
        </header>
        <div className={mine ? 'bubble bubble-mine' : 'bubble bubble-theirs'} {...press}>
          {message.title !== '' && <h3>{message.title}</h3>}
          {(atUser !== null || atAi !== '') && (
            <p className="mentions">
              {atUser && <span className="mention">@{atUser.name}</span>}
              {atAi !== '' && <span className="mention">@{aiLabel}</span>}
            </p>
          )}
          <Markdown text={text} />
        </div>
        {images.length + files.length > 0 && <Attachments images={images} files={files} />}
        {message.id > 0 && (
          <ActsRow>
            {() => (
              <>
                <Marks message={message} />
                {acts.writable && !mine && (
                  <SmallAct icon="reply" label="回复" onClick={() => acts.answerTo(person)} />
                )}
                {mine && (
                  <SmallAct
                    icon="edit"
                    label="修改"
                    onClick={() => acts.toggle('edit', message.id)}
                  />
                )}
                <SmallAct icon="copy" label="复制" wide onClick={() => void copyText(text)} />
                <MoreAct message={message} of="question" />
              </>
            )}
          </ActsRow>
        )}
      </div>
      {editing && (
        <MessageEditor
          {...(message.title === '' ? {} : { initialTitle: message.title })}
          initialText={text}
          draftKey={String(message.id)}
          onSave={async ({ title, content }) => {
            const writing = await acts.thread.writing();
            return writing.update(message.id, content, title);
          }}
          onClose={() => acts.toggle('edit', message.id)}
        />
      )}
    </article>
  );
});

export default PersonMessage;
