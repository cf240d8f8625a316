import { api } from '@/shared/api.ts';
import { ApiError, isCancelled } from '@/shared/api-error.ts';
import { writeDraft } from '@/shared/draft.ts';
import { useChosenModel } from '@/shared/queries.ts';
import { toast } from '@/shared/ui/toast.ts';
import { uuid } from '@/shared/uuid.ts';
import { codes, errorPageTexts } from '@contract/errors.ts';
import { limits, tooLongText, tooShortText } from '@contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';

/** Up to here a question fits into an address that every server and log accepts, in characters. */
const addressRoom = 1_000;

/** Makes a session for a first question and goes there; the chat sends it. */
export const useStart = () => {
  const navigate = useNavigate();
  const model = useChosenModel();
  const [busy, setBusy] = useState(false);
  // A try that got no answer may have reached the server: the next one carries the same key.
  const key = useRef('');

  /** False: refused before anything was asked of the server. */
  const start = async (text: string, suggestion = false): Promise<boolean> => {
    const prompt = text.trim();
    if (prompt === '' || busy) return false;
    const most = model?.max_prompt ?? limits.defaultMaxPrompt;
    if (prompt.length > most) {
      toast(tooLongText(most), 'error');
      return false;
    }
    if (!suggestion && new TextEncoder().encode(prompt).length < limits.minPromptBytes) {
      toast(tooShortText(limits.minPromptBytes), 'error');
      return false;
    }
    setBusy(true);
    key.current ||= uuid();
    try {
      const session = await api.newSession(
        { type: 0, model: model?.name },
        { quiet: true, idempotencyKey: key.current },
      );
      key.current = '';
      const long = prompt.length > addressRoom;
      if (long) writeDraft(session.uuid, prompt);
      if (!suggestion) writeDraft('home', '');
      await navigate({
        to: '/chat',
        search: {
          uuid: session.uuid,
          prompt: long ? undefined : prompt,
          send: 1,
          suggestion: suggestion ? 1 : undefined,
        },
      });
      return true;
    } catch (error) {
      if (isCancelled(error)) return false;
      const refusal = error instanceof ApiError ? error : undefined;
      if (refusal && refusal.status !== 0) key.current = '';
      // The call itself has led to the login already.
      if (refusal?.code === codes.login_required.code) return false;
      const code = refusal?.code ?? codes.internal.code;
      const said = refusal?.message;
      await navigate({
        to: '/error',
        search: {
          code: String(code),
          message: said === errorPageTexts[code] ? undefined : said,
        },
      });
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { start, busy, model };
};
