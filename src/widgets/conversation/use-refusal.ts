import { ApiError, errorText, isCancelled } from '#src/platform/api-error.ts';
import { toast } from '#src/platform/toast.ts';
import { codes, errorPageTexts } from '#contract/errors.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

/**
 * Leads the refusal of a new session or message by a rule to the page that explains it, with its
 * words where they say more than the page; says other failures here.
 */
export const useRefusal = ({
  uuid,
  everyFailure = false,
}: {
  /** The session to which the page leads back. */
  uuid?: string | undefined;
  /** There is nothing to see here without the session: whatever fails leads there. */
  everyFailure?: boolean;
} = {}) => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useCallback(
    (error: unknown) => {
      if (isCancelled(error)) return;
      const answer = error instanceof ApiError ? error : null;
      // The call itself has led to the login, or to the agreements, already.
      if (
        answer?.code === codes.login_required.code ||
        answer?.code === codes.agreement_needed.code
      )
        return;
      // What this device could not keep is no rule of the server's: the words stay in the box.
      const byRule =
        answer?.status === 200 && answer.code > 0 && answer.code !== codes.storage_full.code;
      if (!byRule && !everyFailure) {
        toast(errorText(error), 'error');
        return;
      }
      const code = answer?.code ?? codes.internal.code;
      if (code === codes.model_unavailable.code)
        void queries.invalidateQueries({ queryKey: ['models'] });
      const said = answer?.message;
      const message = said === errorPageTexts[code] ? undefined : said;
      void navigate({ to: '/error', search: { code: String(code), message, uuid } });
    },
    [navigate, queries, uuid, everyFailure],
  );
};
