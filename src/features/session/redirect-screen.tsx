import { sessionTypes } from '#contract/kinds.ts';
import { api } from '#src/platform/api.ts';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';

const route = getRouteApi('/redirect');

/**
 * Makes a session that asks a knowledge base and returns home, where it stands on top (document 1 §2);
 * a link that was shared leads into it.
 */
export const RedirectScreen = () => {
  usePageTitle('正在新建会话');
  const { embedding, open } = route.useSearch();
  const navigate = route.useNavigate();
  const refuse = useRefusal({ everyFailure: true });
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current || embedding === undefined) return;
    asked.current = true;
    const make = async () => {
      try {
        const asked = { type: sessionTypes.chat, embedding };
        const { uuid } = await api.newSession(asked, { quiet: true });
        if (open === 1) await navigate({ to: '/chat', search: { uuid }, replace: true });
        else await navigate({ to: '/', search: { channel: 'private' }, replace: true });
      } catch (error) {
        refuse(error);
      }
    };
    void make();
  }, [embedding, open, navigate, refuse]);
  return (
    <div className="page page-centre" role="status" aria-label="正在新建会话">
      <Skeleton lines={3} />
    </div>
  );
};
