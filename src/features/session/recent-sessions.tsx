import { Chip, ChipDot } from '#src/ui/chip.tsx';
import { useAuth } from '#src/platform/auth-store.ts';
import { paletteAsked } from '#src/platform/command-key.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { priceText, useChatModels, useChosenModel } from '#src/platform/queries.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { Icon } from '#src/ui/icon.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useLocked } from '#src/widgets/model/use-locked.ts';
import { limits } from '#contract/limits.ts';
import type { Session } from '#contract/session.ts';
import { Link, useLocation } from '@tanstack/react-router';
import css from './recent-sessions.module.css';
import { sessionTitle } from './session-title.ts';
import { peopleKind, Unread, useModelLook } from './session-card.tsx';
import { useSessionList } from './session-queries.ts';

const Recent = ({ session, active }: { session: Session; active: boolean }) => {
  const { label } = useModelLook(session.model);
  return (
    <li>
      <Link
        to="/chat"
        search={{ uuid: session.uuid }}
        className={css.recent}
        aria-current={active ? 'page' : undefined}
      >
        <span className={css.recentTitle}>
          {sessionTitle(session)}
          {session.unread > 0 && <Unread count={session.unread} />}
        </span>
        <span className={css.recentFacts}>
          {[peopleKind(session) || label, relativeTime(session.updated_at)]
            .filter((fact) => fact !== '')
            .join(' · ')}
        </span>
      </Link>
    </li>
  );
};

/** The column of wide windows: the 15 sessions used last, and the model of the next one. */
const RecentSessions = () => {
  const { token } = useAuth();
  const list = useSessionList({
    channel: 'private',
    page: 1,
    page_size: limits.sidebarSessions,
  });
  const models = useChatModels();
  const chosen = useChosenModel();
  const isLocked = useLocked();
  const { search } = useLocation();
  const sessions = list.data?.list ?? [];
  return (
    <div>
      <button
        type="button"
        className={`filter-box ${css.find}`}
        onClick={() => dispatchEvent(new Event(paletteAsked))}
      >
        <Icon name="search" size={18} />
        搜索会话、页面、操作
        <kbd>Ctrl K</kbd>
      </button>
      <h2 className={css.recentsHead}>最近会话</h2>
      {token !== '' && list.isPending && <Skeleton lines={6} />}
      {list.isError && <p className={css.recentsNote}>会话没有取到，请稍后再试</p>}
      {(token === '' || list.data) && sessions.length === 0 && (
        <p className={css.recentsNote}>您的会话会出现在这里</p>
      )}
      <ul>
        {sessions.map((session) => (
          <Recent key={session.id} session={session} active={search.uuid === session.uuid} />
        ))}
      </ul>
      <h2 className={css.recentsHead} id="recents-models">
        新会话的模型
      </h2>
      <div className={css.recentsModels} role="radiogroup" aria-labelledby="recents-models">
        {models.data?.map((model) => (
          <Chip
            key={model.name}
            role="radio"
            aria-checked={model.name === chosen?.name}
            title={model.remark}
            onClick={() => {
              if (!isLocked(model)) prefsStore.set({ model: model.name });
            }}
          >
            <ChipDot color={model.color} />
            <span className="chip-text">{model.label}</span>
            <small>{model.locked === 1 ? '付费用户' : priceText(model)}</small>
          </Chip>
        ))}
      </div>
    </div>
  );
};

export default RecentSessions;
