import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import unbzip2 from 'unbzip2-stream';
import { serveThread } from '../thread-work.ts';
import { type UnpackJob, WrongArchive } from './unpack-task.ts';

/** Unpacks a model, so that nothing else in the server stands still meanwhile. */

const mostFiles = 4_000;
const mostDepth = 8;

/** The path of a file below the archive's own folder; null: it has none. @throws WrongArchive */
const placeOf = (name: string): string | null => {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length > mostDepth || name.startsWith('/') || /[\\\0:]/.test(name))
    throw new WrongArchive('压缩包里有不该有的路径');
  if (parts.includes('..')) throw new WrongArchive('压缩包里有不该有的路径');
  // All of them lie in one folder that is called as the archive is.
  return parts.length > 1 ? path.join(...parts.slice(1)) : null;
};

serveThread<UnpackJob>(async ({ archive, folder, most }, io) => {
  const files = extract();
  const plain = unbzip2();
  plain.on('error', () => files.destroy(new WrongArchive('压缩包坏了')));
  const source = createReadStream(archive);
  source.on('error', (error) => files.destroy(error));
  source.pipe(plain).pipe(files);
  let bytes = 0;
  let count = 0;
  try {
    for await (const entry of files) {
      const { name, type, size } = entry.header;
      const place = placeOf(name);
      // Links and devices are no part of a model.
      if (type !== 'file' || place === null) {
        entry.resume();
        continue;
      }
      bytes += size;
      count += 1;
      if (bytes > most || count > mostFiles) throw new WrongArchive('压缩包里的比说好的多');
      const target = path.join(folder, place);
      await mkdir(path.dirname(target), { recursive: true });
      await pipeline(entry, createWriteStream(target, { flags: 'wx' }));
      await io.progress(Math.min(1, bytes / most));
    }
  } finally {
    source.destroy();
  }
  if (count === 0) throw new WrongArchive('压缩包是空的');
  return count;
});
