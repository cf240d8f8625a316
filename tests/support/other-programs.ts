import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import load, { WasmReader } from '@contentauth/c2pa-wasm';

const isThere = (program: string, flag: string): boolean =>
  spawnSync(program, [flag], { stdio: 'ignore' }).status === 0;
const exiftool = isThere('exiftool', '-ver');
const ffprobe = isThere('ffprobe', '-version');

/** All that exiftool or ffprobe tells of a file; null: this machine has neither of use for it. */
export const toldByOthers = (data: Buffer, ending: string): string | null => {
  const isMedia = /^(?:webm|mp4|mp3|wav)$/.test(ending);
  if (isMedia ? !ffprobe : !exiftool) return null;
  const folder = mkdtempSync(path.join(tmpdir(), 'opened-'));
  try {
    const file = path.join(folder, `file.${ending}`);
    writeFileSync(file, data);
    return isMedia
      ? execFileSync('ffprobe', ['-v', 'error', '-show_format', '-of', 'json', file]).toString()
      : execFileSync('exiftool', ['-a', '-u', '-G1', '-j', file], {
          maxBuffer: 2 ** 24,
        }).toString();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** What a file's manifest of C2PA says, and what is wrong with it. */
export const readManifest = async (
  data: Buffer,
  mime: string,
): Promise<{ text: string; faults: string[] }> => {
  const wasm = fileURLToPath(import.meta.resolve('@contentauth/c2pa-wasm/c2pa.wasm'));
  await load({ module_or_path: readFileSync(wasm) });
  const reader = await WasmReader.fromBytes(mime, new Uint8Array(data));
  const text = reader.json();
  reader.free();
  const { validation_status: all = [] } = JSON.parse(text) as {
    validation_status?: { code: string }[];
  };
  return { text, faults: all.map(({ code }) => code) };
};
