import { ApiError, errorText, isCancelled, isRefusedFile } from '#src/platform/api-error.ts';
import { serverApi } from '#src/platform/server-api.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { onLineWell } from '#src/platform/line.ts';
import { onDraftsCleared } from '#src/platform/draft.ts';
import { dropBlob, keepBlob, readBlob } from '#src/platform/outbox-blobs.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';
import type { AttachedFile, UploadedImage } from '#contract/file.ts';
import { limits } from '#contract/limits.ts';
import {
  imagesOf,
  changeAttachment,
  readAttachments,
  setAttachments,
  type Attachment,
  type AttachTarget,
} from './attach-store.ts';
import { blank } from './blank.ts';
import { isImage, isReadable } from './file-kinds.ts';
import { prepareImage } from './shrink-image.ts';

/** How long to wait before a try that no server heard is made again, ms. */
const pause = 4_000;
const mostTries = 8;

/** What an attachment is sent from. */
interface Source {
  send: (key: string, signal: AbortSignal) => Promise<Partial<Attachment>>;
  /** The idempotency key of all tries, which may have reached the server. */
  key: string;
  tries: number;
  running: boolean;
  /** Refused: only its owner begins anew. */
  halted: boolean;
  abort: AbortController;
}

/** Of those that are not ready. */
const sources = new Map<string, Source>();

const imageChange = (image: UploadedImage): Partial<Attachment> => ({
  url: image.url,
  size: image.bytes,
});

const fileChange = (file: AttachedFile): Partial<Attachment> => ({
  uuid: file.uuid,
  name: file.name,
  size: file.size,
  chars: file.chars,
  ...(file.tokens === undefined ? {} : { tokens: file.tokens }),
  cut: file.cut,
});

const run = async (id: string): Promise<void> => {
  const source = sources.get(id);
  if (!source || source.running || source.halted) return;
  // Without an account nothing can be stored; the first session makes one.
  if (authStore.get().token === '' || !navigator.onLine) {
    changeAttachment(id, { state: 'waiting' });
    return;
  }
  source.running = true;
  changeAttachment(id, { state: 'uploading', progress: 0, error: '' });
  try {
    const change = await source.send(source.key, source.abort.signal);
    sources.delete(id);
    changeAttachment(id, { ...change, state: 'ready', progress: 1, kept: false });
    await dropBlob(id).catch(() => undefined);
  } catch (error) {
    source.running = false;
    if (isCancelled(error)) return;
    const unheard = error instanceof ApiError && error.status === 0;
    if (unheard && source.tries < mostTries) {
      source.tries += 1;
      changeAttachment(id, { state: 'waiting', progress: 0 });
      setTimeout(() => void run(id), pause);
      return;
    }
    source.halted = true;
    const text = error instanceof Error ? error.message : errorText(error);
    changeAttachment(id, {
      state: 'failed',
      progress: 0,
      error: text,
      refused: isRefusedFile(error),
    });
  }
};

const runAll = () => {
  for (const id of sources.keys()) void run(id);
};
addEventListener('online', runAll);
onLineWell(runAll);
authStore.subscribe(runAll);
onDraftsCleared(() => {
  for (const id of sources.keys()) forget(id);
});

let told = false;
/** Keeps the bytes until they are uploaded; where there is no room, the page alone has them. */
const keepBytes = async (id: string, blob: Blob) => {
  try {
    await keepBlob(id, blob);
    changeAttachment(id, { kept: true });
  } catch {
    if (!told) toast('手机存储已满，附件只在这个页面开着时留着', 'error');
    told = true;
  }
};

const forget = (id: string) => {
  sources.get(id)?.abort.abort();
  sources.delete(id);
};

const begin = (id: string, send: Source['send']) => {
  sources.set(id, {
    send,
    key: uuid(),
    tries: 0,
    running: false,
    halted: false,
    abort: new AbortController(),
  });
  void run(id);
};

/** Tries one again that failed. */
export const retryAttachment = (id: string): void => {
  const source = sources.get(id);
  if (!source) return;
  // Under the same key: a former try may have arrived, and a refusal is no answer that is kept.
  Object.assign(source, { tries: 0, halted: false });
  void run(id);
};

export const removeAttachment = (draftKey: string, id: string): void => {
  forget(id);
  dropBlob(id).catch(() => undefined);
  const { items } = readAttachments(draftKey);
  const gone = items.find((item) => item.id === id);
  if (gone?.preview) URL.revokeObjectURL(gone.preview);
  setAttachments(draftKey, { items: items.filter((item) => item.id !== id) });
};

const add = (draftKey: string, item: Pick<Attachment, 'kind' | 'name'> & Partial<Attachment>) => {
  const id = uuid();
  const { items } = readAttachments(draftKey);
  setAttachments(draftKey, { items: [...items, { ...blank, ...item, id }] });
  return id;
};

const sendImage =
  (id: string, blob: Blob, fileName: string): Source['send'] =>
  async (idempotencyKey, signal) => {
    const onProgress = (progress: number) => changeAttachment(id, { progress });
    const options = { fileName, idempotencyKey, signal, onProgress };
    return imageChange((await upload('uploadImage', blob, options)).image);
  };

const sendFile =
  (id: string, blob: Blob, fileName: string): Source['send'] =>
  async (idempotencyKey, signal) => {
    const onProgress = (progress: number) => changeAttachment(id, { progress });
    const options = { fileName, idempotencyKey, signal, onProgress };
    return fileChange((await upload('uploadFile', blob, options)).file);
  };

