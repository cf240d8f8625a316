import { and, asc, desc, eq, inArray, sql, type SQL } from 'drizzle-orm';
import type { ThinkingWords } from '#common/thinking-models.ts';
import type { Parsed } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import { channels, modelChannels, models, peopleGroups } from '#server/db/schema.ts';
import { ordered } from '#server/db/ordered.ts';
import { spentByChannel } from '../stats/spend.service.ts';
import { channelHealth, channelLines } from './model.tables.ts';

const conditions = (filter: Parsed<'adminModelList'>): SQL | undefined =>
  and(
    filter.name
      ? sql`strpos(lower(${models.label} || ' ' || ${models.name}), ${filter.name.toLowerCase()}) > 0`
      : undefined,
    filter.unique_key
      ? sql`strpos(lower(${models.name}), ${filter.unique_key.toLowerCase()}) > 0`
      : undefined,
    filter.type === undefined ? undefined : eq(models.type, filter.type),
    // Models belong to services; those of people are listed by their training.
    filter.user_id === undefined ? undefined : sql`false`,
  );

const sortColumns = {
  label: models.label,
  factor: models.factor,
  prompt_factor: models.promptFactor,
  sort: models.sort,
};

export const pageOfModels = (db: Executor, filter: Parsed<'adminModelList'>) =>
  db
    .select()
    .from(models)
    .where(conditions(filter))
    .orderBy(...ordered(sortColumns, filter, asc(models.sort), asc(models.name)))
    .offset((filter.page - 1) * filter.page_size)
    .limit(filter.page_size);

export const countModels = async (
  db: Executor,
  filter: Parsed<'adminModelList'>,
): Promise<number> => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(models)
    .where(conditions(filter));
  return row?.count ?? 0;
};

/** Which channels serve these models. */
export const channelsOf = async (db: Executor, modelIds: readonly number[]) =>
  modelIds.length === 0
    ? []
    : db
        .select({ modelId: modelChannels.modelId, id: channels.id, label: channels.label })
        .from(modelChannels)
        .innerJoin(channels, eq(channels.id, modelChannels.channelId))
        .where(inArray(modelChannels.modelId, [...modelIds]))
        .orderBy(asc(channels.id));

export const lockModel = async (db: Executor, id: number) => {
  const [row] = await db.select().from(models).where(eq(models.id, id)).for('update');
  return row ?? null;
};

export const changeModel = async (
  db: Executor,
  id: number,
  values: Partial<typeof models.$inferInsert>,
): Promise<void> => {
  if (Object.keys(values).length > 0) await db.update(models).set(values).where(eq(models.id, id));
};

export const listChannels = async (db: Executor) => {
  const rows = await db
    .select({ channel: channels, health: channelHealth })
    .from(channels)
    .leftJoin(channelHealth, eq(channelHealth.channelId, channels.id))
    .orderBy(desc(channels.source), asc(channels.id));
  const served = await db
    .select({
      channelId: modelChannels.channelId,
      name: models.name,
      upstream: modelChannels.upstreamName,
    })
    .from(modelChannels)
    .innerJoin(models, eq(models.id, modelChannels.modelId))
    .orderBy(asc(models.sort), asc(models.name));
  const spent = await spentByChannel(db, 30);
  return rows.map(({ channel, health }) => ({
    channel,
    health,
    models: served.filter((row) => row.channelId === channel.id),
    spent: spent.get(channel.id) ?? 0,
  }));
};

/** How each key of a channel did with each model: those that are set aside first, then by model. */
export const linesOf = (db: Executor, channelId: number) =>
  db
    .select()
    .from(channelLines)
    .where(eq(channelLines.channelId, channelId))
    .orderBy(
      sql`${channelLines.asideUntil} > now() DESC NULLS LAST`,
      asc(channelLines.model),
      asc(channelLines.keyHint),
    )
    .limit(500);

export const findChannel = async (db: Executor, id: number) => {
  const [row] = await db.select().from(channels).where(eq(channels.id, id));
  return row ?? null;
};

export const insertChannel = async (
  db: Executor,
  values: typeof channels.$inferInsert,
): Promise<number> => {
  const [row] = await db.insert(channels).values(values).returning({ id: channels.id });
  if (!row) throw new Error('the channel was not stored');
  return row.id;
};

