import { toast } from '#src/platform/toast.ts';
import { createStore, useStore } from '#src/platform/store.ts';

export interface DialogRequest {
  title: string;
  text: string;
  ok: string;
  /** Absent: an alert with one button. */
  cancel?: string;
  danger: boolean;
  answer: (ok: boolean) => void;
}

const waiting = createStore<readonly DialogRequest[]>([]);

const ask = (request: Omit<DialogRequest, 'answer'>) =>
  new Promise<boolean>((resolve) => {
    const entry: DialogRequest = {
      ...request,
      answer: (ok) => {
        waiting.set(waiting.get().filter((other) => other !== entry));
        resolve(ok);
      },
    };
    waiting.set([...waiting.get(), entry]);
  });

/** The dialogs that wait for an answer; the host in the shell shows the first. */
export const useDialogs = () => useStore(waiting);

/** Asks before something is done; false when the person steps back in any way. */
export const confirmDialog = ({
  title = '请确认',
  text,
  ok,
  danger = false,
}: {
  title?: string;
  text: string;
  ok: string;
  danger?: boolean;
}): Promise<boolean> => ask({ title, text, ok, cancel: '取消', danger });

/** Asks before something is deleted; false, and said, when the person steps back in any way. */
export const confirmDelete = async (
  words: Omit<Parameters<typeof confirmDialog>[0], 'ok' | 'danger'> & { ok?: string },
): Promise<boolean> => {
  const sure = await confirmDialog({ ok: '删除', danger: true, ...words });
  if (!sure) toast('已取消删除');
  return sure;
};

/** Tells something that must be read; resolves when it has been. */
export const alertDialog = async ({
  title,
  text,
}: {
  title: string;
  text: string;
}): Promise<void> => {
  await ask({ title, text, ok: '知道了', danger: false });
};
