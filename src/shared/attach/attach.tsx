import { Icon } from '../ui/icon.tsx';
import { lazyChunk } from '../markdown/lazy-chunk.ts';
import type { Model } from '@contract/model.ts';
import { lazy, Suspense, useEffect, useState, type ClipboardEvent } from 'react';
import { useAttachments } from './attach-store.ts';
import './attach.css';

/** What attachments are for. */
export interface AttachTarget {
  /** 'home' or a session's uuid. */
  draftKey: string;
  /** Who shall read them; undefined: people. */
  model?: Model | undefined;
  /** Chooses another model; undefined: it can not be changed any more. */
  onModel?: ((name: string) => void) | undefined;
}

const loadIntake = lazyChunk(() => import('./intake.ts'));
const AttachSheet = lazy(() => import('./attach-sheet.tsx'));
const Tray = lazy(() => import('./attach-tray.tsx'));

const take = async (target: AttachTarget, files: readonly File[]) => {
  const { addFiles } = await loadIntake();
  await addFiles(target, files);
};

/** The ＋ that opens the ways to add something. */
export const AttachButton = ({ target }: { target: AttachTarget }) => {
  const [open, setOpen] = useState(false);
  const [used, setUsed] = useState(false);
  return (
    <>
      <button
        type="button"
        className="attach-button"
        aria-label="添加图片或文件"
        title="添加图片或文件"
        onClick={() => {
          setUsed(true);
          setOpen(true);
        }}
      >
        <Icon name="plus" size={22} />
      </button>
      {used && (
        <Suspense fallback={null}>
          <AttachSheet target={target} open={open} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
};

/** What has been added to the draft; nothing while there is nothing. */
export const AttachTray = ({ target }: { target: AttachTarget }) => {
  const { items } = useAttachments(target.draftKey);
  if (items.length === 0) return null;
  return (
    <Suspense fallback={<div className="tray-space" />}>
      <Tray target={target} />
    </Suspense>
  );
};

/** For a text box: pasted pictures and files are added, pasted text stays text. */
export const pasteInto = (target: AttachTarget) => (event: ClipboardEvent) => {
  const files = [...event.clipboardData.files];
  // A table or a page brings a picture of itself along: its text is meant.
  if (files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  void take(target, files);
};

const hasFiles = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes('Files') ?? false;

/** Takes what is dropped anywhere on the page, and shows so while it is dragged. */
export const DropVeil = ({ target }: { target: AttachTarget }) => {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event) || document.querySelector('#root')?.hasAttribute('inert')) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!hasFiles(event)) return;
      // Otherwise the browser would leave the page for the file.
      event.preventDefault();
      void take(target, [...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener('dragover', onOver);
    addEventListener('dragleave', onLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onOver);
      removeEventListener('dragleave', onLeave);
      removeEventListener('drop', onDrop);
    };
  }, [target]);
  return over ? <div className="drop-veil">松开即可添加图片或文件</div> : null;
};
