import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A tab that holds nothing yet, with the code that is to be copied as its example. */
export const EmptyApi = ({ text, action }: { text: string; action?: ReactNode }) => {
  const navigate = useNavigate();
  return (
    <EmptyPlace
      drawing="neon"
      text={text}
      action={action}
      example={{
        label: '两行代码长什么样',
        onTry: () => void navigate({ to: '/api', search: { tab: 'example' }, replace: true }),
      }}
    />
  );
};
