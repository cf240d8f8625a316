import { Tag } from '#src/ui/chip.tsx';
import { sessionTypes } from '#contract/kinds.ts';
import { LoadedImage } from '#src/ui/loaded-image.tsx';
import { maskName } from '#src/platform/format.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { useModel } from '#src/platform/queries.ts';
import { thumbnailOf } from '#src/platform/question.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Icon, type IconName } from '#src/ui/icon.tsx';
import type { Channel, Session } from '#contract/session.ts';
import { Link } from '@tanstack/react-router';
import { Marked } from '#src/ui/marked.tsx';
import type { SessionAct } from './session-acts.ts';
import { sessionTitle } from './session-title.ts';
import css from './home.module.css';

/** A model's label and colour by its name; one that is gone keeps its name. */
export const useModelLook = (name: string): { label: string; color: string; logo: string } => {
  const model = useModel(name);
  return model ?? { label: name, color: '', logo: '' };
};

/** Which part of the message that was found has the words, for the address of its session. */
const partOf = ({ match }: Session): 'ai' | undefined => (match?.part === 'ai' ? 'ai' : undefined);

/** The message for which a session stands among the favourites that is no favourite itself. */
export const markedIn = (
  session: Session,
  channel: Channel,
  words: string | undefined,
): number | undefined =>
  channel === 'favorites' && !words && typeof session.favorite === 'number'
    ? session.favorite
    : undefined;

/** Images of a session: five small ones, on a phone four larger ones (document 1 §2). */
const Thumbnails = ({ images, wide }: { images: readonly string[]; wide: boolean }) => (
  <span className={css.sessionImages}>
    {images.slice(0, wide ? 5 : 4).map((url) => (
      <LoadedImage
        key={url}
        src={thumbnailOf(url, wide ? 128 : 640)}
        alt=""
        width={128}
        height={128}
        loading="lazy"
        decoding="async"
      />
    ))}
  </span>
);

/** What a session of people is called; empty: it is one with a model. */
export const peopleKind = (session: Pick<Session, 'type' | 'private'>): string =>
  session.type === sessionTypes.people ? (session.private === 1 ? '私聊' : '问答') : '';

/** What kind of session it is, where that is not plain chat. */
const tagsOf = (session: Session): string[] => [
  ...[peopleKind(session)].filter((kind) => kind !== ''),
  ...(session.embedding_key ? [session.embedding_name || '知识库'] : []),
];

/** How a session stands, as a sign. */
const State = ({ icon, text }: { icon: IconName; text: string }) => (
  <span title={text}>
    <Icon name={icon} size={14} />
    <span className="sr-only">{text}</span>
  </span>
);

/** How many messages of the other one nobody has looked at. */
export const Unread = ({ count }: { count: number }) => (
  <span className={css.unread}>
    {count > 98 ? '99+' : count}
    <span className="sr-only">条未读</span>
  </span>
);

/** What stands behind a card that was swept aside. */
const Behind = ({
  session,
  pins,
  starred,
  removes,
  onAct,
}: {
  session: Session;
  /** Else it is added to the favourites. */
  pins: boolean;
  starred: boolean;
  removes: boolean;
  onAct: (act: SessionAct, session: Session) => void;
}) => (
  <div className={css.sessionActs}>
    {pins ? (
      <button type="button" onClick={() => onAct({ name: 'pin', onTop: !session.on_top }, session)}>
        <Icon name="pin" />
        {session.on_top ? '取消置顶' : '置顶'}
      </button>
    ) : (
      <button type="button" onClick={() => onAct({ name: 'favorite' }, session)}>
        <Icon name="star" />
        {starred ? '取消收藏' : '收藏'}
      </button>
    )}
    {removes && (
      <button
        type="button"
        className={css.sessionRemove}
        onClick={() => onAct({ name: 'remove' }, session)}
      >
        <Icon name="trash" />
        删除
      </button>
    )}
  </div>
);

