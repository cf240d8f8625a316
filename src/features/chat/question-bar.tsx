import { Chip, ChipLink, ChipDot, Tag } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMe } from '#src/platform/queries.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { Icon } from '#src/ui/icon.tsx';
import { useForumGroups } from '#src/widgets/editor/groups.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useEffect, useState } from 'react';
import { copyLink } from './question-acts.ts';
import { ManageSheet, ReportSheet } from './question-sheets.tsx';
import css from './question.module.css';

/** Tells the server that this has been looked at: what it told of it is read. */
const useRead = (uuid: string, last: number | null) => {
  const { signedIn } = useAuth();
  useEffect(() => {
    if (!signedIn || last === null) return;
    api.readNews({ session_id: uuid }, { quiet: true }).then(
      () =>
        Promise.all(
          ['newsList', 'userInfo'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })),
        ),
      () => undefined,
    );
  }, [signedIn, uuid, last]);
};

/** Below the head of a question: where it belongs, how it stands, in which order its answers come. */
const QuestionBar = ({
  session,
  last,
  answers,
  byVotes,
  onVotes,
  onShow,
}: {
  session: SessionDetail;
  /** Its newest message. */
  last: number | null;
  /** How many messages follow the question. */
  answers: number;
  byVotes: boolean;
  onVotes: (on: boolean) => void;
  onShow: (id: number) => void;
}) => {
  useRead(session.uuid, last);
  const { signedIn, user } = useAuth();
  const manager = useMe().data?.admin === true;
  const groups = useForumGroups().data ?? [];
  const group = groups.find(({ id }) => id === session.group_id);
  const [sheet, setSheet] = useState<'report' | 'manage'>();
  const { accepted_id: accepted } = session;
  return (
    <div className={css.bar}>
      {group && (
        <ChipLink to="/forum" search={{ group_id: group.id }}>
          <ChipDot color={group.color} />
          {group.name}
        </ChipLink>
      )}
      {session.pinned && <Tag>置顶</Tag>}
      {session.essence && <Tag kind="vip">精华</Tag>}
      {session.closed && <Tag>已关闭</Tag>}
      {accepted !== null && (
        <Chip
          className={css.accepted}
          onClick={() => {
            onVotes(false);
            // The list by time is there a moment later.
            setTimeout(onShow, byVotes ? 300 : 0, accepted);
          }}
        >
          <Icon name="check" size={16} />
          看采纳的回答
        </Chip>
      )}
      {answers > 0 && <b className={css.answers}>{answers} 个回答</b>}
      <span className={css.order} role="group" aria-label="回答的次序">
        {[false, true].map((votes) => (
          <Chip key={String(votes)} aria-pressed={byVotes === votes} onClick={() => onVotes(votes)}>
            {votes ? '按点赞' : '按时间'}
          </Chip>
        ))}
      </span>
      {session.private === 0 && (
        <Chip onClick={() => copyLink(session.uuid, null)}>
          <Icon name="link" size={16} />
          复制链接
        </Chip>
      )}
      {signedIn && session.user_id !== user?.id && (
        <Chip onClick={() => setSheet('report')}>
          <Icon name="warning" size={16} />
          举报
        </Chip>
      )}
      {manager && (
        <Chip onClick={() => setSheet('manage')}>
          <Icon name="settings" size={16} />
          管理
        </Chip>
      )}
      {sheet === 'report' && (
        <ReportSheet uuid={session.uuid} id={null} onClose={() => setSheet(undefined)} />
      )}
      {sheet === 'manage' && (
        <ManageSheet
          uuid={session.uuid}
          question={session}
          groups={groups}
          onClose={() => setSheet(undefined)}
        />
      )}
    </div>
  );
};

export default QuestionBar;
