import { writeDraft } from '#src/platform/draft.ts';
import { measureImage, takeAsBase } from '#src/widgets/image/base-image.ts';
import { changeImageDraft, readImageDraft } from '#src/widgets/image/image-draft.ts';
import { isForeign } from '#src/widgets/image/foreign-image.tsx';
import {
  imageToolTabs,
  openImageTool,
  type ImageToolTab,
} from '#src/widgets/image/image-tool-store.ts';
import { useModel } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useMadeWatch } from '#src/widgets/conversation/work-watch.ts';
import { generate } from './image-draw.ts';
import { takeAddressAsBase } from './image-intake.ts';
import { readAsked } from './image-request.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';

const route = getRouteApi('/chat');

const beginImages = (thread: Thread, sent: Message): void =>
  void generate(thread, sent.id, readAsked(sent));

const isTab = (tab: string | undefined): tab is ImageToolTab =>
  imageToolTabs.some((each) => each === tab);

/** `?open=img-tool`, with a tab, a base image and words, once. */
const useToolOfAddress = (session: SessionDetail) => {
  const { open, tab, image_url, prompt } = route.useSearch();
  const navigate = route.useNavigate();
  const taken = useRef(false);
  const { uuid, writable } = session;
  const model = useModel(session.model);
  useEffect(() => {
    if ((open === undefined && image_url === undefined) || taken.current || !writable) return;
    if (image_url !== undefined && !model) return;
    taken.current = true;
    if (prompt !== undefined) writeDraft(uuid, prompt);
    if (open === 'img-tool')
      openImageTool({ key: uuid, model: session.model, ...(isTab(tab) ? { tab } : {}) });
    if (image_url !== undefined && model) {
      // What lies elsewhere the server fetches, or says that it cannot be had.
      if (isForeign(image_url)) void takeAddressAsBase(uuid, model, image_url);
      else {
        takeAsBase(uuid, model, { url: image_url, width: 0, height: 0 });
        const measure = async () => {
          try {
            const image = await measureImage(image_url);
            if (readImageDraft(uuid).base_image === image_url) takeAsBase(uuid, model, image);
          } catch {
            if (readImageDraft(uuid).base_image === image_url)
              changeImageDraft(uuid, { base_image: undefined });
            toast('参考图没有取到：图片不存在或已删除', 'error');
          }
        };
        void measure();
      }
    }
    void navigate({
      search: (old) => ({ ...old, open: undefined, tab: undefined, image_url: undefined }),
      replace: true,
    });
  }, [open, tab, image_url, prompt, uuid, session.model, model, writable, navigate]);
};

/** Follows the work of a session of images. */
export const ImageWatch = ({ session }: { session: SessionDetail }) => {
  useToolOfAddress(session);
  useMadeWatch(session, beginImages);
  return null;
};