export const changeChannel = async (
  db: Executor,
  id: number,
  values: Partial<typeof channels.$inferInsert>,
): Promise<void> => {
  if (Object.keys(values).length === 0) return;
  await db.update(channels).set(values).where(eq(channels.id, id));
  const { weight, priority } = values;
  if (weight !== undefined || priority !== undefined)
    await db
      .update(modelChannels)
      .set({
        ...(weight === undefined ? {} : { weight }),
        ...(priority === undefined ? {} : { priority }),
      })
      .where(eq(modelChannels.channelId, id));
};

export const removeChannel = async (db: Executor, id: number): Promise<void> => {
  await db.delete(modelChannels).where(eq(modelChannels.channelId, id));
  await db.delete(channels).where(eq(channels.id, id));
};

export const setFactor = async (db: Executor, name: string, factor: number): Promise<void> => {
  await db.update(models).set({ factor }).where(eq(models.name, name));
};

/** What a service calls its models, by the names that they have here. */
export const setUpstreamNames = async (
  db: Executor,
  channelId: number,
  named: readonly { name: string; upstream: string }[],
): Promise<void> => {
  if (named.length === 0) return;
  await db.execute(sql`
    UPDATE ${modelChannels} SET upstream_name = given.upstream
    FROM jsonb_to_recordset(${JSON.stringify(named)}::jsonb) AS given (name text, upstream text)
      JOIN ${models} ON ${models.name} = given.name
    WHERE model_channels.channel_id = ${channelId} AND model_channels.model_id = ${models.id}`);
};

/** What a trial learned of models, by the names that their service has for them. */
export interface Learned {
  thinking?: { model: string; words: ThinkingWords } | undefined;
  tools?: { model: string; can: boolean } | undefined;
}

/** Notes what was learned of the models that a channel has by these names there. */
export const noteLearned = async (
  db: Executor,
  channelId: number,
  { thinking, tools }: Learned,
): Promise<void> => {
  if (thinking) await learn(db, channelId, thinking.model, { thinking: thinking.words });
  if (tools) await learn(db, channelId, tools.model, { tools: tools.can });
};

const learn = async (
  db: Executor,
  channelId: number,
  model: string,
  learned: Partial<Pick<typeof models.$inferInsert, 'thinking' | 'tools'>>,
): Promise<void> => {
  const served = db
    .select({ id: modelChannels.modelId })
    .from(modelChannels)
    .where(and(eq(modelChannels.channelId, channelId), eq(modelChannels.upstreamName, model)));
  await db.update(models).set(learned).where(inArray(models.id, served));
};

export const noteTrial = async (
  db: Executor,
  channelId: number,
  trial: { ok: boolean; message: string; latency: number | null },
): Promise<void> => {
  const at = trial.ok ? { lastSuccessAt: sql`now()` } : { lastFailureAt: sql`now()` };
  const seen = {
    ...(trial.latency === null ? {} : { latency: trial.latency }),
    ...at,
    lastError: trial.ok ? '' : trial.message.slice(0, 300),
  };
  await db
    .insert(channelHealth)
    .values({ channelId, ...seen })
    .onConflictDoUpdate({ target: channelHealth.channelId, set: seen });
};

/** The numbers of the groups of people that have these names. */
export const groupsNamed = async (
  db: Executor,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  if (names.length === 0) return new Map();
  const found = await db
    .select({ id: peopleGroups.id, name: peopleGroups.name })
    .from(peopleGroups)
    .where(inArray(peopleGroups.name, [...names]));
  return new Map(found.map(({ id, name }) => [name, id]));
};

/** Whether all of these groups of people exist; they stay until the transaction ends. */
export const haveGroups = async (db: Executor, ids: readonly number[]): Promise<boolean> => {
  if (ids.length === 0) return true;
  const found = await db
    .select({ id: peopleGroups.id })
    .from(peopleGroups)
    .where(inArray(peopleGroups.id, [...ids]))
    .for('key share');
  return found.length === ids.length;
};

export const noteBalance = async (
  db: Executor,
  channelId: number,
  { amount, unit }: { amount: number; unit: string },
): Promise<void> => {
  const seen = { balance: amount, balanceUnit: unit, balanceAt: sql`now()` };
  await db
    .insert(channelHealth)
    .values({ channelId, ...seen })
    .onConflictDoUpdate({ target: channelHealth.channelId, set: seen });
};

/** Whether anything but what is built in can serve people. */
export const hasService = async (db: Executor): Promise<boolean> => {
  const rows = await db
    .select({ id: channels.id })
    .from(channels)
    .innerJoin(modelChannels, eq(modelChannels.channelId, channels.id))
    .where(and(sql`${channels.source} <> 'built-in'`, eq(channels.enabled, true)))
    .limit(1);
  return rows.length > 0;
};
