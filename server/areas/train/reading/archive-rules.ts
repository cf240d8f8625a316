import { trainEndings } from '#contract/train-limits.ts';
import { endingOf, isArchiveName } from './kinds.ts';

/** What an archive may hold. */
export const bounds = {
  entries: 500,
  /** Unpacked, bytes: one, and all. */
  one: 4 * 1024 * 1024,
  all: 64 * 1024 * 1024,
  /** How many times larger than packed, from this many bytes on. */
  ratio: 200,
  ratioFrom: 8 * 1024 * 1024,
};

export interface Unpacked {
  files: { name: string; data: Uint8Array }[];
  /** Names that were left out, because nothing can be learned from them. */
  skipped: string[];
}

export const tooMany = `压缩包里的文件太多，最多 ${bounds.entries} 个`;
export const tooLarge = '压缩包展开后太大（单个文件最多 4 MB，总共最多 64 MB）';
export const locked = '压缩包有密码，请去掉密码后再上传';
export const broken = '压缩包已损坏或无法打开';

export const nothing = '压缩包里没有可以学习的文件';

/** Only the last part of a path counts, so that nothing leads out of its folder. */
export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

export const wanted = (path: string): boolean => {
  const name = baseName(path);
  return (
    !name.startsWith('.') &&
    !path.includes('__MACOSX') &&
    ((trainEndings as readonly string[]).includes(endingOf(name)) || isArchiveName(name))
  );
};
