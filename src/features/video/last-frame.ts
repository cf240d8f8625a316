import { upload } from '#src/platform/upload.ts';
import { uuid } from '#src/platform/uuid.ts';

/** Before the end, seconds: at the very end some browsers show the first frame again. */
const beforeEnd = 0.05;

const happened = (element: EventTarget, name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    element.addEventListener(name, () => resolve(), { once: true });
    element.addEventListener('error', () => reject(new Error('the film cannot be read')), {
      once: true,
    });
  });

/** Keeps the last image of a film among one's own and gives its address. */
export const lastFrame = async (film: string): Promise<string> => {
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  const known = happened(video, 'loadedmetadata');
  video.src = film;
  await known;
  const there = happened(video, 'seeked');
  video.currentTime = Math.max(0, video.duration - beforeEnd);
  await there;
  const canvas = document.createElement('canvas');
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext('2d')?.drawImage(video, 0, 0);
  const image = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!image) throw new Error('the film gave no image');
  const kept = await upload('uploadImage', image, {
    fileName: 'last-frame.png',
    idempotencyKey: uuid(),
    outlasts: true,
  });
  return kept.image.url;
};
