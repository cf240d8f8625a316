import { ChipDot, Tag } from '#src/ui/chip.tsx';
import { maskName } from '#src/platform/format.ts';
import { thumbnailOf } from '#src/platform/question.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { Marked } from '#src/ui/marked.tsx';
import { WithMadeMark } from '#src/widgets/image/with-made-mark.tsx';
import type { Session } from '#contract/session.ts';
import { Link } from '@tanstack/react-router';
import css from './forum.module.css';

/** Images of a question: five small ones, on a phone four larger ones (document 2 §9). */
const Images = ({ images, wide }: { images: readonly string[]; wide: boolean }) => (
  <span className={css.images} data-count={Math.min(images.length, wide ? 5 : 4)}>
    {images.slice(0, wide ? 5 : 4).map((url) => (
      <span key={url}>
        <img
          src={thumbnailOf(url, wide ? 128 : 640)}
          alt=""
          width={128}
          height={128}
          loading="lazy"
          decoding="async"
        />
        <WithMadeMark url={url} />
      </span>
    ))}
  </span>
);

/** A question as the forum lists it. */
export const QuestionCard = ({
  question,
  group,
  words,
  wide,
}: {
  question: Session;
  group: { id: number; name: string; color: string } | undefined;
  /** What was searched for. */
  words: string | undefined;
  /** The window has room for small images side by side. */
  wide: boolean;
}) => {
  const { match } = question;
  const answered = question.accepted_id !== null;
  const name = maskName(question.user_name);
  return (
    <li className={css.question} data-answered={answered || undefined}>
      <div className={css.counts} aria-hidden="true">
        <b>{question.reply_count}</b>
        <span>{answered ? '已解决' : '回答'}</span>
      </div>
      <div className={css.words}>
        <h2>
          {question.pinned && <span className={css.pin}>置顶</span>}
          {question.essence && <span className={css.essence}>精华</span>}
          {answered && <span className={css.solved}>已解决</span>}
          {question.closed && <Tag>已关闭</Tag>}
          {question.private === 1 && <Tag>私有</Tag>}
          <Link
            to="/chat"
            search={{
              uuid: question.uuid,
              history_id: match?.history_id ?? undefined,
              back: undefined,
            }}
            className={css.link}
          >
            <Marked text={question.title || '没有标题'} words={words} />
          </Link>
        </h2>
        <p className={css.excerpt}>
          <Marked text={match?.snippet || question.content} words={words} />
        </p>
        {question.images.length > 0 && <Images images={question.images} wide={wide} />}
        <p className={css.facts}>
          <Link to="/forum" search={{ user_id: question.user_id }} className={css.author}>
            <Avatar name={question.user_name} src={question.avatar} size={20} />
            <span>
              <span className="sr-only">只看 </span>
              {name}
              <span className="sr-only"> 的提问</span>
            </span>
          </Link>
          {group && (
            <Link to="/forum" search={{ group_id: group.id }} className={css.group}>
              <ChipDot color={group.color} />
              {group.name}
            </Link>
          )}
          <span className={css.end}>
            <span title="点赞">
              <Icon name="like" size={14} />
              {question.like_count}
              <span className="sr-only">个赞</span>
            </span>
            <span title="回答">
              <Icon name="chat" size={14} />
              {question.reply_count}
              <span className="sr-only">个回答</span>
            </span>
            <time dateTime={question.updated_at}>{relativeTime(question.updated_at)}</time>
          </span>
        </p>
      </div>
    </li>
  );
};
