import type { Parsed } from '../../contract/calls.ts';
import { limits } from '../../contract/limits.ts';
import type { Database, Executor } from '../db/database.ts';
import { type ScenarioSeed, scenarioSeeds } from './scenario-seeds.ts';
import * as store from './scenario.store.ts';

/** The template of that number, those that are no longer offered included; null: there is none. */
export const find = store.findScenario;

/** Counts a session that was begun from a template. False where none of that number is offered. */
export const countSession = store.addSession;

export const categories = store.listCategories;

/** Puts the templates that come with the program into the database, where they are new or changed. */
export const seedScenarios = async (db: Database): Promise<void> => {
  const stored = new Map((await store.storedSeeds(db)).map((row) => [row.name, row]));
  const isStored = (category: string, seed: ScenarioSeed): boolean => {
    const row = stored.get(seed.name);
    return (
      row?.category === category &&
      row.color === seed.color &&
      row.description === seed.description &&
      row.prompt === seed.prompt
    );
  };
  const changed = [...Object.entries(scenarioSeeds).entries()].filter(
    ([, [category, seeds]]) => !seeds.every((seed) => isStored(category, seed)),
  );
  if (changed.length === 0) return;
  await db.transaction(async (tx) => {
    for (const [at, [category, seeds]] of changed) await store.putSeeds(tx, category, at, seeds);
  });
};

/** `category` is a number as digits; empty, and what is no number, stands for all or for none. */
export const list = async (db: Executor, input: Parsed<'scenarioList'>) => {
  const { page } = input;
  const pageSize = limits.pageSize;
  const category = input.category?.trim() ?? '';
  const query = input.query?.replaceAll('\0', '').trim() || undefined;
  const { list, total } = /^\d{0,15}$/.test(category)
    ? await store.listScenarios(
        db,
        { categoryId: category === '' ? undefined : Number(category), query },
        { offset: (page - 1) * pageSize, limit: pageSize },
      )
    : { list: [], total: 0 };
  return {
    list: list.map((row) => ({
      id: row.id,
      name: row.name,
      prompt: row.prompt,
      color: row.color,
      desc_: row.description,
      category: row.categoryId,
      session_count: row.sessionCount,
    })),
    page,
    page_count: Math.ceil(total / pageSize),
    page_size: pageSize,
    total,
  };
};
