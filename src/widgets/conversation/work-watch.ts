import { useAuth } from '#src/platform/auth-store.ts';
import { isUnfinished, noteJob, onJobEnded } from '#src/platform/jobs.ts';
import { onActDone } from '#src/platform/outbox-state.ts';
import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';
import { useEffect, useRef } from 'react';
import { useChatActs } from './chat-context.ts';
import type { Thread } from './thread.ts';

/** Before what could not be read is read again, ms. */
const pause = 5_000;

/**
 * Follows the jobs of a session of images or films and brings what they made into the list.
 * @param begin begins the work of a message that the outbox has sent; stays the same function
 */
export const useMadeWatch = (
  session: SessionDetail,
  begin: (thread: Thread, sent: Message) => void,
): void => {
  const { thread, owner } = useChatActs();
  const { token } = useAuth();
  const { uuid } = session;
  const bringing = useRef(new Set<number>());
  useEffect(() => {
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const coming = bringing.current;
    const bring = async (id: number) => {
      coming.add(id);
      try {
        await thread.loader.reload(id);
        // One that the server itself has not brought up to date is asked for again in a while.
        timers.add(setTimeout(() => coming.delete(id), pause));
      } catch {
        timers.add(setTimeout(() => void bring(id), pause));
      }
    };
    const look = () => {
      if (!owner || token === '') return;
      for (const { job, id } of thread.store.all())
        // It ended while this list was away.
        if (job && isUnfinished(job) && !noteJob(job) && !coming.has(id)) void bring(id);
    };
    look();
    const forget = [
      thread.store.subscribe(look),
      onJobEnded((job) => {
        if (job.session_uuid === uuid) void bring(job.history_id);
      }),
      onActDone((done, data) => {
        if (done.lane !== uuid || done.name !== 'sendMessage') return;
        const { id } = data as { id: number };
        const beginNow = () => {
          // The outbox has begun it already: a second request would be refused above the first.
          if (done.draw !== undefined) {
            void bring(id);
            return;
          }
          const sent = thread.store.all().find((message) => message.id === id);
          if (sent) begin(thread, sent);
        };
        // The thread hears of it first, and takes the message in.
        thread.commands().then(beginNow, () => {});
      }),
    ];
    return () => {
      for (const end of forget) end();
      for (const timer of timers) clearTimeout(timer);
      coming.clear();
    };
  }, [thread, uuid, owner, token, begin]);
};
