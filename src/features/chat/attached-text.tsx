import { api } from '@/platform/api.ts';
import { LoadFailed } from '@/ui/load-failed.tsx';
import { Sheet } from '@/ui/sheet.tsx';
import { Skeleton } from '@/ui/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import css from './question-parts.module.css';

/** What an attached file says, as the model was given it. */
const AttachedText = ({
  file,
  onClose,
}: {
  file: { uuid: string; name: string };
  onClose: () => void;
}) => {
  const read = useQuery({
    queryKey: ['attachedText', file.uuid],
    queryFn: ({ signal }) => api.attachedText({ uuid: file.uuid }, { signal, quiet: true }),
    staleTime: Infinity,
    retry: false,
    meta: { steady: true },
  });
  return (
    <Sheet open onClose={onClose} title={file.name || '附件'}>
      {read.isPending && <Skeleton lines={6} />}
      {read.isError && <LoadFailed error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && (
        <>
          <p className={`${css.attachedText} selectable`}>{read.data.text}</p>
          {read.data.cut && <p className="field-hint">文件太长，后面的部分没有取出来。</p>}
        </>
      )}
    </Sheet>
  );
};

export default AttachedText;
