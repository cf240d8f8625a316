import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Out, Parsed } from '#contract/calls.ts';
import { limits } from '#contract/limits.ts';
import { modelTypes } from '#contract/kinds.ts';
import {
  loraImage,
  projectSettings,
  type ProjectSettings,
  type TrainModel,
} from '#contract/train.ts';
import { projectStates, projectTypes, trainLimits, trainTexts } from '#contract/train-limits.ts';
import type { Executor, Transaction } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { readJson } from '#server/http/json-text.ts';
import { type createKeyCount, tooMany } from '#server/http/rate-limit.ts';
import { openJobsOf } from '#server/jobs/job.service.ts';
import { pageOf, windowOf } from '#server/paging.ts';
import { soundOf } from '../embedding/embedding.service.ts';
import { beginTraining } from './begin-training.ts';
import { payStopped } from './end-files.ts';
import { changing, noProject } from './project-access.ts';
import { viewProject, viewProjects } from './project-view.ts';
import * as store from './project.store.ts';
import type { TrainDeps } from './train-deps.ts';
import { addLog, insertFile, lockFiles } from './training-file.store.ts';

type KeysFound = ReturnType<typeof createKeyCount>;
type NewProject = Parameters<typeof store.insertProject>[1];

/** What came as JSON, or as the text of it. @throws Refusal bad_input */
const readField = (name: string, given: unknown): unknown => {
  if (typeof given !== 'string') return given;
  try {
    return readJson(given);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('bad_input', `${name}：不是 JSON`);
  }
};

/** Settings as they came over those that are there. @throws Refusal bad_input */
const settingsOf = (
  given: string | Record<string, unknown>,
  before: Partial<ProjectSettings> = {},
): ProjectSettings => {
  const empty = typeof given === 'string' && given.trim() === '';
  const read = empty ? {} : readField('settings', given);
  const written = Object.entries((read ?? {}) as Record<string, unknown>);
  // A form has null for what nobody chose.
  const { max_chunk_size: longName, ...told } = Object.fromEntries(
    written.filter(([, value]) => value !== null),
  );
  const named = longName === undefined ? told : { chunk_size: longName, ...told };
  const parsed = projectSettings.safeParse({ ...before, ...named });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = (issue?.message ?? '内容有误').replace(/^的/, '');
  throw new Refusal('bad_input', `settings.${issue?.path.join('.') ?? ''}：${why}`);
};

/** Images as they came, each once, the last word on it counting. @throws Refusal bad_input */
const imagesOf = (given: unknown): ProjectSettings['images'] => {
  const read = z.array(loraImage).safeParse(readField('images', given));
  if (!read.success || read.data.length > trainLimits.loraImages)
    throw new Refusal('bad_input', `images：应为图片的列表，最多 ${trainLimits.loraImages} 张`);
  return [...new Map(read.data.map((image) => [image.url, image])).values()];
};

/** A page of one's own projects of these types, or of everybody's open ones. */
export const list = async (
  db: Executor,
  input: Parsed<'translateModelList'>,
  types: readonly number[],
  user: Identity | null,
): Promise<Out<'translateModelList'>> => {
  const size = limits.pageSize;
  const open = input.public === 1;
  if (!open && !user) return { list: [], ...pageOf(0, 1, size) };
  const query = input.query?.trim() ?? '';
  const { rows, total } = await store.projectPage(
    db,
    { types, userId: open ? null : (user?.id ?? 0), query },
    windowOf(input.page, size, 100_000),
  );
  return {
    list: await viewProjects(db, rows, user),
    ...pageOf(total, input.page, size),
  };
};

/** What is connected that can train, and the models that translate, the cheapest first. */
export const engines = async (
  { models, embeddings, training }: TrainDeps,
  db: Executor,
  user: Pick<Identity, 'id'>,
) => {
  const chat = (await models.list(db, user)).filter(
    (model) => model.type === modelTypes.chat && !model.built_in,
  );
  return {
    embedding: await embeddings.names(),
    lora: (await training()).label,
    translate: chat
      .sort((one, other) => one.factor - other.factor)
      .map(({ name, label, factor }) => ({ name, label, factor })),
  };
};

/** Letters of a key that is made. */
const madeKey = 40;

/** A key by which a project of this name can be called: 员工手册 is yuan_gong_shou_ce. */
const keyFrom = async (name: string): Promise<string> => {
  const said = await soundOf(name).catch(() => name);
  const key = said
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, madeKey)
    .replace(/^_+|_+$/g, '');
  return key === '' ? `base_${randomUUID().slice(0, 6)}` : key;
};

/**
 * The project under the key that was given, or under one that is made of its name. Keys stand for
 * projects by themselves, private ones too, so that none is given twice; nobody finds out many.
 * @throws Refusal training_key_taken, too_many
 */
