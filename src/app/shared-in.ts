import { addFiles } from '#src/platform/attach/intake.ts';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { toast } from '#src/platform/toast.ts';
import { cacheNames, sharedText, type SharedText } from '#sw/messages.ts';

/** Takes what another app shared (sw/share.ts) into the draft of a new session, once. */
export const takeShared = async (): Promise<void> => {
  const cache = await caches.open(cacheNames.shared);
  let text = '';
  const files: File[] = [];
  for (const request of await cache.keys()) {
    const response = await cache.match(request);
    // Two tabs do not both take it.
    if (!response || !(await cache.delete(request))) continue;
    if (new URL(request.url).pathname === sharedText)
      ({ text } = (await response.json()) as SharedText);
    else {
      const blob = await response.blob();
      const name = decodeURIComponent(response.headers.get('x-name') ?? '');
      files.push(new File([blob], name || '分享的文件', { type: blob.type }));
    }
  }
  const draft = readDraft('home');
  if (text !== '') writeDraft('home', draft.trim() === '' ? text : `${draft}\n${text}`);
  if (files.length > 0) await addFiles({ draftKey: 'home' }, files);
  if (text === '' && files.length === 0) toast('分享的内容是空的');
};
