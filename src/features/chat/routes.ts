import { root } from '#src/platform/root-route.ts';
import { on, oneOf, place, whole, words, type RawSearch } from '#src/platform/search.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';

export interface ChatSearch {
  uuid?: string;
  /** The list opens at this message. */
  history_id?: number;
  /** The words that lead there are in its reply. */
  part?: 'ai';
  /** 1: `history_id` alone is shown. */
  favorite?: 1;
  prompt?: string;
  /** 1: the prompt is sent at once where the history entry says `sends`; else it waits in the box. */
  send?: 1;
  /** 1: the prompt is one of the page's own suggestions. */
  suggestion?: 1;
  back?: string;
  /** Of a session of images: the image tool opens; of films: what is to be filmed is asked for. */
  open?: 'img-tool' | 'img-video';
  /** The tool's tab. */
  tab?: string;
  /** Address of an image to start from. */
  image_url?: string;
  /** Without a uuid: a session is made that asks this knowledge base. */
  embedding?: string;
}
/** One favourite message: its number stands in `favorite`, as the documents have it, or beside it. */
const favourite = (raw: RawSearch): Pick<ChatSearch, 'history_id' | 'favorite'> => {
  const id = whole(raw, 'history_id');
  const named = whole(raw, 'favorite');
  return id === undefined && named !== undefined
    ? { history_id: named, favorite: 1 }
    : { history_id: id, favorite: on(raw, 'favorite') };
};

export const chatSearch = (raw: RawSearch): ChatSearch => ({
  uuid: words(raw, 'uuid', 36),
  ...favourite(raw),
  part: oneOf(['ai'])(raw, 'part'),
  prompt: words(raw, 'prompt', 2_000_000),
  send: on(raw, 'send'),
  suggestion: on(raw, 'suggestion'),
  back: place(raw, 'back'),
  open: oneOf(['img-tool', 'img-video'])(raw, 'open'),
  tab: words(raw, 'tab', 20),
  image_url: words(raw, 'image_url', 2000),
  embedding: words(raw, 'embedding', 64),
});

export const loadChat = () => import('./chat-screen.tsx');

export const chatRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/chat',
    validateSearch: chatSearch,
    // `?embedding=KEY` leads by way of the helper screen, which makes the session.
    beforeLoad: ({ search: { uuid, embedding } }) => {
      if (uuid === undefined && embedding !== undefined)
        throw redirect({ to: '/redirect', search: { embedding }, replace: true });
    },
    component: lazyRouteComponent(loadChat, 'ChatScreen'),
  }),
] as const;
