import { getRouteApi, useCanGoBack, useLocation, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, type RefObject } from 'react';
import { limits } from '#contract/limits.ts';
import type { SessionDetail } from '#contract/session.ts';
import { offlineText } from '#src/platform/api-error.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { useModel } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { refusalOf } from '#src/widgets/composer/send-rules.ts';
import type { ChatActs } from '#src/widgets/conversation/chat-context.ts';
import type { ThreadView } from '#src/widgets/conversation/message-store.ts';
import { takeFirstSend } from '#src/widgets/conversation/first-send.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';
import type { ListHandle } from './message-list.tsx';
import { deliver, type Send } from './deliver.ts';

/** What the address of a conversation says beside its session. */
const route = getRouteApi('/chat');

/** Goes where `?back=…` says, else to where one came from. */
export const useBack = (): (() => void) => {
  const { back } = route.useSearch();
  const router = useRouter();
  const canGoBack = useCanGoBack();
  return useCallback(() => {
    if (back !== undefined) void router.navigate({ href: back });
    else if (canGoBack) router.history.back();
    else void router.navigate({ to: '/' });
  }, [back, canGoBack, router]);
};

const focusSender = () => document.querySelector<HTMLElement>('#root [data-sender]')?.focus();

/**
 * `?prompt=…` fills the box. With `send=1` it is sent, once, and leaves the address first; but only
 * where this page itself led here: a link from outside spends nothing without a press.
 */
export const usePromptOfAddress = (
  session: SessionDetail,
  view: ThreadView,
  send: Send,
  acts: ChatActs,
  /** It was sent, or came to nothing. */
  onSent: () => void,
) => {
  const { prompt, send: atOnce, suggestion } = route.useSearch();
  const ledHere = useLocation({ select: ({ state }) => state.sends === true });
  const navigate = route.useNavigate();
  const model = useModel(session.model);
  const taken = useRef(false);
  const latest = useRef(onSent);
  useEffect(() => {
    latest.current = onSent;
  });
  const asked = prompt !== undefined || atOnce === 1;
  useEffect(() => {
    if (!asked || taken.current || !session.writable) return;
    taken.current = true;
    const draft = readDraft(session.uuid);
    const text = (prompt ?? draft).trim();
    const sends = atOnce === 1 && ledHere;
    const clean = () =>
      navigate({
        search: (old) => ({ ...old, prompt: undefined, send: undefined, suggestion: undefined }),
        replace: true,
      });
    if (sends && !takeFirstSend(session.uuid, 'conversation')) {
      void clean();
      return;
    }
    // Words of an address come to those that somebody wrote, never in their place.
    const box = draft.includes(text) ? draft : draft === '' ? text : `${draft}\n${text}`;
    writeDraft(session.uuid, sends ? text : box);
    const cleaned = clean();
    if (!sends || text === '') {
      // The press that a link from outside leaves to the person is at hand.
      if (atOnce === 1 && text !== '') void cleaned.then(focusSender);
      return;
    }
    const most = model?.max_prompt ?? limits.defaultMaxPrompt;
    const first = view.count === 0 && suggestion !== 1;
    const refusal = refusalOf(text, most, first);
    if (refusal !== '') {
      toast(refusal, 'error');
      latest.current();
      return;
    }
    const sendNow = async () => {
      await cleaned;
      if (acts.sessionType) await acts.sessionType.sendWords(session.uuid, text, model, acts);
      else await deliver(acts.thread, session, text, send, { suggestion: suggestion === 1 });
    };
    sendNow()
      .catch(() => toast(offlineText, 'error'))
      .finally(() => latest.current());
  }, [
    asked,
    prompt,
    atOnce,
    ledHere,
    suggestion,
    session,
    view.count,
    model,
    navigate,
    send,
    acts,
  ]);
  return asked && session.writable;
};

/** Another message in the address of a conversation that is open already: the list goes there. */
export const useFocusOfAddress = (thread: Thread, list: RefObject<ListHandle | null>) => {
  const { history_id, part } = route.useSearch();
  const shown = useRef(history_id);
  useEffect(() => {
    if (history_id === shown.current) return;
    shown.current = history_id;
    if (history_id !== undefined && thread.only === null) void list.current?.show(history_id, part);
  }, [history_id, part, thread, list]);
};
