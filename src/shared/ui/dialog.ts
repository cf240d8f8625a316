export interface DialogRequest {
  title: string;
  text: string;
  ok: string;
  /** Absent: an alert with one button. */
  cancel?: string;
  danger: boolean;
  answer: (ok: boolean) => void;
}

let waiting: readonly DialogRequest[] = [];
const listeners = new Set<() => void>();

const change = (next: readonly DialogRequest[]) => {
  waiting = next;
  for (const listener of listeners) listener();
};

const ask = (request: Omit<DialogRequest, 'answer'>) =>
  new Promise<boolean>((resolve) => {
    const entry: DialogRequest = {
      ...request,
      answer: (ok) => {
        change(waiting.filter((other) => other !== entry));
        resolve(ok);
      },
    };
    change([...waiting, entry]);
  });

/** What the host in the shell shows: the first one waiting. */
export const dialogs = {
  get: (): DialogRequest | undefined => waiting[0],
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

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
