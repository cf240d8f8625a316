import { writeDraft } from '#src/platform/draft.ts';
import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { generateVideo } from './video-make.ts';
import { openVideoSheet } from './video-dialog-store.ts';
import { changeVideoDraft } from './video-request.ts';
import { useMadeWatch } from '#src/widgets/conversation/work-watch.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';

const route = getRouteApi('/chat');

/** `?open=img-video`, with an image and words, once. */
const useSheetOfAddress = ({ uuid, writable }: SessionDetail): void => {
  const { open, image_url, prompt } = route.useSearch();
  const navigate = route.useNavigate();
  const taken = useRef(false);
  useEffect(() => {
    if ((open === undefined && image_url === undefined) || taken.current || !writable) return;
    taken.current = true;
    if (prompt !== undefined) writeDraft(uuid, prompt);
    if (image_url !== undefined) changeVideoDraft(uuid, { base_image: image_url });
    openVideoSheet(uuid);
    void navigate({
      search: (old) => ({ ...old, open: undefined, tab: undefined, image_url: undefined }),
      replace: true,
    });
  }, [open, image_url, prompt, uuid, writable, navigate]);
};

const beginVideo = (thread: Thread, { id }: Message): void => void generateVideo(thread, id);

/** Follows the work of a session of films. */
export const VideoWatch = ({ session }: { session: SessionDetail }) => {
  useSheetOfAddress(session);
  useMadeWatch(session, beginVideo);
  return null;
};
