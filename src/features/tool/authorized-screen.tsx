import { api } from '#src/platform/api.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { BackHead } from '#src/ui/back-head.tsx';
import { ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/** Where somebody comes back to who signed in at a server of tools. */
export const AuthorizedScreen = () => {
  usePageTitle('授权');
  const { code = '', state = '' } = useSearch({ from: '/tools/authorized' });
  const navigate = useNavigate();
  const { run } = useAct();
  const [failed, setFailed] = useState(code === '' || state === '');
  const begun = useRef(false);
  useEffect(() => {
    // It is good for one try.
    if (failed || begun.current) return;
    begun.current = true;
    void run(async () => {
      try {
        const { ok, message, goes_on: uuid } = await api.endToolLogin({ code, state });
        if (uuid !== null) {
          toast('已授权，接着做', 'success');
          return await navigate({ to: '/chat', search: { uuid }, replace: true });
        }
        toast(ok ? `已授权，${message}` : message, ok ? 'success' : 'error');
        await navigate({ to: '/tools', replace: true });
      } catch (error) {
        setFailed(true);
        throw error;
      }
    });
  }, [failed, code, state, run, navigate]);
  return (
    <div className="page">
      <BackHead to="/tools" back="返回" title="授权" />
      {failed ? (
        <EmptyState
          icon="warning"
          text="没有授权成功。可能是您在那边没有同意，或这次授权已经过期。"
          action={
            <ButtonLink kind="primary" to="/tools">
              回到工具服务
            </ButtonLink>
          }
        />
      ) : (
        <Skeleton />
      )}
    </div>
  );
};
