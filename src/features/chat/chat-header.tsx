import { useChatModels } from '@/shared/queries.ts';
import { Button } from '@/shared/ui/button.tsx';
import { Icon } from '@/shared/ui/icon.tsx';
import type { SessionDetail } from '@contract/session.ts';

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
  const models = useChatModels();
  const label = models.data?.find((model) => model.name === session.model)?.label ?? session.model;
  return (
    <header className="chat-head">
      <Button kind="ghost" size="icon" aria-label="返回" title="返回（Ctrl + ←）" onClick={onBack}>
        <Icon name="back" size={22} />
      </Button>
      <div className="chat-title">
        <h1>{session.prompt || '新会话'}</h1>
        <p>
          <span className="tag">{label}</span>
          <span className="tag">
            <Icon name={session.private === 1 ? 'lock' : 'people'} size={12} />
            {session.private === 1 ? '私有' : '公开'}
          </span>
          {session.owner_vip && <span className="tag tag-vip">VIP</span>}
          {!session.owner && <span className="tag">{session.user_name}</span>}
        </p>
      </div>
      <button type="button" className="chip chat-sort" onClick={onSort}>
        <Icon name="sort" size={16} />
        {newestFirst ? '最新在上' : '最新在下'}
      </button>
      <Button kind="ghost" size="icon" aria-label="更多" onClick={onMore}>
        <Icon name="more" size={22} />
      </Button>
    </header>
  );
};
