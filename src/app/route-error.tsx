import { Button } from '@/shared/ui/button.tsx';
import { EmptyState } from '@/shared/ui/empty-state.tsx';
import { errorText } from '@/shared/api-error.ts';
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';

/** Stands where a screen fell over; the rest of the page goes on. */
export const RouteError = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter();
  return (
    <div className="page" role="alert">
      <EmptyState
        icon="warning"
        text={`这个页面出了点问题：${errorText(error)}`}
        action={
          <div className="row">
            <Button
              kind="primary"
              onClick={() => {
                reset();
                void router.invalidate();
              }}
            >
              再试一次
            </Button>
            <Link className="button" to="/">
              回到首页
            </Link>
          </div>
        }
      />
    </div>
  );
};
