import { api } from '#src/platform/api.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const route = getRouteApi('/chat');

/** `?open=` asks for a dialog that another type of session has: it opens in a new one of that type. */
export const OpenElsewhere = ({ type }: { type: 1 | 4 }) => {
  const navigate = route.useNavigate();
  const refuse = useRefusal();
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    const begin = async () => {
      try {
        const made = await api.newSession({ type }, { quiet: true });
        await navigate({ search: (old) => ({ ...old, uuid: made.uuid }), replace: true });
      } catch (error) {
        await navigate({ search: (old) => ({ ...old, open: undefined }), replace: true });
        refuse(error);
      }
    };
    void begin();
  }, [type, navigate, refuse]);
  return null;
};
