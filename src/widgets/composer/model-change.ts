import { ApiError, errorText, isCancelled } from '#src/platform/api-error.ts';
import { laterText, perform } from '#src/platform/outbox.ts';
import { toast } from '#src/platform/toast.ts';
import { uuid as newKey } from '#src/platform/uuid.ts';
import { codeNumbers } from '#contract/page-errors.ts';
import { useCallback, useEffect, useState } from 'react';
import { useAuth } from '#src/platform/auth-store.ts';

const wishKey = 'queqiao.wished-model';

/** A visitor chose what only accounts may: it is chosen once they come back from signing in. */
const wish = (uuid: string, model: string): void => {
  try {
    sessionStorage.setItem(wishKey, JSON.stringify({ uuid, model }));
  } catch {
    // Then it is chosen once more by hand.
  }
};

/** What was wished for here, told once; null: nothing. */
const wished = (uuid: string): string | null => {
  try {
    const kept = JSON.parse(sessionStorage.getItem(wishKey) ?? '{}') as Record<string, unknown>;
    if (kept['uuid'] !== uuid || typeof kept['model'] !== 'string') return null;
    sessionStorage.removeItem(wishKey);
    return kept['model'];
  } catch {
    return null;
  }
};

/** Changes the model of an empty session; what stands against it is kept as `reason`. */
export const useModelChange = (uuid: string) => {
  const [reason, setReason] = useState('');
  const choose = useCallback(
    async (model: string) => {
      try {
        const done = await perform<'setSession'>({
          name: 'setSession',
          key: newKey(),
          lane: uuid,
          input: { session_id: uuid, model },
          made: new Date().toISOString(),
        });
        toast(done ? '修改成功' : `已改，${laterText}`, 'success');
      } catch (error) {
        // The call itself has led to the login already.
        if (error instanceof ApiError && error.code === codeNumbers.login_required) {
          wish(uuid, model);
          return;
        }
        if (!isCancelled(error)) setReason(errorText(error));
      }
    },
    [uuid],
  );
  const { signedIn } = useAuth();
  useEffect(() => {
    const model = signedIn ? wished(uuid) : null;
    if (model !== null) setTimeout(() => void choose(model));
  }, [signedIn, uuid, choose]);
  return {
    choose: useCallback((model: string) => void choose(model), [choose]),
    reason,
    forget: () => setReason(''),
  };
};
