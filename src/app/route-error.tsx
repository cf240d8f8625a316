import { Button } from '@/ui/button.tsx';
import { EmptyState } from '@/ui/empty-state.tsx';
import { ApiError } from '@/platform/api-error.ts';
import { askLine, onLineWell, useLine } from '@/platform/line.ts';
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';

const fallen = '这个页面没有加载成功，请再试一次。';
const offline = '现在没有网络，这个页面还没有存到这台设备上，联网后再打开。';

/** Stands where a screen fell over; the rest of the page goes on. */
export const RouteError = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter();
  const refused = error instanceof ApiError;
  const unreached = useLine() !== 'well' && !refused;
  // What fell over for want of a network comes by itself with that.
  useEffect(() => {
    if (refused) return undefined;
    void askLine();
    return onLineWell(() => location.reload());
  }, [refused]);
  return (
    <div className="page" role="alert">
      <EmptyState
        icon="warning"
        text={refused ? error.message : unreached ? offline : fallen}
        action={
          <div className="row">
            <Button
              kind="primary"
              onClick={() => {
                // What fell over for another reason than a refusal starts from scratch.
                if (!refused) location.reload();
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
