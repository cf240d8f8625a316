import { readJson } from '#src/platform/read-json.ts';
import { sessionTypes } from '#contract/kinds.ts';
import { anySignal } from '#src/platform/any-signal.ts';
import { api } from '#src/platform/api.ts';
import {
  moveAttachments,
  readAttachments,
  setAttachments,
} from '#src/platform/attach/attach-store.ts';
import { ApiError, isOffline, offlineText } from '#src/platform/api-error.ts';
import { isMissingPart } from '#src/platform/lazy-chunk.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { closeLoginOpen, isLoginOpen } from '#src/platform/login-ended.ts';
import { noteLoginReason } from '#src/platform/login-reason.ts';
import { callQuery } from '#src/platform/call-query.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { lineIsWell, lineLost } from '#src/platform/line.ts';
import { enqueue, isUnheard } from '#src/platform/outbox.ts';
import { loadOutbox } from '#src/platform/load-outbox.ts';
import { useChatModels, useChosenModel, useChosenPainter } from '#src/platform/queries.ts';
import { sleep } from '#src/platform/sleep.ts';
import { toast } from '#src/platform/toast.ts';
import { uuid } from '#src/platform/uuid.ts';
import { webOf } from '#src/platform/web-choice.ts';
import type { In, Out } from '#contract/calls.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import { noteBegun } from './begun.ts';
import { refusalOf } from '#src/widgets/composer/send-rules.ts';
import { limits } from '#contract/limits.ts';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { giveFirstSendBack, takeFirstSend } from '#src/widgets/conversation/first-send.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';

/** Up to here a question fits into an address that every server and log accepts, in characters. */
const addressRoom = 1_000;

/** What a new session is made with, besides its model. */
export interface StartChoice {
  scenario: { id: number; name: string } | null;
  knowledge: readonly { key: string; name: string }[];
  /** Nothing of it is stored on the server. */
  temporary: boolean;
}
const noChoice: StartChoice = { scenario: null, knowledge: [], temporary: false };
/** As it is kept with the draft of the home's box; it goes with the session that it was made for. */
export const readChoice = (text: string): StartChoice => {
  const { knowledge, ...rest } = readJson<Partial<StartChoice>>(text, noChoice);
  // A draft from before several could be chosen holds one of them.
  return { ...noChoice, ...rest, knowledge: Array.isArray(knowledge) ? knowledge : [] };
};

/** The words stand in their session after that, with or without an answer, ms. */
const mostWait = 1_500;

/** Makes the session; null: it is begun on this device alone, and goes to the server with its question. */
const begin = async (
  input: In<'newSession'> & { uuid: string },
  key: string,
  first: { text: string; suggestion: boolean },
): Promise<Out<'newSession'> | null> => {
  // Nothing of a temporary one may stay in this browser.
  const mayWait = input.temporary !== 1;
  let tried = false;
  const line = lineLost();
  try {
    if (lineIsWell())
      return await api.newSession(input, {
        quiet: true,
        idempotencyKey: key,
        // A temporary one can only wait for the line.
        ...(mayWait ? { signal: anySignal([line.signal, AbortSignal.timeout(mostWait)]) } : {}),
      });
  } catch (error) {
    if (!isUnheard(error) || !mayWait) throw error;
    tried = true;
  } finally {
    line.leave();
  }
  if (!mayWait) throw new ApiError(0, offlineText, 0);
  if (input.type === sessionTypes.image) {
    const made = new Date().toISOString();
    await enqueue([{ name: 'newSession', key, lane: input.uuid, input, made }], tried);
    // What is asked for is put together where it is painted.
    return { uuid: input.uuid, id: 0 };
  }
  await (await loadOutbox()).beginSession(input, key, first, tried, 'home');
  return null;
};

/** The outbox sends the first question of a session that was made and does not open. */
const sendUnlessOpened = async (
  input: In<'newSession'> & { uuid: string },
  key: string,
  first: { text: string; suggestion: boolean },
  /** Takes the question out of the address, without waiting for what that opens. */
  clean: () => void,
): Promise<void> => {
  const { uuid: session } = input;
  await sleep(mostWait);
  if (!takeFirstSend(session, 'outbox')) return;
  try {
    const { beginSession } = await loadOutbox();
    // Another life of the page would send what still stands there once more.
    if (new URL(location.href).searchParams.get('uuid') === session) clean();
    await beginSession(input, key, first, true, session);
  } catch {
    giveFirstSendBack(session);
    return;
  }
  // Until then the line was asked, which says nothing.
  const asked = [callQuery('getSession', { uuid: session }).queryKey, ['thread', session]];
  for (const queryKey of asked) void queryClient.resetQueries({ queryKey });
};

