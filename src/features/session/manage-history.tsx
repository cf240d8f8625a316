import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDelete } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Pager } from '#src/ui/pager/pager.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { Markdown } from '#src/widgets/markdown/markdown.tsx';
import type { AdminMessage } from '#contract/manage-session.ts';
import { useState } from 'react';
import css from './manage-history.module.css';

const states: Readonly<Record<string, string>> = {
  streaming: '正在写',
  error: '出错',
  stopped: '已停止',
};

const Message = ({ message }: { message: AdminMessage }) => {
  const [editing, setEditing] = useState(false);
  const remove = async () => {
    const sure = await confirmDelete({
      text: '删除这条消息？它的主人也看不到它了。',
    });
    if (!sure) return;
    await api.adminDeleteHistory({ history_id: message.id });
    toast('消息记录已删除', 'success');
  };
  return (
    <li className={css.message} data-hidden={message.shown ? undefined : ''}>
      <header>
        <span>
          {message.user_name} · {dateTime(message.created_at)}
          {message.model && ` · ${message.model}`}
          {message.deduct_tokens > 0 && ` · ${message.deduct_tokens} tokens`}
          {states[message.state] && ` · ${states[message.state]}`}
          {!message.shown && ' · 另一分支'}
        </span>
        <span className="row">
          <Button size="small" kind="ghost" onClick={() => setEditing(!editing)}>
            {editing ? '取消' : '修改'}
          </Button>
          <Button
            size="small"
            kind="ghost"
            onClick={() => {
              remove().catch(() => undefined);
            }}
          >
            删除
          </Button>
        </span>
      </header>
      {editing ? (
        <Form
          draft={`history.${message.id}`}
          fields={[
            { name: 'human', kind: 'long', lines: 2 },
            { name: 'ai', kind: 'long', lines: 5 },
          ]}
          initial={{ human: message.human, ai: message.ai }}
          onSubmit={async ({ human, ai }) => {
            await api.adminUpdateHistory(
              {
                id: message.id,
                ...(human === message.human ? {} : { human: String(human ?? '') }),
                ...(ai === message.ai ? {} : { ai: String(ai ?? '') }),
              },
              { quiet: true },
            );
            setEditing(false);
            toast('修改成功', 'success');
          }}
        />
      ) : (
        <>
          <p className={css.human}>{message.human}</p>
          {message.images.length > 0 && (
            <p className={css.images}>
              {message.images.map((url) => (
                <img key={url} src={url} alt="" loading="lazy" />
              ))}
            </p>
          )}
          {message.ai && <Markdown text={message.ai} />}
          {message.error_message && <p className={css.error}>{message.error_message}</p>}
        </>
      )}
    </li>
  );
};

/** The messages of any session, to read, change and delete. */
export const ManageHistory = ({
  sessionId,
  onClose,
}: {
  sessionId: number | undefined;
  onClose: () => void;
}) => {
  const [page, setPage] = useState(1);
  const [newest, setNewest] = useState<0 | 1>(0);
  const history = useCall(
    'adminHistoryList',
    { session_id: sessionId ?? 0, page, newest },
    { enabled: sessionId !== undefined },
  );
  const { data } = history;
  return (
    <Sheet
      open={sessionId !== undefined}
      onClose={() => {
        setPage(1);
        onClose();
      }}
      title={data?.session.prompt || '消息'}
      wide
    >
      {history.isPending && <Skeleton lines={6} />}
      {history.isError && <QueryFailed query={history} />}
      {data && (
        <>
          <p className={css.head}>
            {data.session.user_name} · 会话 {data.session.id} · {data.total} 条
            {data.session.deleted === 1 && ' · 已删除'}
            <Button size="small" kind="ghost" onClick={() => setNewest(newest ? 0 : 1)}>
              {newest ? '旧的在前' : '新的在前'}
            </Button>
          </p>
          {data.list.length === 0 && <EmptyState icon="chat" text="这个会话没有消息。" />}
          <ul className={css.list}>
            {data.list.map((message) => (
              <Message key={message.id} message={message} />
            ))}
          </ul>
          <Pager
            page={page}
            count={data.page_count}
            isCounted={data.list.length === 0}
            onPage={setPage}
          />
        </>
      )}
    </Sheet>
  );
};
