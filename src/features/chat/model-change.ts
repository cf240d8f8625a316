import { ApiError, errorText, isCancelled } from '@/platform/api-error.ts';
import { laterText, perform } from '@/platform/outbox.ts';
import { toast } from '@/platform/toast.ts';
import { uuid as newKey } from '@/platform/uuid.ts';
import { codes } from '@contract/errors.ts';
import { useCallback, useState } from 'react';

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
