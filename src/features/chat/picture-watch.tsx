import { useAuth } from '@/shared/auth-store.ts';
import { writeDraft } from '@/shared/draft.ts';
import { measurePicture, takeAsBase } from '@/shared/image/base-picture.ts';
import { readImageDraft } from '@/shared/image/image-draft.ts';
import { imageToolTabs, openImageTool, type ImageToolTab } from '@/shared/image/image-tool.ts';
import { isUnfinished, noteJob, onJobEnded } from '@/shared/jobs.ts';
import { onActDone } from '@/shared/outbox.ts';
import { useModel } from '@/shared/queries.ts';
import type { SessionDetail } from '@contract/session.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useChatActs } from './chat-context.ts';
import { generate } from './picture-draw.ts';
import { readAsked } from './picture-request.ts';
import './picture.css';

const route = getRouteApi('/chat');

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
    if (open !== undefined)
      openImageTool({ key: uuid, model: session.model, ...(isTab(tab) ? { tab } : {}) });
    if (image_url !== undefined && model) {
      takeAsBase(uuid, model, { url: image_url, width: 0, height: 0 });
      const measure = async () => {
        try {
          const picture = await measurePicture(image_url);
          if (readImageDraft(uuid).base_image === image_url) takeAsBase(uuid, model, picture);
        } catch {
          // The server may still reach what this browser does not.
        }
      };
      void measure();
    }
    void navigate({
      search: (old) => ({ ...old, open: undefined, tab: undefined, image_url: undefined }),
      replace: true,
    });
  }, [open, tab, image_url, prompt, uuid, session.model, model, writable, navigate]);
};

/** Before what could not be read is read again, ms. */
const pause = 5_000;

/** Follows the jobs of a session of pictures and brings what they made into the list. */
export const PictureWatch = ({ session }: { session: SessionDetail }) => {
  const { thread, owner } = useChatActs();
  const { token } = useAuth();
  const { uuid } = session;
  const bringing = useRef(new Set<number>());
  useToolOfAddress(session);
  useEffect(() => {
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const coming = bringing.current;
    const bring = async (id: number) => {
      coming.add(id);
      try {
        await thread.reload(id);
        // One that the server itself has not brought up to date is asked for again in a while.
        timers.add(setTimeout(() => coming.delete(id), pause));
      } catch {
        timers.add(setTimeout(() => void bring(id), pause));
      }
    };
    const look = () => {
      if (!owner || token === '') return;
      for (const { job, id } of thread.all())
        // It ended while this list was away.
        if (job && isUnfinished(job) && !noteJob(job) && !coming.has(id)) void bring(id);
    };
    look();
    const forget = [
      thread.subscribe(look),
      onJobEnded((job) => {
        if (job.session_uuid === uuid) void bring(job.history_id);
      }),
      onActDone((done, data) => {
        if (done.lane !== uuid || done.name !== 'sendMessage') return;
        const { id } = data as { id: number };
        const begin = () => {
          const sent = thread.all().find((message) => message.id === id);
          if (sent) void generate(thread, id, readAsked(sent));
        };
        // The thread hears of it first, and takes the message in.
        thread.writing().then(begin, () => {});
      }),
    ];
    return () => {
      for (const end of forget) end();
      for (const timer of timers) clearTimeout(timer);
      coming.clear();
    };
  }, [thread, uuid, owner, token]);
  return null;
};
