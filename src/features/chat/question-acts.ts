import { ApiError } from '#src/platform/api-error.ts';
import { api } from '#src/platform/api.ts';
import { copyText } from '#src/platform/copy.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { setCompose } from './compose-store.ts';

/** Accepts an answer, or takes that back. */
export const acceptAnswer = async (uuid: string, id: number, accepted: boolean): Promise<void> => {
  try {
    await api.acceptAnswer({ session_id: uuid, history_id: id, accepted: accepted ? 1 : 0 });
    toast(accepted ? '已采纳' : '已取消采纳', 'success');
  } catch (error) {
    // The call has said why.
    if (!(error instanceof ApiError)) throw error;
  }
};

/** So much of a message is quoted, characters. */
const quotedMost = 300;

/** Puts the beginning of a message into the box as a quotation, and speaks to its author. */
export const quote = (
  uuid: string,
  person: { id: number; name: string },
  text: string,
  toPerson: boolean,
): void => {
  const letters = Array.from(text.trim());
  const cut =
    letters.length > quotedMost ? `${letters.slice(0, quotedMost).join('')}…` : text.trim();
  const quoted = cut
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
  const draft = readDraft(uuid);
  writeDraft(uuid, `${draft === '' ? '' : `${draft}\n\n`}${quoted}\n\n`);
  if (toPerson) setCompose(uuid, { atUser: person });
  document.querySelector<HTMLElement>('[data-send-box] textarea')?.focus();
};

/** The address at which a message is found for good. */
export const copyLink = (uuid: string, id: number | null): void => {
  const address = new URL('/chat', location.origin);
  address.searchParams.set('uuid', uuid);
  if (id !== null) address.searchParams.set('history_id', String(id));
  void copyText(address.href);
};
