import { writeDraft } from '@/platform/draft.ts';
import type { Message } from '@contract/chat.ts';
import type { SessionDetail } from '@contract/session.ts';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { generateFilm } from './film-make.ts';
import { openFilmSheet } from './film-open.ts';
import { changeFilmDraft } from './film-request.ts';
import { useMadeWatch } from './made-watch.ts';
import type { Thread } from './thread.ts';
import './picture.css';

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
    if (image_url !== undefined) changeFilmDraft(uuid, { base_image: image_url });
    openFilmSheet(uuid);
    void navigate({
      search: (old) => ({ ...old, open: undefined, tab: undefined, image_url: undefined }),
      replace: true,
    });
  }, [open, image_url, prompt, uuid, writable, navigate]);
};

const beginFilm = (thread: Thread, { id }: Message): void => void generateFilm(thread, id);

/** Follows the work of a session of films. */
export const FilmWatch = ({ session }: { session: SessionDetail }) => {
  useSheetOfAddress(session);
  useMadeWatch(session, beginFilm);
  return null;
};