/** Who is spoken with: people or a model. */
const Face = ({ session }: { session: Session }) => {
  const { label, logo, color } = useModelLook(session.model);
  const kind = peopleKind(session);
  if (!kind) return <Avatar name={label} src={logo} color={color} size={44} />;
  return (
    <span className={css.sessionFace}>
      {kind === '私聊' ? (
        <Avatar name={sessionTitle(session)} src="" size={44} />
      ) : (
        <Avatar name={session.user_name} src={session.avatar} size={44} />
      )}
      {session.unread > 0 && <Unread count={session.unread} />}
    </span>
  );
};

/** Whose it is and of which kind, and what it came to. */
const Facts = ({
  session,
  words,
  own,
}: {
  session: Session;
  words: string | undefined;
  own: boolean;
}) => {
  const { label } = useModelLook(session.model);
  const { match } = session;
  return (
    <div className={css.sessionFacts}>
      {!own && (
        <Link
          to="/"
          search={{ channel: 'public', user_id: session.user_id }}
          className={css.sessionAuthor}
          aria-label={`只看 ${maskName(session.user_name)} 的会话`}
        >
          {maskName(session.user_name)}
        </Link>
      )}
      {tagsOf(session).map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
      {label && <span className={css.sessionModel}>{label}</span>}
      <p className={words ? `${css.sessionSummary} ${css.sessionFound}` : css.sessionSummary}>
        {match && match.history_id !== null ? (
          <Marked text={match.snippet} words={words} />
        ) : (
          session.summary || '还没有回复'
        )}
      </p>
      {session.reply_count > 0 && <span>{session.reply_count} 条</span>}
      {session.like_count > 0 && (
        <span className={css.sessionLikes}>
          <Icon name="like" size={14} />
          {session.like_count}
          <span className="sr-only">个赞</span>
        </span>
      )}
    </div>
  );
};

export const SessionCard = ({
  session,
  channel,
  words,
  own,
  wide,
  swiped,
  onMenu,
  onAct,
}: {
  session: Session;
  channel: Channel;
  /** That were searched for. */
  words: string | undefined;
  /** It belongs to the person here: its author needs no name. */
  own: boolean;
  /** The window has room for small images side by side. */
  wide: boolean;
  /** It was swept aside: what can be done with it shows behind it. */
  swiped: boolean;
  /** Absent: nothing can be done with it here. */
  onMenu: ((session: Session) => void) | undefined;
  onAct: (act: SessionAct, session: Session) => void;
}) => {
  const title = sessionTitle(session);
  const marked = session.match?.history_id ?? undefined;
  const starred = session.favorite === true || markedIn(session, channel, words) !== undefined;
  return (
    <li className={css.session} data-session data-swipe={onMenu ? session.uuid : undefined}>
      {swiped && (
        <Behind
          session={session}
          pins={own && channel !== 'favorites'}
          starred={starred}
          removes={own}
          onAct={onAct}
        />
      )}
      <div className={css.sessionFront}>
        <Face session={session} />
        <div className={css.sessionWords}>
          <div className={css.sessionHead}>
            <h3>
              <Link
                to="/chat"
                search={{
                  uuid: session.uuid,
                  history_id: marked,
                  part: words ? partOf(session) : undefined,
                  favorite:
                    channel === 'favorites' && marked !== undefined && !words ? 1 : undefined,
                }}
                className={css.sessionLink}
                viewTransition
              >
                <Marked text={title} words={words} />
              </Link>
            </h3>
            {session.on_top && <State icon="pin" text="已置顶" />}
            {starred && <State icon="star" text="已收藏" />}
            {session.private === 1 && <State icon="lock" text="私有" />}
            <time dateTime={session.updated_at}>{relativeTime(session.updated_at)}</time>
          </div>
          <Facts session={session} words={words} own={own} />
          {session.images.length > 0 && <Thumbnails images={session.images} wide={wide} />}
        </div>
        {onMenu && (
          <button
            type="button"
            className={`round ${css.sessionMenu}`}
            aria-label={`会话“${title}”的更多操作`}
            aria-haspopup="dialog"
            onClick={() => onMenu(session)}
          >
            <Icon name="more" />
          </button>
        )}
      </div>
    </li>
  );
};
