import { lazyChunk } from '#src/platform/lazy-chunk.ts';

/** The most that an import may be, as the server has it. Bytes. */
const most = 64 * 1024 * 1024;
/** A zip with images and sounds beside the conversations is larger; only those are taken out. */
const mostZip = 1024 * 1024 * 1024;

/** Why a file was not read; its message is for people. */
export class UnreadableFile extends Error {}

const loadZip = lazyChunk(() => import('fflate'));

const notOurs = '认不出这个文件：请选择鹊桥或 ChatGPT 导出的 JSON 或 zip';
const tooLarge = '文件太大，最多 64 MB';

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableFile(notOurs);
  }
};

const wanted = /(?:^|\/)(?:conversations(?:-\d+)?|queqiao[^/]*)\.json$/i;

/** The conversations in a zip: read piece by piece, and no further than an import may be large. */
const fromZip = async (file: File): Promise<unknown> => {
  const { Unzip, UnzipInflate } = await loadZip();
  const texts: string[] = [];
  let size = 0;
  let problem: string | null = null;
  const unzip = new Unzip((entry) => {
    if (!wanted.test(entry.name)) return;
    const decoder = new TextDecoder();
    const at = texts.push('') - 1;
    entry.ondata = (error, chunk, final) => {
      if (error) problem = notOurs;
      size += chunk?.length ?? 0;
      if (size > most) {
        problem = tooLarge;
        entry.terminate();
      }
      if (problem === null) texts[at] += decoder.decode(chunk, { stream: !final });
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      unzip.push(value ?? new Uint8Array(0), done);
      if (problem !== null) throw new UnreadableFile(problem);
      if (done) break;
    }
  } catch (error) {
    throw error instanceof UnreadableFile ? error : new UnreadableFile(notOurs);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (texts.length === 0) throw new UnreadableFile('这个 zip 里没有 conversations.json');
  const parts = texts.map(parse);
  return parts.length === 1 ? parts[0] : parts.flat();
};

/** The JSON that a file holds, or that stands in a zip. @throws UnreadableFile */
export const readImport = async (file: File): Promise<unknown> => {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isZip = head[0] === 0x50 && head[1] === 0x4b;
  if (file.size > (isZip ? mostZip : most)) throw new UnreadableFile(tooLarge);
  return isZip ? fromZip(file) : parse(await file.text());
};
