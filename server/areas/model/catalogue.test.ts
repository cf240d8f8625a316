import { expect, test, vi } from 'vitest';
import type { Database } from '#server/db/database.ts';
import { createCatalogue } from './catalogue.ts';
import { servedModels, type ServedModel } from './model.store.ts';

vi.mock('./model.store.ts', () => ({ servedModels: vi.fn() }));

const rowsOf = (name: string) => [{ model: { name, accelerator: '' } }] as ServedModel[];

test('what was being read while somebody changed the models is not remembered', async () => {
  const catalogue = createCatalogue({} as Database, { warn: () => undefined } as never);
  let answer = (_rows: ServedModel[]): void => undefined;
  vi.mocked(servedModels)
    .mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)))
    .mockResolvedValue(rowsOf('after'));
  const early = catalogue.served({} as Database);
  catalogue.forget();
  answer(rowsOf('before'));
  await early;
  expect((await catalogue.named({} as Database, 'after')).length).toBe(1);
  // From here on it is remembered.
  await catalogue.served({} as Database);
  expect(servedModels).toHaveBeenCalledTimes(2);
});
