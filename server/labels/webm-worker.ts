import {
  BufferSource,
  BufferTarget,
  Conversion,
  Input,
  Output,
  WEBM,
  WebMOutputFormat,
} from 'mediabunny';
import { serveThread } from '#server/engines/thread-work.ts';
import type { WebmLabelJob } from './webm.ts';

/** Writes a WebM anew with a tag in its head; its packets are copied as they are. */
serveThread<WebmLabelJob>(async ({ data, name, text }) => {
  const input = new Input({ source: new BufferSource(data), formats: [WEBM] });
  const target = new BufferTarget();
  const output = new Output({ format: new WebMOutputFormat(), target });
  const conversion = await Conversion.init({
    input,
    output,
    tags: ({ raw }) => ({ raw: { ...raw, [name]: text } }),
  });
  // What cannot be copied would be left out.
  if (!conversion.isValid || conversion.discardedTracks.length > 0) return null;
  await conversion.execute();
  return target.buffer && new Uint8Array(target.buffer);
});
