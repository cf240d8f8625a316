import { Button, ButtonLink } from '#src/ui/button.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { ApiError, isOffline } from '#src/platform/api-error.ts';
import { isMissingPart } from '#src/platform/lazy-chunk.ts';
import { reloadOnce } from '#src/platform/reload-once.ts';
import { askLine, onLineWell, useLine } from '#src/platform/line.ts';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';

const fallen = '这个页面出了错。再试一次，还不行就先回到首页。';
const gone = '这个页面的代码没有取到，可能刚换了新版本。再试一次就会重新取。';
const offline = '现在没有网络，这个页面还没有存到这台设备上，联网后会自己打开。';

/** What is said of a fault, by what would help. */
const wordsFor = (error: unknown, isWell: boolean): string => {
  if (error instanceof ApiError) return error.message;
  if (!isMissingPart(error)) return fallen;
  return isWell ? gone : offline;
};

/** Stands where a screen fell over; the rest of the page goes on. */
export const RouteError = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter();
  const refused = error instanceof ApiError;
  const isWell = useLine() === 'well';
  // What fell over for want of a network comes by itself with that; a fault of our own does not.
  const isMissing = isMissingPart(error);
  const unreached = isOffline(error) || (isMissing && !isWell);
  // The part that did not come may be the first to tell that the line is down.
  useEffect(() => {
    if (!isMissing && !unreached) return;
    const look = async () => {
      // It did not come over a line that was down for a moment only.
      if ((await askLine()) && isMissing) reloadOnce();
    };
    void look();
  }, [isMissing, unreached]);
  useEffect(() => {
    if (!unreached) return undefined;
    return onLineWell(() => {
      if (!refused) location.reload();
      reset();
      void router.invalidate();
    });
  }, [unreached, refused, reset, router]);
  return (
    <div className="page" role="alert">
      <EmptyState
        icon="warning"
        text={wordsFor(error, isWell)}
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
            <ButtonLink to="/">回到首页</ButtonLink>
          </div>
        }
      />
    </div>
  );
};
