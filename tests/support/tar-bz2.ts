import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { loadOptional, optionalPackageFile } from '#server/optional-packages.ts';

/** A tar.bz2 of these files by their names; a name with ` -> ` behind it is a link to what follows. */
export const tarBz2 = async (files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> => {
  const tar = pack();
  for (const [name, text] of Object.entries(files)) {
    const [from = '', to] = name.split(' -> ');
    if (to === undefined) tar.entry({ name: from }, text);
    else tar.entry({ name: from, type: 'symlink', linkname: to });
  }
  tar.finalize();
  const wasm = readFileSync(optionalPackageFile('7z-wasm', '7zz.wasm'));
  const program = await (
    await loadOptional('7z-wasm')
  )({
    print: () => {},
    wasmBinary: wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength),
  });
  const data = await buffer(tar);
  const file = program.FS.open('/a.tar', 'w+');
  program.FS.write(file, data, 0, data.length);
  program.FS.close(file);
  program.callMain(['a', '-tbzip2', '/a.tar.bz2', '/a.tar']);
  return Buffer.from(program.FS.readFile('/a.tar.bz2', { encoding: 'binary' }));
};
