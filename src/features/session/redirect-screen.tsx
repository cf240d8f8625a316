import { api } from '@/shared/api.ts';
import { ApiError } from '@/shared/api-error.ts';
import { Skeleton } from '@/shared/ui/skeleton.tsx';
import { usePageTitle } from '@/shared/use-page-title.ts';
import { uuid } from '@/shared/uuid.ts';
import { codes } from '@contract/errors.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const route = getRouteApi('/redirect');

/** Makes a session that asks a knowledge base and returns home, where it stands on top (document 1 §2). */
export const RedirectScreen = () => {
  usePageTitle('正在新建会话');
  const { embedding } = route.useSearch();
  const navigate = route.useNavigate();
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current || embedding === undefined) return;
    asked.current = true;
    const make = async () => {
      try {
        await api.newSession({ type: 0, embedding }, { quiet: true, idempotencyKey: uuid() });
        await navigate({ to: '/', search: { channel: 'private' }, replace: true });
      } catch (error) {
        const refusal = error instanceof ApiError ? error : undefined;
        // The call itself has led to the login already.
        if (refusal?.code === codes.login_required.code) return;
        await navigate({
          to: '/error',
          search: { code: String(refusal?.code ?? codes.internal.code), message: refusal?.message },
          replace: true,
        });
      }
    };
    void make();
  }, [embedding, navigate]);
  return (
    <div className="page page-centre" role="status" aria-label="正在新建会话">
      <Skeleton lines={3} />
    </div>
  );
};
