import { readFileSync } from 'node:fs';
import type { Parsed } from '#contract/calls.ts';
import type { Database, Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { type ActNote, Refusal, type Identity } from '#server/http/handlers.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { requirePhone } from '../contact/phone-rule.service.ts';
import { refuseBlocked } from '../moderation/blocked-words.service.ts';
import * as store from './scenario.store.ts';

export const noScenario = () => new Refusal('not_found', '没有这个场景');

type Note = (act: ActNote) => void;

/** One person has no more of their own, and no more that wait for a manager. */
const most = { own: 200, pending: 20 } as const;

/** The template of that number, those that are no longer offered included; null: there is none. */
export const find = store.findScenario;

/** The same for several at once, in any order. */
export const findAll = store.findScenarios;

/** Counts a session that was begun from a template. False where this person has none of that number. */
export const countSession = store.addSession;

export const categories = store.listCategories;

/**
 * The templates that come with the program, by category in the order of the list: beside this module
 * in development, beside the bundle in production.
 */
const readSeeds = () => {
  const file = new URL('./seeds/scenarios.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, store.ScenarioSeed[]>;
};

/** Puts the templates that come with the program into the database, where they are new or changed. */
export const seedScenarios = async (db: Database): Promise<void> => {
  const stored = new Map((await store.storedSeeds(db)).map((row) => [row.name, row]));
  const isStored = (seed: store.ScenarioSeed): boolean => {
    const row = stored.get(seed.name);
    return (
      row !== undefined &&
      (row.kept ||
        (row.color === seed.color &&
          row.description === seed.description &&
          row.prompt === seed.prompt &&
          row.sample === (seed.sample ?? '')))
    );
  };
  const changed = [...Object.entries(readSeeds()).entries()].flatMap(([at, [category, seeds]]) => {
    const fresh = seeds.filter((seed) => !isStored(seed));
    return fresh.length === 0 ? [] : [{ at, category, fresh }];
  });
  if (changed.length === 0) return;
  await db.transaction(async (tx) => {
    for (const { at, category, fresh } of changed) await store.putSeeds(tx, category, at, fresh);
  });
};

const scopeOf = (
  scope: Parsed<'scenarioList'>['scope'],
  user: Identity | null,
): store.ScenarioFilter['scope'] => {
  if (scope === 'mine') {
    if (!user) throw new Refusal('unauthorized');
    return { in: 'mine', userId: user.id };
  }
  return { in: user?.manager ? scope : 'public' };
};

/** `category` is a number as digits; empty, and what is no number, stands for all or for none. */
export const list = async (db: Executor, input: Parsed<'scenarioList'>, user: Identity | null) => {
  const { page, page_size: pageSize } = input;
  const category = input.category?.trim() ?? '';
  const query = input.query?.trim() || undefined;
  const scope = scopeOf(input.scope, user);
  const { list, total } = /^\d{0,15}$/.test(category)
    ? await store.listScenarios(
        db,
        {
          scope,
          categoryId: category === '' ? undefined : Number(category),
          query,
          sort: input.sort,
          viewer: user?.id ?? 0,
        },
        windowOf(page, pageSize),
      )
    : { list: [], total: 0 };
  return {
    list: list.map((row) => ({
      id: row.id,
      name: row.name,
      prompt: row.prompt,
      sample: row.sample,
      color: row.color,
      desc_: row.description,
      category: row.categoryId,
      session_count: row.sessionCount,
      rating: row.rating,
      rating_count: row.ratingCount,
      my_stars: row.myStars,
      display: row.display ? 1 : 0,
      user_id: row.userId,
      user_name: row.userName,
      state: row.state,
      rejection: user && (user.manager || user.id === row.userId) ? row.rejection : '',
    })),
    ...pageOf(total, page, pageSize),
  };
};

const requireCategory = async (db: Executor, id: number): Promise<void> => {
  if (!(await store.hasCategory(db, id))) throw new Refusal('bad_input', 'category：没有这个分类');
};

const valuesOf = (input: Parsed<'saveScenario'> | Parsed<'manageScenario'>) => ({
  name: input.name,
  prompt: input.prompt,
  ...(input.sample !== undefined && { sample: input.sample.trim() }),
  description: input.desc_.trim(),
  color: input.color,
  categoryId: input.category,
});

const wordsOfAll = ({ name, description, prompt, sample }: ReturnType<typeof valuesOf>) => [
  name,
  description,
  prompt,
  sample ?? '',
];

const numberOf = (saved: number | 'taken'): number => {
  if (saved === 'taken') throw new Refusal('bad_input', 'name：已经有同名的场景');
  return saved;
};

/** Somebody's own scenario; another's is as if it were not there. */
export const save = (
  db: Executor,
  input: Parsed<'saveScenario'>,
  user: Identity,
): Promise<number> =>
  inTransaction(db, async (tx) => {
    await requireCategory(tx, input.category);
    const own = await store.countOwn(tx, user.id);
    // What everybody uses is looked at again after a change.
    const state = input.publish === 1 ? ('pending' as const) : ('private' as const);
    if (state === 'pending' && own.pending >= most.pending)
      throw new Refusal('too_many', `最多有 ${most.pending} 个场景同时等待审核`);
    const values = { ...valuesOf(input), state, rejection: '' };
    if (state === 'pending') await requirePhone(tx, user);
    if (state === 'pending') await refuseBlocked(tx, ...wordsOfAll(values));
    if (input.id === undefined) {
      if (own.all >= most.own)
        throw new Refusal('too_many', `最多保存 ${most.own} 个自己的场景，请先删除不用的`);
      return numberOf(await store.insertScenario(tx, { ...values, userId: user.id }));
    }
    const before = await store.findScenario(tx, input.id);
    if (!before || before.deleted || before.userId !== user.id) throw noScenario();
    return numberOf(await store.updateScenario(tx, input.id, values));
  });

/** Gives stars to a scenario that somebody else wrote and that one has used; 0 takes them back. */
export const rate = (
  db: Executor,
  { scenario_id: id, stars }: Parsed<'rateScenario'>,
  user: Identity,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const scenario = await store.findScenario(tx, id);
    if (!scenario || scenario.deleted || scenario.state !== 'public') throw noScenario();
    if (scenario.userId === user.id) throw new Refusal('bad_input', '不能给自己的场景评分');
    if (!(await store.hasUsed(tx, id, user.id)))
      throw new Refusal('bad_input', '用它聊过之后才能评分');
    await store.rate(tx, id, user.id, stars);
  });

export const remove = (db: Executor, id: number, user: Identity): Promise<void> =>
  inTransaction(db, async (tx) => {
    const before = await store.findScenario(tx, id);
    if (!before || before.deleted || before.userId !== user.id) throw noScenario();
    await store.updateScenario(tx, id, { deletedAt: new Date() });
  });

const wordsOf = ({ name, prompt, state }: { name: string; prompt: string; state: string }) => ({
  name,
  prompt,
  state,
});

/** What a manager may see: all but what is private to somebody else. */
const managed = async (db: Executor, id: number, user: Identity) => {
  const before = await store.findScenario(db, id);
  const hidden = before?.state === 'private' && before.userId !== user.id;
  if (!before || before.deleted || hidden) throw noScenario();
  return before;
};

export const manage = (
  db: Executor,
  input: Parsed<'manageScenario'>,
  user: Identity,
  note: Note,
): Promise<number> =>
  inTransaction(db, async (tx) => {
    await requireCategory(tx, input.category);
    const values = { ...valuesOf(input), display: input.display === 1, edited: true };
    const before = input.id === undefined ? null : await managed(tx, input.id, user);
    const state = before?.userId ? (input.state ?? before.state) : 'public';
    const rejection = state === 'private' ? (input.reason?.trim() ?? '') : '';
    // One with a blocked word can still be rejected.
    if (state === 'public') await refuseBlocked(tx, ...wordsOfAll(values));
    const id = numberOf(
      input.id === undefined
        ? await store.insertScenario(tx, { ...values, userId: null })
        : await store.updateScenario(tx, input.id, { ...values, state, rejection }),
    );
    note({
      subject: `scenario:${id}`,
      ...(before && { from: wordsOf(before) }),
      to: {
        name: values.name,
        prompt: values.prompt,
        state,
        ...(rejection && { reason: rejection }),
      },
    });
    return id;
  });

export const removeAny = (db: Executor, id: number, user: Identity, note: Note): Promise<void> =>
  inTransaction(db, async (tx) => {
    const before = await managed(tx, id, user);
    await store.updateScenario(tx, id, { deletedAt: new Date() });
    note({ subject: `scenario:${id}`, from: wordsOf(before) });
  });

export const saveCategory = async (
  db: Executor,
  { id, ...values }: Parsed<'saveScenarioCategory'>,
  note: Note,
): Promise<number> => {
  const before = await categoryOf(db, id);
  const saved = await store.saveCategory(db, id, values);
  if (saved === 'missing') throw new Refusal('not_found', '没有这个分类');
  if (saved === 'taken') throw new Refusal('bad_input', 'name：已经有同名的分类');
  note({ subject: `scenario_category:${saved}`, from: before, to: values });
  return saved;
};

const categoryOf = async (db: Executor, id: number | undefined) =>
  (await store.listCategories(db)).find((each) => each.id === id);

export const deleteCategory = (db: Executor, id: number, note: Note): Promise<void> =>
  inTransaction(db, async (tx) => {
    note({ subject: `scenario_category:${id}`, from: await categoryOf(tx, id) });
    if ((await store.countOfCategory(tx, id)) > 0)
      throw new Refusal('bad_input', 'id：这个分类里还有场景，请先移走或删除它们');
    if (!(await store.deleteCategory(tx, id))) throw new Refusal('not_found', '没有这个分类');
  });
