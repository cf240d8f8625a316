import type { Model } from '#contract/model.ts';
import { onDraftsCleared, readDraft, writeDraft } from '#src/platform/draft.ts';
import { createStore, useStore, type Store } from '#src/platform/store.ts';
import type { StructuredMessage } from '#contract/chat.ts';

/** An image or a file that goes with the next message. */
export interface Attachment {
  id: string;
  kind: 'image' | 'file';
  name: string;
  /** Bytes; 0: not known. */
  size: number;
  /** waiting: for the network, or for the account that a first session makes. */
  state: 'preparing' | 'waiting' | 'uploading' | 'failed' | 'ready';
  /** What of it has been sent, 0–1. */
  progress: number;
  /** Why it failed. */
  error: string;
  /** The same file fails again. */
  refused?: boolean;
  /** What was done to it before it was sent; empty: nothing. */
  notice: string;
  /** Address of the image on this device, while the page lives. */
  preview: string;
  /** Of a ready image: its address on the server. */
  url: string;
  /** Of a ready file: its name on the server, and how much text it has. */
  uuid: string;
  chars: number;
  /** Of its text, where the server has counted them. */
  tokens?: number;
  /** The rest of a longer text was left out. */
  cut: boolean;
  /** Its bytes are kept on this device until they are uploaded (`@/platform/outbox-blobs.ts`). */
  kept?: boolean;
}

export type Detail = StructuredMessage['image_detail'];

export interface Attachments {
  items: readonly Attachment[];
  detail: Detail;
  /** The person has sent the message already: it goes as soon as everything is ready. */
  sendWhenReady: boolean;
}

const nothing: Attachments = { items: [], detail: 'low', sendWhenReady: false };
const stores = new Map<string, Store<Attachments>>();
const draftOf = (key: string) => `attach:${key}`;

const restore = (key: string): Attachments => {
  try {
    const saved = JSON.parse(readDraft(draftOf(key)) || '{}') as Partial<Attachments>;
    return { ...nothing, ...saved };
  } catch {
    return nothing;
  }
};

const storeOf = (key: string): Store<Attachments> => {
  let store = stores.get(key);
  if (!store) {
    store = createStore(restore(key));
    stores.set(key, store);
  }
  return store;
};

/** What is on the server or kept on this device survives the page; the rest lives as long as it. */
const keep = (key: string, { items, detail }: Attachments) => {
  const lasting = items
    .filter((item) => item.state === 'ready' || item.kept)
    .map((item) => ({
      ...item,
      preview: '',
      state: item.state === 'ready' ? item.state : 'waiting',
      progress: 0,
    }));
  writeDraft(draftOf(key), items.length === 0 ? '' : JSON.stringify({ detail, items: lasting }));
};

/** `key`: 'home' or a session's uuid, as for the draft of the text. */
export const readAttachments = (key: string): Attachments => storeOf(key).get();

export const useAttachments = (key: string): Attachments => useStore(storeOf(key));

export const setAttachments = (key: string, change: Partial<Attachments>): void => {
  const store = storeOf(key);
  const next = { ...store.get(), ...change };
  store.set(next);
  keep(key, next);
};

/** Changes one, wherever it is by now. */
export const changeAttachment = (id: string, change: Partial<Attachment>): void => {
  for (const [key, store] of stores) {
    const { items } = store.get();
    if (!items.some((item) => item.id === id)) continue;
    const changed = items.map((item) => (item.id === id ? { ...item, ...change } : item));
    // Progress alone is not worth writing down.
    if (change.state === undefined && change.kept === undefined)
      store.set({ ...store.get(), items: changed });
    else setAttachments(key, { items: changed });
  }
};

/** A draft that becomes a session's takes along what was added to it. */
export const moveAttachments = (from: string, to: string): void => {
  const { items, detail } = readAttachments(from);
  if (items.length === 0) return;
  setAttachments(from, nothing);
  setAttachments(to, { items, detail });
};

export const clearAttachments = (key: string): void => setAttachments(key, nothing);

onDraftsCleared(() => {
  for (const store of stores.values()) store.set(nothing);
});

/** Not one of them is still on its way. */
export const allReady = ({ items }: Attachments): boolean =>
  items.every((item) => item.state === 'ready');

/** What is still on its way can go on without this page. */
export const allKept = ({ items }: Attachments): boolean =>
  items.every((item) => item.state === 'ready' || item.kept);

export const imagesOf = ({ items }: Pick<Attachments, 'items'>): Attachment[] =>
  items.filter((item) => item.kind === 'image');

/**
 * What stands in `msg` and `format` of send_message: the text alone, or JSON with what goes along.
 * @param more something will be put into it that is not uploaded yet
 */
export const messageWith = (
  prompt: string,
  attachments: Pick<Attachments, 'items' | 'detail'>,
  atUser: { id: number; name: string } | null = null,
  more = false,
): { msg: string; format: 0 | 1 } => {
  const ready = attachments.items.filter((item) => item.state === 'ready');
  if (ready.length === 0 && !atUser && !more) return { msg: prompt, format: 0 };
  const images = ready.filter((item) => item.kind === 'image').map((item) => item.url);
  const message: StructuredMessage = {
    type: images.length > 0 ? 'chat-vision' : 'chat',
    prompt,
    images,
    image_detail: attachments.detail,
    files: ready
      .filter((item) => item.kind === 'file')
      .map(({ uuid, name, size }) => ({ uuid, name, size })),
    at_user: atUser,
    at_ai: '',
  };
  return { msg: JSON.stringify(message), format: 1 };
};

export interface AttachTarget {
  /** 'home' or a session's uuid. */
  draftKey: string;
  /** Who shall read them; undefined: people. */
  model?: Model | undefined;
  /** Chooses another model; undefined: it can not be changed any more. */
  onModel?: ((name: string) => void) | undefined;
}
