import { Chip, Tag } from '#src/ui/chip.tsx';
import { sessionTypes } from '#contract/kinds.ts';
import { maskName } from '#src/platform/format.ts';
import { useModel } from '#src/platform/queries.ts';
import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import type { SessionDetail } from '#contract/session.ts';
import css from './chat.module.css';

export const ChatHeader = ({
  session,
  newestFirst,
  onBack,
  onSort,
  onMore,
}: {
  session: SessionDetail;
  newestFirst: boolean;
  onBack: () => void;
  onSort: () => void;
  onMore: () => void;
}) => {
  const label = useModel(session.model)?.label ?? session.model;
  const isPrivate = session.private === 1;
  const kind =
    session.type === sessionTypes.image
      ? '图片'
      : session.type === sessionTypes.video
        ? '视频'
        : '';
  return (
    <header className={css.chatHead}>
      <Button kind="ghost" size="icon" aria-label="返回" title="返回（Ctrl + ←）" onClick={onBack}>
        <Icon name="back" size={22} />
      </Button>
      <div className={css.chatTitle} data-chat-title>
        <h1>
          {session.friend
            ? maskName(session.friend.name)
            : session.prompt || (session.temporary ? '临时对话' : '新会话')}
        </h1>
        <p>
          {session.type !== sessionTypes.people && <Tag>{label}</Tag>}
          {kind !== '' && <Tag>{kind}</Tag>}
          {session.temporary ? (
            <Tag>临时</Tag>
          ) : (
            <Tag className={css.firm}>
              <Icon name={isPrivate ? 'lock' : 'people'} size={12} />
              {isPrivate ? '私有' : '公开'}
            </Tag>
          )}
          {session.owner_vip && <Tag kind="vip">VIP</Tag>}
          {session.scenario && <Tag className={css.named}>场景 {session.scenario.name}</Tag>}
          {session.embedding_name !== '' && (
            <Tag className={css.named}>知识库 {session.embedding_name}</Tag>
          )}
          {!session.owner && !session.friend && <Tag>{maskName(session.user_name)}</Tag>}
        </p>
      </div>
      {(session.type !== sessionTypes.people || session.friend) && (
        <Chip className={css.chatSort} onClick={onSort}>
          <Icon name="sort" size={16} />
          {newestFirst ? '最新在上' : '最新在下'}
        </Chip>
      )}
      <Button kind="ghost" size="icon" aria-label="更多" onClick={onMore}>
        <Icon name="more" size={22} />
      </Button>
    </header>
  );
};
