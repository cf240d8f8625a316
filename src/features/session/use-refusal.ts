import { ApiError, isCancelled } from '@/platform/api-error.ts';
import { codes, errorPageTexts } from '@contract/errors.ts';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Leads to /error with a refused new session's code and, where it says more than the page, its words. */
export const useRefusal = () => {
  const navigate = useNavigate();
  return useCallback(
    (error: unknown) => {
      if (isCancelled(error)) return;
      const refusal = error instanceof ApiError ? error : undefined;
      // The call itself has led to the login already.
      if (refusal?.code === codes.login_required.code) return;
      const code = refusal?.code ?? codes.internal.code;
      const said = refusal?.message;
      void navigate({
        to: '/error',
        search: { code: String(code), message: said === errorPageTexts[code] ? undefined : said },
      });
    },
    [navigate],
  );
};
