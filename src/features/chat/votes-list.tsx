import { ignoreApiError } from '#src/platform/attempt.ts';
import { useCallPages } from '#src/platform/call-query.ts';
import { act } from '#src/platform/outbox.ts';
import { Button } from '#src/ui/button.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Message } from '#contract/chat.ts';
import { Fragment, useMemo } from 'react';
import { ChatContext, useChatActs } from '#src/widgets/conversation/chat-context.ts';
import css from './question.module.css';
import { RowView } from './row-view.tsx';
import { segmentsOfMessage, type Row } from '#src/widgets/conversation/rows.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

/** What a message looks like: what somebody wrote, and a model's reply to it. */
const rowsOf = (message: Message): Row[] => {
  const segments = message.ai === '' ? [] : segmentsOfMessage(message);
  return [
    { kind: 'question', key: `${message.id}q`, message, time: null },
    ...segments.map((segment, part): Row => ({
      kind: 'reply',
      key: `${message.id}r${part}`,
      message,
      part,
      first: part === 0,
      last: part === segments.length - 1,
      segment,
      live: null,
    })),
  ];
};

/** The question, then its answers with the most likes first. */
const VotesList = ({ uuid }: { uuid: string }) => {
  const acts = useChatActs();
  const list = useCallPages('historyList', { session_id: uuid, sort: 'votes', page_size: 30 });
  // The open thread knows only what it has read itself: a like goes to the server from here.
  const { refetch } = list;
  const own = useMemo(() => {
    const mark = async (call: Promise<unknown>) => {
      await call.catch(ignoreApiError);
      await refetch();
    };
    return {
      ...acts,
      like: ({ id, liked }: Message) =>
        void mark(
          act('historyLike', uuid, { history_id: id, session_id: uuid, liked: liked ? 0 : 1 }),
        ),
      favourite: ({ id, in_favorites: kept }: Message) =>
        void mark(
          act(kept ? 'removeFromFavorites' : 'addToFavorites', uuid, {
            session_id: uuid,
            history_id: id,
          }),
        ),
    };
  }, [acts, uuid, refetch]);
  const messages = new Map(
    list.data?.pages.flatMap(({ list: some }) => some).map((message) => [message.id, message]),
  );
  return (
    <ChatContext value={own}>
      <div className={`${rowCss.list} ${css.votes}`} role="log" aria-label="消息" aria-live="off">
        {list.isPending && <Skeleton lines={8} />}
        {list.isError && !list.data && <QueryFailed query={list} />}
        {[...messages.values()].map((message) => (
          <Fragment key={message.id}>
            {rowsOf(message).map((row) => (
              <RowView key={row.key} row={row} />
            ))}
          </Fragment>
        ))}
        {list.hasNextPage && (
          <Button
            className={css.more}
            busy={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            更多回答
          </Button>
        )}
      </div>
    </ChatContext>
  );
};

export default VotesList;
