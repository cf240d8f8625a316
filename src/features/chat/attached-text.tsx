import { steady, useCall } from '#src/platform/call-query.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import css from './question-parts.module.css';

/** What an attached file says, as the model was given it. */
const AttachedText = ({
  file,
  onClose,
}: {
  file: { uuid: string; name: string };
  onClose: () => void;
}) => {
  const read = useCall('attachedText', { uuid: file.uuid }, { ...steady, retry: false });
  return (
    <Sheet open onClose={onClose} title={file.name || '附件'}>
      {read.isPending && <Skeleton lines={6} />}
      {read.isError && <QueryFailed query={read} />}
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
