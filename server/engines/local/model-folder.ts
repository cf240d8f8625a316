import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { shelf } from './catalogue.ts';

/** Where the models of this machine lie. */
export const modelFolder = (dataDir: string): string => path.join(dataDir, 'models');

const ending = '.gguf';
const plain = /^[\w.-]{1,75}$/;

/** The file of a model by its key; one that was put there by hand is named by its file. */
const nameOf = (key: string): string | null =>
  shelf.find((entry) => entry.key === key)?.file ?? (plain.test(key) ? key + ending : null);

/** The path of a model that is here; null: it is not. */
export const findModel = async (folder: string, key: string): Promise<string | null> => {
  const name = nameOf(key);
  if (name === null) return null;
  const file = path.join(folder, name);
  return stat(file).then(
    (found) => (found.isFile() ? file : null),
    () => null,
  );
};

/** Keys of all models that are here. */
export const modelsHere = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => shelf.find(({ file }) => file === name)?.key ?? name.slice(0, -ending.length))
    .filter((key) => plain.test(key))
    .sort();
};
