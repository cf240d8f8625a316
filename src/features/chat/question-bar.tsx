import { Chip, ChipLink, ChipDot, Tag } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useMe } from '#src/platform/queries.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { Icon } from '#src/ui/icon.tsx';
import { useForumGroups } from '#src/widgets/editor/groups.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useEffect, useState } from 'react';
import { compactNumber } from '#common/compact-number.ts';
import { ApiError } from '#src/platform/api-error.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { lineIsWell } from '#src/platform/line.ts';
import { Button } from '#src/ui/button.tsx';
import { MarkdownEditor } from '#src/widgets/editor/markdown-editor.tsx';
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

/** usual: the accepted answer, then the others as they came. */
type Order = 'usual' | 'newest' | 'votes';
const orders: readonly [Order, string][] = [
  ['usual', '默认'],
  ['newest', '最新'],
  ['votes', '赞同'],
];

/** Below the head of a question: where it belongs, how it stands, in which order its answers come. */
const QuestionBar = ({
  session,
  last,
  answers,
  order,
  onOrder,
  onAnswer,
}: {
  session: SessionDetail;
  /** Its newest message. */
  last: number | null;
  /** How many messages follow the question. */
  answers: number;
  order: Order;
  onOrder: (order: Order) => void;
  /** Sends an answer; false: it was not taken. Undefined: the reader may not answer. */
  onAnswer: ((text: string) => Promise<boolean>) | undefined;
}) => {
  useRead(session.uuid, last);
  const { signedIn, user } = useAuth();
  const manager = useMe().data?.admin === true;
  const groups = useForumGroups().data ?? [];
  const group = groups.find(({ id }) => id === session.group_id);
  const [sheet, setSheet] = useState<'report' | 'manage'>();
  const [answering, setAnswering] = useState(false);
  return (
    <div className={css.bar}>
      {onAnswer && (
        <Button kind="primary" size="small" onClick={() => setAnswering(true)}>
          <Icon name="edit" size={16} />
          写回答
        </Button>
      )}
      {answers > 0 && <b className={css.answers}>{answers} 个回答</b>}
      {answers > 1 && (
        <span className={css.order} role="group" aria-label="回答的次序">
          {orders.map(([each, label]) => (
            <Chip key={each} aria-pressed={order === each} onClick={() => onOrder(each)}>
              {label}
            </Chip>
          ))}
        </span>
      )}
      {group && (
        <ChipLink to="/forum" search={{ group_id: group.id }}>
          <ChipDot color={group.color} />
          {group.name}
        </ChipLink>
      )}
      {session.pinned && <Tag>置顶</Tag>}
      {session.essence && <Tag kind="vip">精华</Tag>}
      {session.closed && <Tag>已关闭</Tag>}
      {session.accepted_id !== null && <Tag kind="free">已解决</Tag>}
      {(session.views ?? 0) > 0 && (
        <span className={css.views}>{compactNumber(session.views ?? 0)} 人看过</span>
      )}
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
      {answering && onAnswer && (
        <MarkdownEditor
          heading="写回答"
          initialText={readDraft(session.uuid)}
          action="发布"
          success="已回答"
          draftKey={`answer:${session.uuid}`}
          onSave={async ({ content }) => {
            // Why it was not taken has been said.
            if (!(await onAnswer(content))) throw new ApiError(0, '没有发出去', 0);
            // What was begun in the box below has become this answer.
            writeDraft(session.uuid, '');
            return lineIsWell();
          }}
          onClose={() => setAnswering(false)}
        />
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