/**
 * Whoever was signed in until the login ended by itself is asked once to sign in: their words are not
 * to go out as a stranger's. True: so it was.
 */
const asksToSignIn = (): boolean => {
  if (authStore.get().token !== '' || !isLoginOpen()) return false;
  closeLoginOpen();
  noteLoginReason('登录已失效，登录之后接着发送，写下的字都在。想用访客的身份，回到首页再发送一次');
  return true;
};

/** What kind of session is begun: of any chat model, of one that costs nothing, of images. */
export type StartKind = 'chat' | 'free' | 'imagine';

/** Makes a session for a first question and goes there; the chat sends it. */
export const useStart = (choice: StartChoice, kind: StartKind) => {
  const navigate = useNavigate();
  const router = useRouter();
  const refuse = useRefusal({ everyFailure: true });
  const chosen = useChosenModel();
  const free = useChatModels().data?.find((each) => each.factor === 0);
  const painter = useChosenPainter();
  const images = kind === 'imagine';
  const chat = kind === 'free' && chosen?.factor !== 0 ? free : chosen;
  const model = images ? painter : chat;
  const [busy, setBusy] = useState(false);
  // A try that got no answer may have reached the server: the next one carries the same key.
  const asked = useRef({ key: '', uuid: '' });

  /** False: refused before anything was asked of the server. */
  const start = async (text: string, suggestion = false): Promise<boolean> => {
    const prompt = text.trim();
    const added = !suggestion && !images && readAttachments('home').items.length > 0;
    if ((prompt === '' && !added) || busy) return false;
    const most = model?.max_prompt ?? limits.defaultMaxPrompt;
    const refusal = refusalOf(prompt, most, !suggestion && !added);
    if (refusal !== '') {
      toast(refusal, 'error');
      return false;
    }
    if (asksToSignIn()) {
      await navigate({ to: '/login', search: { back: '/' } });
      return false;
    }
    setBusy(true);
    // Its screen comes while the session is made; a failure is met where it is led to.
    router.preloadRoute({ to: '/chat' }).catch(() => undefined);
    if (asked.current.key === '') asked.current = { key: uuid(), uuid: uuid() };
    const { key } = asked.current;
    const own = { model: model?.name, uuid: asked.current.uuid };
    const input: In<'newSession'> & { uuid: string } = images
      ? { ...own, type: sessionTypes.image }
      : {
          ...own,
          type: sessionTypes.chat,
          scenario_id: choice.scenario?.id,
          embeddings:
            choice.knowledge.length > 0 ? choice.knowledge.map(({ key }) => key) : undefined,
          temporary: choice.temporary ? 1 : 0,
        };
    if (!images && !choice.temporary) noteBegun(asked.current.uuid);
    try {
      const session = await begin(input, key, { text: prompt, suggestion });
      asked.current = { key: '', uuid: '' };
      writeDraft('start', '');
      if (!images) writeDraft(`web:${input.uuid}`, webOf('home').web ? '1' : '');
      if (images) (await import('#src/widgets/image/image-draft.ts')).moveImageDraft(input.uuid);
      if (session === null) {
        if (!suggestion) writeDraft('home', '');
        await navigate({ to: '/chat', search: { uuid: input.uuid } });
        return true;
      }
      // What was added goes along through the draft; the chat sends it once all of it is there. The
      // words go from box to box, too: they are never in none.
      const drafted = added || prompt.length > addressRoom;
      if (drafted || !suggestion) writeDraft(session.uuid, prompt);
      if (added) {
        moveAttachments('home', session.uuid);
        setAttachments(session.uuid, { sendWhenReady: true });
      }
      if (!suggestion) writeDraft('home', '');
      // What waits for a file is sent from its box.
      if (!images && !added && !choice.temporary)
        void sendUnlessOpened(input, key, { text: prompt, suggestion }, () => {
          void navigate({ to: '/chat', search: { uuid: session.uuid }, replace: true });
        });
      await navigate({
        to: '/chat',
        search: {
          uuid: session.uuid,
          prompt: drafted ? undefined : prompt,
          send: added ? undefined : 1,
          suggestion: suggestion ? 1 : undefined,
        },
        state: { sends: true },
      });
      return true;
    } catch (error) {
      // What was refused is answered; another try is another request.
      if (error instanceof ApiError && error.status !== 0) asked.current = { key: '', uuid: '' };
      // Where there is no room left on the device: the words stay in the box.
      if (error instanceof ApiError && error.code === codeNumbers.storage_full)
        toast(error.message, 'error');
      // Neither the server nor, on a first visit, the outbox itself was reached.
      else if (isOffline(error) || isMissingPart(error))
        toast('网络不通，写下的字都在，联网后再发送一次', 'error');
      else refuse(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { start, busy, model };
};