const insertNamed = async (
  keysFound: KeysFound,
  db: Executor,
  { key, ...made }: Omit<NewProject, 'key'> & { key: string | undefined },
): Promise<store.ProjectRow> => {
  const who = String(made.userId);
  const left = await keysFound.usedUp(who);
  if (key !== undefined && left > 0)
    throw tooMany(left, '今天试过的 Key 太多，请明天再来，或不填 Key，由系统按名称起一个');
  const named = key ?? (await keyFrom(made.name));
  const isHelp = named.toLowerCase() === 'help';
  const row = left > 0 || isHelp ? null : await store.insertProject(db, { ...made, key: named });
  if (row) return row;
  if (left === 0 && !isHelp) await keysFound.add(who, 1);
  // Another one has the same name.
  const own =
    key === undefined
      ? await store.insertProject(db, { ...made, key: `${named}_${randomUUID().slice(0, 6)}` })
      : null;
  if (!own) throw new Refusal('training_key_taken');
  return own;
};

/** @throws Refusal bad_input, training_too_many, training_key_taken, too_many */
export const create = async (
  { files, keysFound }: Pick<TrainDeps, 'files'> & { keysFound: KeysFound },
  db: Executor,
  input: Parsed<'newTrainModel'>,
  user: Identity,
): Promise<TrainModel> => {
  if (input.key === '') throw new Refusal('bad_input', trainTexts.key);
  const settings = settingsOf(input.settings);
  await files.takeImages(
    db,
    settings.images.map(({ url }) => url),
  );
  const { projects: most } = trainLimits;
  if ((await store.countProjects(db, user.id)) >= most)
    throw new Refusal('training_too_many', `每人最多 ${most} 个项目，请先删除一些`);
  const row = await insertNamed(keysFound, db, {
    userId: user.id,
    key: input.key,
    name: input.name,
    type: input.type,
    private: input.private === 1,
    description: input.desc,
    settings,
  });
  return viewProject(db, row.id, user);
};

/** @throws Refusal not_found, bad_input */
export const change = (
  db: Executor,
  input: Parsed<'setTrainModel'>,
  user: Identity,
): Promise<TrainModel> =>
  changing(db, input.model_id, user, async (tx, row) => {
    const settings =
      input.settings === undefined ? row.settings : settingsOf(input.settings, row.settings);
    const { private: hidden, name, desc } = input;
    await store.changeProject(tx, row.id, {
      ...(hidden === undefined ? {} : { private: hidden === 1 }),
      ...(name === undefined ? {} : { name }),
      ...(desc === undefined ? {} : { description: desc }),
      // Images have a call of their own.
      settings: { ...settings, images: row.settings.images ?? [] },
    });
    return viewProject(tx, row.id, user);
  });

/** Begins the training of a locked style. @throws Refusal training_files_missing, too_many_jobs, balance */
const startStyle = async (
  { training }: TrainDeps,
  tx: Transaction,
  row: store.ProjectRow,
  count: number,
): Promise<void> => {
  const open = await openJobsOf(tx, { subject: 'project', id: row.id });
  if (open.length > 0) throw new Refusal('too_many_jobs', '正在训练，请等它完成或先取消');
  const name = `训练 ${count} 张图片`;
  const file = await insertFile(tx, {
    projectId: row.id,
    name,
    kind: 'images',
    totalNum: count,
  });
  await addLog(tx, file.id, '已提交，正在排队');
  await store.changeProject(tx, row.id, { status: projectStates.open });
  await beginTraining(tx, row, { paid: (await training()).paid });
};

/**
 * Sets the images of a style, and trains it from them where that is asked for.
 * @throws Refusal not_found, bad_input, training_files_missing, too_many_jobs, balance
 */
export const setImages = async (
  deps: TrainDeps,
  db: Executor,
  input: Parsed<'setLoraImages'>,
  user: Identity,
): Promise<TrainModel> => {
  const images = imagesOf(input.images);
  return changing(db, input.model_id, user, async (tx, row) => {
    if (row.type !== projectTypes.lora) throw noProject();
    await deps.files.takeImages(
      tx,
      images.map(({ url }) => url),
    );
    if (input.start === 1 && images.length === 0) throw new Refusal('training_files_missing');
    await store.changeProject(tx, row.id, { settings: { ...row.settings, images } });
    if (input.start === 1) await startStyle(deps, tx, row, images.length);
    return viewProject(tx, row.id, user);
  });
};

/** What of a project lies outside the database: its files' keys, and its jobs' numbers. */
interface Remains {
  keys: string[];
  jobs: number[];
}

const takeApart = async (tx: Transaction, row: store.ProjectRow): Promise<Remains> => {
  const files = await lockFiles(tx, row.id);
  for (const file of files) await payStopped(tx, file, row.engine);
  const jobs = await openJobsOf(tx, { subject: 'project', id: row.id });
  await store.deleteProject(tx, row.id);
  const keys = [...files.map(({ storageKey }) => storageKey), row.artifactKey];
  return { keys: keys.filter((key) => key !== null), jobs: jobs.map((job) => job.id) };
};

/** Gives what is to be taken away once it is gone from the database. @throws Refusal not_found */
export const remove = (db: Executor, id: number, user: Identity): Promise<Remains> =>
  changing(db, id, user, takeApart);

/** The same, of anybody's. @throws Refusal not_found */
export const removeAny = (
  db: Executor,
  id: number,
): Promise<Remains & Pick<store.ProjectRow, 'name' | 'userId'>> =>
  inTransaction(db, async (tx) => {
    const row = await store.lockProject(tx, id);
    if (!row) throw noProject();
    return { ...(await takeApart(tx, row)), name: row.name, userId: row.userId };
  });
