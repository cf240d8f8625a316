import { DropVeil } from '#src/ui/drop-veil.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { lazyChunk, lazyPart } from '#src/platform/lazy-chunk.ts';
import { useState, type ClipboardEvent, type ReactNode } from 'react';
import { useAttachments, type AttachTarget } from '#src/platform/attach/attach-store.ts';
import css from './attach.module.css';

/** What attachments are for. */
const loadIntake = lazyChunk(() => import('#src/platform/attach/intake.ts'));
const AttachSheet = lazyPart(() => import('./attach-sheet.tsx'));
const Tray = lazyPart(() => import('./attach-tray.tsx'), <div className={css.traySpace} />);

const take = async (target: AttachTarget, files: readonly File[]) => {
  const { addFiles } = await loadIntake();
  await addFiles(target, files);
};

/** The ＋ that opens the ways to add something. */
export const AttachButton = ({
  target,
  label = '添加图片或文件',
  children,
}: {
  target: AttachTarget;
  label?: string;
  /** What else the same sheet offers; given what closes it. */
  children?: (close: () => void) => ReactNode;
}) => {
  const [open, setOpen] = useState(false);
  const [used, setUsed] = useState(false);
  return (
    <>
      <button
        type="button"
        className="round"
        aria-label={label}
        title={label}
        onClick={() => {
          setUsed(true);
          setOpen(true);
        }}
      >
        <Icon name="plus" size={22} />
      </button>
      {used && (
        <AttachSheet target={target} open={open} onClose={() => setOpen(false)}>
          {children?.(() => setOpen(false))}
        </AttachSheet>
      )}
    </>
  );
};

/** What has been added to the draft; nothing while there is nothing. */
export const AttachTray = ({ target }: { target: AttachTarget }) => {
  const { items } = useAttachments(target.draftKey);
  if (items.length === 0) return null;
  return <Tray target={target} />;
};

/** For a text box: pasted images and files are added, pasted text stays text. */
export const pasteInto = (target: AttachTarget) => (event: ClipboardEvent) => {
  const files = [...event.clipboardData.files];
  // A table or a page brings an image of itself along: its text is meant.
  if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  void take(target, files);
};

/** Takes what is dropped anywhere on the page. */
export const AttachDrop = ({ target }: { target: AttachTarget }) => (
  <DropVeil text="松开即可添加图片或文件" onFiles={(files) => void take(target, files)} />
);
