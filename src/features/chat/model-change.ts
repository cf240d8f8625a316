import { api } from '@/shared/api.ts';
import { ApiError, errorText, isCancelled } from '@/shared/api-error.ts';
import { toast } from '@/shared/ui/toast.ts';
import { codes } from '@contract/errors.ts';
import { useCallback, useState } from 'react';

/** Changes the model of an empty session; what stands against it is kept as `reason`. */
export const useModelChange = (uuid: string) => {
  const [reason, setReason] = useState('');
  const choose = useCallback(
    async (model: string) => {
      try {
        await api.setSession({ session_id: uuid, model }, { quiet: true });
        toast('修改成功', 'success');
      } catch (error) {
        // The call itself has led to the login already.
        if (error instanceof ApiError && error.code === codes.login_required.code) return;
        if (!isCancelled(error)) setReason(errorText(error));
      }
    },
    [uuid],
  );
  return {
    choose: useCallback((model: string) => void choose(model), [choose]),
    reason,
    forget: () => setReason(''),
  };
};
