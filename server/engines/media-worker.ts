import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import type { LookJob } from './media.ts';
import { serveThread } from './thread-work.ts';

serveThread<LookJob>(async (data) => {
  const input = new Input({ source: new BufferSource(data), formats: ALL_FORMATS });
  if (!(await input.canRead())) return null;
  const film = await input.getPrimaryVideoTrack();
  const sound = await input.getPrimaryAudioTrack();
  const seconds = await input.computeDuration();
  if ((!film && !sound) || !Number.isFinite(seconds) || seconds <= 0) return null;
  const { mimeType } = await input.getFormat();
  return {
    mime: mimeType,
    seconds,
    width: film?.displayWidth ?? 0,
    height: film?.displayHeight ?? 0,
    sound: sound !== null,
  };
});
