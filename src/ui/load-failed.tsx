import { ApiError, isOffline } from '#src/platform/api-error.ts';
import { loadFault } from '#src/platform/load-fault.ts';
import { Button } from './button.tsx';
import { EmptyState } from './empty-state.tsx';
import { Link } from '@tanstack/react-router';

/** Stands where something could not be read: why, a way to try again, and the help page of its error. */
export const LoadFailed = ({
  error,
  busy = false,
  onRetry,
}: {
  error: unknown;
  /** It is being tried again. */
  busy?: boolean;
  onRetry: () => void;
}) => (
  <EmptyState
    icon={isOffline(error) ? 'offline' : 'warning'}
    text={loadFault(error)}
    action={
      <>
        <Button kind="primary" busy={busy} onClick={onRetry}>
          重试
        </Button>
        {error instanceof ApiError && error.code > 0 && (
          <Link to="/help" search={{ code: error.code }}>
            怎么办
          </Link>
        )}
      </>
    }
  />
);

/** The same of a query that failed: it is read again. */
export const QueryFailed = ({
  query: { error, isFetching, refetch },
}: {
  query: { error: unknown; isFetching: boolean; refetch: () => unknown };
}) => <LoadFailed error={error} busy={isFetching} onRetry={() => void refetch()} />;
