import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { isEmbeddingModel, isReranker } from '../embedding/model-names.ts';
import { type ShelfEntry, type ShelfKind, usualShelf } from './catalogue.ts';

/** Where the models of this machine lie. */
export const modelFolder = (dataDir: string): string => path.join(dataDir, 'models');

const ending = '.gguf';
const plain = /^[\w.-]{1,75}$/;

/** What an owner writes into `shelf.json` in that folder, to have more or other models on the shelf. */
const ownShelf = z.array(
  z.object({
    key: z.string().check(z.regex(plain)),
    kind: z.enum(['chat', 'embedding', 'rerank', 'hear', 'speak']),
    label: z.string(),
    file: z.string().check(z.regex(/^[\w.-]{1,100}$/)),
    repository: z._default(z.string(), ''),
    size: z.int().check(z.positive()),
    sha256: z._default(z.string().check(z.regex(/^(?:[0-9a-f]{64})?$/)), ''),
    memory: z._default(z.int(), 0),
    licence: z._default(z.string(), ''),
    languages: z._default(z.string(), ''),
    question: z.optional(z.string()),
    unpacked: z.optional(z.int()),
    voices: z.optional(z.record(z.string(), z.string())),
  }),
);

/** What is on the shelf: an owner's own entry stands in place of the usual one of its key. */
export const readShelf = async (folder: string): Promise<readonly ShelfEntry[]> => {
  const text = await readFile(path.join(folder, 'shelf.json'), 'utf8').catch(() => '');
  if (text === '') return usualShelf;
  let own: ShelfEntry[];
  try {
    own = ownShelf.parse(JSON.parse(text));
  } catch {
    // What is wrong with it must not take the others away.
    return usualShelf;
  }
  const usual = usualShelf.filter(({ key }) => !own.some((each) => each.key === key));
  return [...usual, ...own];
};

/** What an entry is once it is here: its file, or the folder that its archive was unpacked to. */
export const placeOf = (folder: string, { key, file }: Pick<ShelfEntry, 'key' | 'file'>): string =>
  path.join(folder, isArchive(file) ? key : file);

/** Whether it comes as an archive of several files. */
export const isArchive = (file: string): boolean => file.endsWith('.tar.bz2');

/** A model that is here. */
export interface ModelHere {
  key: string;
  kind: ShelfKind;
  label: string;
  /** Absolute path. */
  path: string;
  question: string;
  voices: Readonly<Record<string, string>>;
}

/** What one is for that is not on the shelf, by its name. */
const kindOf = (key: string): ShelfKind =>
  isReranker(key) ? 'rerank' : isEmbeddingModel(key) ? 'embedding' : 'chat';

/** All models that are here; those that were put there by hand are named by their files. */
export const modelsHere = async (folder: string): Promise<ModelHere[]> => {
  const names = await readdir(folder).catch(() => []);
  const shelf = names.length > 0 ? await readShelf(folder) : [];
  return names
    .flatMap((name): ModelHere[] => {
      const entry = shelf.find((each) => path.basename(placeOf(folder, each)) === name);
      if (!entry && !name.endsWith(ending)) return [];
      const key = entry?.key ?? name.slice(0, -ending.length);
      if (!plain.test(key)) return [];
      const { kind, label, question = '', voices = {} }: Partial<ShelfEntry> = entry ?? {};
      const told = { kind: kind ?? kindOf(key), label: label ?? key, question, voices };
      return [{ key, path: path.join(folder, name), ...told }];
    })
    .sort((one, other) => (one.key < other.key ? -1 : 1));
};

/** The path of a model that is here; null: it is not. */
export const findModel = async (folder: string, key: string): Promise<string | null> => {
  const entry = (await readShelf(folder)).find((each) => each.key === key);
  const file = entry
    ? placeOf(folder, entry)
    : plain.test(key)
      ? path.join(folder, key + ending)
      : null;
  if (file === null) return null;
  const archived = entry !== undefined && isArchive(entry.file);
  return stat(file).then(
    (found) => ((archived ? found.isDirectory() : found.isFile()) ? file : null),
    () => null,
  );
};
