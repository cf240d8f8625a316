import { usePasswordRequests } from '#src/platform/confirm-password.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';

const PasswordView = lazyAsked(() => import('./password-view.tsx'));

/** Stands once in the page: asks for the password where the server wants it with a call. */
export const PasswordHost = () => {
  const [request] = usePasswordRequests();
  if (!request) return null;
  return <PasswordView {...request} />;
};
