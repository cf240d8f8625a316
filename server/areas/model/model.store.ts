import { and, asc, eq, inArray, ne, notInArray, or, sql } from 'drizzle-orm';
import type { ImageModel } from '#contract/image.ts';
import type { Executor } from '#server/db/database.ts';
import { livingLock } from '#server/db/instance.ts';
import { channels, instances, modelChannels, models } from '#server/db/schema.ts';
import { namedIn, showsWhere } from '#server/db/shown.ts';

export type ModelRow = typeof models.$inferSelect;
export type NewModel = typeof models.$inferInsert;
export type ChannelRow = typeof channels.$inferSelect;

export interface ServedModel {
  model: ModelRow;
  channel: ChannelRow;
  upstreamName: string;
  priority: number;
  weight: number;
}

/**
 * The channel's service is in the environment of a process that lives. Whoever starts a server
 * without it takes it from nobody, and when the last process that had it is gone, so is the channel.
 */
const inSomeEnvironment = sql`EXISTS (SELECT 1 FROM ${instances} JOIN pg_locks
  ON objid = ${instances.id}::oid
  WHERE ${channels.key} = ANY (${instances.services}) AND ${sql.raw(livingLock)})`;

/** Every pair of an enabled model and a channel that serves it now, in the order of choice. */
export const servedModels = (db: Executor): Promise<ServedModel[]> =>
  db
    .select({
      model: models,
      channel: channels,
      upstreamName: modelChannels.upstreamName,
      priority: modelChannels.priority,
      weight: modelChannels.weight,
    })
    .from(models)
    .innerJoin(modelChannels, eq(modelChannels.modelId, models.id))
    .innerJoin(channels, eq(channels.id, modelChannels.channelId))
    .where(
      and(
        eq(models.enabled, true),
        eq(channels.enabled, true),
        or(ne(channels.source, 'environment'), inSomeEnvironment),
      ),
    )
    .orderBy(asc(models.sort), asc(models.name), asc(modelChannels.priority), asc(channels.id));

/** Models that a manager switched off, or their service; each once. What no service has any more is none. */
export const idleModels = (db: Executor): Promise<{ model: ModelRow; channel: ChannelRow }[]> =>
  db
    .selectDistinctOn([models.id], { model: models, channel: channels })
    .from(models)
    .innerJoin(modelChannels, eq(modelChannels.modelId, models.id))
    .innerJoin(channels, eq(channels.id, modelChannels.channelId))
    .where(
      and(
        or(eq(models.enabled, false), eq(channels.enabled, false)),
        or(ne(channels.source, 'environment'), inSomeEnvironment),
      ),
    );

/** Notes the channels of the services that this process has in its environment, by their keys. */
export const noteEnvironment = async (
  db: Executor,
  instanceId: number,
  services: string[],
): Promise<void> => {
  await db.update(instances).set({ services }).where(eq(instances.id, instanceId));
};

/** Processes that start together take turns. Held until the transaction ends. */
export const lockCatalogue = async (db: Executor): Promise<void> => {
  await db.execute(sql`SELECT pg_advisory_xact_lock(hashtext('queqiao model catalogue'))`);
};

export const upsertChannel = async (
  db: Executor,
  channel: Omit<typeof channels.$inferInsert, 'enabled'>,
): Promise<number> => {
  const [row] = await db
    .insert(channels)
    .values(channel)
    .onConflictDoUpdate({ target: channels.key, set: { ...channel, enabled: true } })
    .returning({ id: channels.id });
  if (!row) throw new Error('the channel was not stored');
  return row.id;
};

/** Null: it is known already, and as a manager wants it. */
export const insertLocalChannel = async (
  db: Executor,
  channel: { key: string; label: string; baseUrl: string },
): Promise<number | null> => {
  const [row] = await db
    .insert(channels)
    .values({ ...channel, kind: 'openai-compatible', source: 'local' })
    .onConflictDoNothing({ target: channels.key })
    .returning({ id: channels.id });
  return row?.id ?? null;
};

export const channelIdOf = async (db: Executor, key: string): Promise<number> => {
  const [row] = await db.select({ id: channels.id }).from(channels).where(eq(channels.key, key));
  if (!row) throw new Error(`there is no channel ${key}`);
  return row.id;
};

/**
 * Makes the models that a channel serves exactly these. New ones get a row; those that stay keep
 * theirs, with what a manager changed in it; of those that vanished the row stays and only the tie
 * to the channel goes, so that they are offered no more unless another channel has them.
 */
export const setChannelModels = async (
  db: Executor,
  channelId: number,
  wanted: NewModel[],
  weight = 1,
): Promise<void> => {
  const names = wanted.map((model) => model.name);
  if (wanted.length > 0) {
    await db.insert(models).values(wanted).onConflictDoNothing({ target: models.name });
    const rows = await db
      .select({ id: models.id, name: models.name })
      .from(models)
      .where(inArray(models.name, names));
    await db
      .insert(modelChannels)
      .values(rows.map((row) => ({ modelId: row.id, channelId, upstreamName: row.name, weight })))
      .onConflictDoNothing();
  }
  const vanished = db
    .select({ id: models.id })
    .from(models)
    .where(names.length > 0 ? notInArray(models.name, names) : sql`true`);
  await db
    .delete(modelChannels)
    .where(and(eq(modelChannels.channelId, channelId), inArray(modelChannels.modelId, vanished)));
};

/** What a model of images takes now; what a manager made of its checkpoints' prices stays. */
export const setModelImage = async (
  db: Executor,
  name: string,
  image: ImageModel,
): Promise<void> => {
  const [row] = await db.select({ image: models.image }).from(models).where(eq(models.name, name));
  const known = new Map(row?.image?.checkpoints.map((each) => [each.name, each.factor]));
  const checkpoints = image.checkpoints.map((each) => ({
    ...each,
    factor: known.get(each.name) ?? each.factor,
  }));
  await db
    .update(models)
    .set({ image: { ...image, checkpoints } })
    .where(eq(models.name, name));
};

export const shownByModels = showsWhere(namedIn(sql`concat_ws(' ', logo, remark)`, sql`models`));

/** The first channel of these kinds that is switched on. */
export const firstOfKinds = async (
  db: Executor,
  kinds: readonly ChannelRow['kind'][],
): Promise<ChannelRow | undefined> => {
  const [row] = await db
    .select()
    .from(channels)
    .where(and(inArray(channels.kind, [...kinds]), eq(channels.enabled, true)))
    .orderBy(asc(channels.priority), asc(channels.id))
    .limit(1);
  return row;
};

/** Channels with a key, as it lies there. */
export const sealedChannels = async (db: Executor) =>
  (await db.select().from(channels)).flatMap(({ key, keyEncrypted }) =>
    keyEncrypted ? [{ key, keyEncrypted }] : [],
  );

/** Services that are switched on and not built in: their kinds and addresses, each once. */
export const connectedServices = (db: Executor) =>
  db
    .selectDistinct({ kind: channels.kind, baseUrl: channels.baseUrl })
    .from(channels)
    .where(and(eq(channels.enabled, true), ne(channels.kind, 'built-in')))
    .orderBy(asc(channels.baseUrl));