/** Goes on with what a former life of the page did not finish. */
export const resumeAttachments = async (draftKey: string): Promise<void> => {
  for (const { id, kind, name, state, kept } of readAttachments(draftKey).items) {
    if (state === 'ready' || !kept || sources.has(id)) continue;
    const blob = await readBlob(id).catch(() => undefined);
    if (!blob) removeAttachment(draftKey, id);
    else if (!sources.has(id)) {
      if (kind === 'image') changeAttachment(id, { preview: URL.createObjectURL(blob) });
      begin(id, (kind === 'image' ? sendImage : sendFile)(id, blob, name));
    }
  }
};

/** Leaves the uploads of a message to the outbox. */
export const leaveUploads = (ids: readonly string[]): void => {
  for (const id of ids) forget(id);
};

/** Makes an image fit and sends it; one that can not be used leaves again. */
const addImage = async (draftKey: string, file: File): Promise<void> => {
  const id = add(draftKey, { kind: 'image', name: file.name || '图片', size: file.size });
  try {
    const { blob, name, notice } = await prepareImage(file);
    const preview = URL.createObjectURL(blob);
    changeAttachment(id, { name, size: blob.size, notice, preview });
    begin(id, sendImage(id, blob, name));
    await keepBytes(id, blob);
    if (notice !== '') toast(`${name}：${notice}`);
  } catch (error) {
    removeAttachment(draftKey, id);
    toast(error instanceof Error ? error.message : errorText(error), 'error');
  }
};

const addFile = (draftKey: string, file: File): void => {
  const id = add(draftKey, { kind: 'file', name: file.name, size: file.size });
  begin(id, sendFile(id, file, file.name));
  void keepBytes(id, file);
};

/** Of an image only what is written on it, for a model that sees none. */
const addWords = async (draftKey: string, file: File): Promise<void> => {
  const id = add(draftKey, { kind: 'file', name: file.name || '图片', size: file.size });
  try {
    const { blob, name } = await prepareImage(file);
    changeAttachment(id, { name, size: blob.size });
    begin(id, sendFile(id, blob, name));
    await keepBytes(id, blob);
  } catch (error) {
    removeAttachment(draftKey, id);
    toast(error instanceof Error ? error.message : errorText(error), 'error');
  }
};

const room = (draftKey: string, kind: Attachment['kind']): number => {
  const most = kind === 'image' ? limits.visionImages : limits.attachedFiles;
  return most - readAttachments(draftKey).items.filter((item) => item.kind === kind).length;
};

const tooMany = (kind: Attachment['kind']) =>
  toast(
    kind === 'image'
      ? `最多选择 ${limits.visionImages} 张图片`
      : `最多添加 ${limits.attachedFiles} 个文件`,
    'error',
  );

/** An image from a public address; the server fetches it. False: there is no room for it. */
export const addAddress = ({ draftKey }: AttachTarget, url: string): boolean => {
  if (room(draftKey, 'image') <= 0) {
    tooMany('image');
    return false;
  }
  const id = add(draftKey, { kind: 'image', name: new URL(url).hostname });
  begin(id, async (idempotencyKey, signal) => {
    const { image } = await serverApi.imageByUrl({ url }, { idempotencyKey, signal, quiet: true });
    return imageChange(image);
  });
  return true;
};

/** Takes the words on a draft's images in the place of the images, for a model that sees none. */
export const imagesToWords = async (draftKey: string): Promise<void> => {
  for (const { id, name, url } of imagesOf(readAttachments(draftKey))) {
    if (room(draftKey, 'file') <= 0) {
      tooMany('file');
      return;
    }
    const known =
      url === '' ? readBlob(id) : fetch(url).then((got) => (got.ok ? got.blob() : null));
    const blob = await known.catch(() => null);
    if (blob) {
      removeAttachment(draftKey, id);
      await addWords(draftKey, new File([blob], name, { type: blob.type }));
    } else toast(`没有取到图片：${name}`, 'error');
  }
};

/**
 * Takes what was picked, pasted or dropped, as far as there is room, and begins to send it.
 * @param words of images only what is written on them is wanted
 */
export const addFiles = async (
  target: AttachTarget,
  files: readonly File[],
  { words = false } = {},
): Promise<void> => {
  const { draftKey, model, onModel } = target;
  const images: File[] = [];
  for (const file of files) {
    if (isImage(file)) {
      images.push(file);
    } else if (!isReadable(file)) {
      toast(`不支持这种文件：${file.name}`, 'error');
    } else if (file.size > limits.fileBytes) {
      toast(`文件太大，最多 ${limits.fileBytes / (1024 * 1024)} MB：${file.name}`, 'error');
    } else if (file.size === 0) {
      toast(`文件是空的：${file.name}`, 'error');
    } else if (room(draftKey, 'file') <= 0) {
      tooMany('file');
    } else {
      addFile(draftKey, file);
    }
  }
  if (images.length === 0) return;
  // While the model can still be changed, the tray offers that.
  const asWords = words || (model && !model.vision && !onModel);
  const kind = asWords ? 'file' : 'image';
  if (asWords && model) toast(`「${model.label}」看不了图片，会认出图上的文字交给它`);
  if (images.length > room(draftKey, kind)) tooMany(kind);
  // One after the other: a large photo takes much memory while it is made smaller.
  for (const image of images) {
    if (room(draftKey, kind) <= 0) return;
    await (asWords ? addWords : addImage)(draftKey, image);
  }
};
