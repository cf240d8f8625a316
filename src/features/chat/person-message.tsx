import { maskName } from '#src/platform/format.ts';
import { copyText } from '#src/platform/copy.ts';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import { useChatModels } from '#src/platform/queries.ts';
import { readQuestion } from '#src/platform/question.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { memo } from 'react';
import { useChatActs, useRowMode } from '#src/widgets/conversation/chat-context.ts';
import { separatorTime } from '#src/widgets/conversation/chat-time.ts';
import { ActsRow, MoreAct, Marks, SmallAct } from '#src/widgets/conversation/message-acts.tsx';
import { MessageEditor } from './message-editor.tsx';
import { OnItsWay } from '#src/widgets/conversation/on-its-way.tsx';
import { Separator } from '#src/widgets/conversation/separator.tsx';
import { useLongPress } from '#src/widgets/conversation/long-press.ts';
import css from './person-message.module.css';
import { acceptAnswer, quote } from './question-acts.ts';
import { useQuestion } from './question-context.ts';
import { Attachments } from './question-parts.tsx';
import type { Message } from '#contract/chat.ts';
import type { QuestionRow } from '#src/widgets/conversation/rows.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

/** As long as the title of a question is in sight, the head does not say it once more. */
const sayOnce = (title: HTMLElement | null) => {
  const chat = title?.closest('[data-chat]');
  if (!title || !chat) return undefined;
  const watch = new IntersectionObserver(([entry]) =>
    chat.toggleAttribute('data-titled', entry?.isIntersecting === true),
  );
  watch.observe(title);
  return () => {
    watch.disconnect();
    chat.removeAttribute('data-titled');
  };
};

/** What can be done with a message of a person. */
const PersonActs = ({
  message,
  text,
  accepted,
}: {
  message: Message;
  /** Its words alone. */
  text: string;
  accepted: boolean;
}) => {
  const acts = useChatActs();
  const question = useQuestion();
  const mine = message.user_id === acts.me;
  // The question itself has the title; where a model answered, its answer is what is accepted.
  const answer = question !== null && message.title === '' && message.ai === '';
  const person = { id: message.user_id, name: maskName(message.user_name) };
  return (
    <ActsRow className={`${rowCss.acts} ${css.personActs}`}>
      {() => (
        <>
          <Marks message={message} />
          {answer && question.owner && (
            <SmallAct
              icon="check"
              label={accepted ? '取消采纳' : '采纳'}
              pressed={accepted}
              onClick={() => void acceptAnswer(acts.uuid, message.id, !accepted)}
            />
          )}
          {question && acts.writable && (
            <SmallAct
              icon="quote"
              label="引用"
              wide
              onClick={() => quote(acts.uuid, person, text, !mine)}
            />
          )}
          {acts.writable && !mine && (
            <SmallAct icon="reply" label="回复" onClick={() => acts.answerTo(person)} />
          )}
          {mine && (
            <SmallAct icon="edit" label="修改" onClick={() => acts.toggle('edit', message.id)} />
          )}
          <SmallAct icon="copy" label="复制" wide onClick={() => void copyText(text)} />
          <MoreAct message={message} of="question" />
        </>
      )}
    </ActsRow>
  );
};

/** What a person wrote in a session of people: who, when, to whom, and Markdown. */
const PersonMessage = memo(function PersonMessage({
  row: { message, time },
}: {
  row: QuestionRow;
}) {
  const acts = useChatActs();
  const models = useChatModels();
  const press = useLongPress(() => acts.openMenu(message, 'question'));
  const { text, images, files, atUser, atAi } = readQuestion(message);
  const editing = useRowMode('edit', message.id);
  const mine = message.user_id === acts.me;
  const question = useQuestion();
  const accepted = question?.accepted_id === message.id && message.ai === '';
  const name = maskName(message.user_name);
  const person = { id: message.user_id, name };
  const aiLabel = models.data?.find((model) => model.name === atAi)?.label ?? atAi;
  // Two who know each other need neither names nor buttons at each line: those come with the mouse,
  // a tap or a long press.
  const quiet = question === null;
  const row = (
    <article
      className={css.personMessage}
      data-person
      data-quiet={quiet || undefined}
      data-message={message.id}
      data-mine={(quiet && mine) || undefined}
      data-article={question === null ? undefined : message.title === '' ? 'answer' : 'question'}
      data-accepted={accepted || undefined}
      aria-label={`${name}的${question === null ? '消息' : message.title === '' ? '回答' : '问题'}`}
    >
      <button
        type="button"
        className={css.personFace}
        aria-label={`关于${name}`}
        onClick={() => acts.openPerson(person)}
      >
        <Avatar name={name || '我'} src={message.avatar} size={36} />
      </button>
      <div className={css.personWords}>
        <header>
          <b>{name}</b>
          <time dateTime={message.created_at}>{separatorTime(message.created_at)}</time>
          {message.edited && <span>已编辑</span>}
          {accepted && <span className={css.personAccepted}>✓ 已采纳</span>}
        </header>
        <div
          className={`${rowCss.bubble} ${mine && quiet ? rowCss.bubbleMine : rowCss.bubbleTheirs} ${css.personBubble}`}
          data-bubble={mine ? 'mine' : 'theirs'}
          {...press}
        >
          {message.title !== '' && <h2 ref={sayOnce}>{message.title}</h2>}
          {(atUser !== null || atAi !== '') && (
            <p className={css.mentions}>
              {atUser && <span className={css.mention}>@{maskName(atUser.name)}</span>}
              {atAi !== '' && <span className={css.mention}>@{aiLabel}</span>}
            </p>
          )}
          <Markdown text={text} />
          {message.id < 0 && <OnItsWay />}
        </div>
        {images.length + files.length > 0 && <Attachments images={images} files={files} />}
        {message.id > 0 && <PersonActs message={message} text={text} accepted={accepted} />}
      </div>
      {editing && (
        <MessageEditor
          {...(message.title === '' ? {} : { initialTitle: message.title })}
          initialText={text}
          draftKey={String(message.id)}
          group={message.title === '' ? undefined : question?.group_id}
          onSave={async ({ title, content }, group) => {
            const commands = await acts.thread.commands();
            return commands.update(message.id, content, title, group);
          }}
          onClose={() => acts.toggle('edit', message.id)}
        />
      )}
    </article>
  );
  if (!quiet) return row;
  return (
    <>
      <Separator time={time} />
      {row}
    </>
  );
});

export default PersonMessage;
