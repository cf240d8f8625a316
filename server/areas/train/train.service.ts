import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { zipSync, type Zippable } from 'fflate';
import * as z from 'zod/mini';
import type { Answer, Parsed } from '../../../contract/calls.ts';
import { limits } from '../../../contract/limits.ts';
import {
  loraImage,
  projectSettings,
  type ProjectSettings,
  type TrainFile,
  type TrainModel,
} from '../../../contract/train.ts';
import {
  fileStates,
  knowledgeEndings,
  projectStates,
  projectTypes,
  trainLimits,
  trainTexts,
  translationEndings,
} from '../../../contract/train-limits.ts';
import type { Executor, Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import type { EmbeddingModels } from '../../engines/embedding/embedding-models.ts';
import type { TrainingEngine } from '../../engines/training/training-engine.ts';
import { Refusal, type Identity, type UploadedFile } from '../../http/handlers.ts';
import { readJson } from '../../http/json-text.ts';
import { createPersonLimit } from '../../http/rate-limit.ts';
import { jobsOf, openJobsOf } from '../../jobs/job.service.ts';
import type { Storage } from '../../storage/storage-interface.ts';
import { newKey } from '../../storage/storage.ts';
import type { FileService } from '../file/file.service.ts';
import { cleanName } from '../file/uploads.ts';
import type { ModelService } from '../model/model.service.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import { modelTypes } from '../../../contract/kinds.ts';
import { beginTraining } from './begin-training.ts';
import {
  contentOf,
  directionFor,
  embeddingPrice,
  translationPrice,
  type FileContent,
} from './estimate.ts';
import { kindOf, type FileKind } from './reading/kinds.ts';
import { type FileReader, openReader, UnreadableFile } from './reading/read-file.ts';
import { payStopped } from './stopped-file.ts';
import * as store from './train.store.ts';
import { directionOf } from './translation/ask-translation.ts';

type ListInput = Parsed<'translateModelList'> & { type?: number | undefined };

const notThere = () => new Refusal('not_found', '没有这个项目');
const noFile = () => new Refusal('not_found', '没有这个文件');

/** Settings as they came, as JSON or the text of it, over those that are there. */
const settingsOf = (
  given: string | Record<string, unknown>,
  before: Partial<ProjectSettings> = {},
): ProjectSettings => {
  let read: unknown = given;
  if (typeof given === 'string') {
    try {
      read = given.trim() === '' ? {} : readJson(given);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Refusal('bad_input', 'settings：不是 JSON');
    }
  }
  const { max_chunk_size: longName, ...told } = (read ?? {}) as Record<string, unknown>;
  const named = longName === undefined ? told : { chunk_size: longName, ...told };
  const parsed = projectSettings.safeParse({ ...before, ...named });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = (issue?.message ?? '内容有误').replace(/^的/, '');
  throw new Refusal('bad_input', `settings.${issue?.path.join('.') ?? ''}：${why}`);
};

/** A stored file's name in addresses: one that was made private begins anew. */
const salted = (key: string, { addressSalt: salt }: Pick<store.ProjectRow, 'addressSalt'>) =>
  salt === '' ? key : `${key}-${salt}`;

const fileUrl = (
  key: string,
  name: string,
  project: Pick<store.ProjectRow, 'addressSalt'>,
): string => `/api/train/file?key=${encodeURIComponent(`${salted(key, project)}/${name}`)}`;

const viewFile = (
  row: store.FileRow,
  project: Pick<store.ProjectRow, 'addressSalt'>,
): TrainFile => ({
  id: row.id,
  name: row.name,
  url: row.storageKey ? fileUrl(row.storageKey, row.name, project) : '',
  token: row.token,
  status: row.status,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  size: row.size,
  parent_id: row.parentId ?? 0,
  total_num: row.totalNum,
  over_num: row.overNum,
  error: row.error,
  retriable: row.status === fileStates.failed && !row.hopeless,
  waiting: row.waiting,
  output_url: '',
});

const mimes: Readonly<Record<string, string>> = {
  txt: 'text/plain; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  pdf: 'application/pdf',
  zip: 'application/zip',
};

const endingOf = (name: string): string =>
  /\.([a-z0-9]{1,12})$/i.exec(name)?.[1]?.toLowerCase() ?? '';

export interface TrainServiceDeps {
  storage: Storage;
  models: Pick<ModelService, 'list'>;
  files: Pick<FileService, 'takeImages'>;
  embeddings: EmbeddingModels;
  prompts: Pick<PromptService, 'writer'>;
  /** What trains styles now. */
  training: () => Promise<TrainingEngine>;
  /** Most bytes that one person's files of training take. */
  quota: number;
  uploadLimit: number;
  documentSeconds: number;
}

export const createTrainService = (deps: TrainServiceDeps) => {
  const { storage } = deps;
  const limitPerson = createPersonLimit(deps.uploadLimit * 8);
  const limitPacks = createPersonLimit(10);
  const limitQuotes = createPersonLimit(60);

  const view = async (
    db: Executor,
    rows: readonly store.ProjectRow[],
    user: Pick<Identity, 'id' | 'manager'> | null,
  ): Promise<TrainModel[]> => {
    const names = await store.namesOf(
      db,
      rows.map((row) => row.userId),
    );
    const counts = await store.countsOf(
      db,
      rows.map((row) => row.id),
    );
    const files = await store.newestFiles(
      db,
      rows.map((row) => row.id),
    );
    const own = rows.filter((row) => row.userId === user?.id);
    const jobs = await jobsOf(
      db,
      'project',
      own.map((row) => row.id),
    );
    return rows.map((row) => {
      const { total, over, failed, waiting } = counts.get(row.id) ?? {
        total: 0,
        over: 0,
        failed: 0,
        waiting: 0,
      };
      const job = jobs.get(row.id);
      const mine = row.userId === user?.id;
      const file = files.get(row.id);
      return {
        id: row.id,
        name: row.name,
        key: row.key,
        private: row.private ? 1 : 0,
        type: row.type,
        desc: row.description,
        // What a style was made from, and terms, are its owner's.
        settings: JSON.stringify(
          mine ? row.settings : { ...row.settings, images: [], glossary: [] },
        ),
        status: row.status,
        token: row.token,
        total_num: total,
        over_num: over,
        title: row.name,
        user_id: row.userId,
        user: { user_name: names.get(row.userId) ?? '' },
        created_at: row.createdAt.toISOString(),
        updated_at: row.updatedAt.toISOString(),
        mine,
        file: file ? { name: file.name, url: fileUrl(file.storageKey, file.name, row) } : null,
        failed_num: failed,
        waiting_num: waiting,
        engine: row.engine,
        job: job && job.finished_at === null ? job : null,
      };
    });
  };

  const viewOne = async (db: Executor, id: number, user: Identity): Promise<TrainModel> => {
    const row = await store.findProject(db, id);
    const [model] = row ? await view(db, [row], user) : [];
    if (!model) throw notThere();
    return model;
  };

  const list = async (
    db: Executor,
    input: ListInput,
    types: readonly number[],
    user: Identity | null,
  ) => {
    const pageSize = limits.pageSize;
    const open = input.public === 1;
    if (!open && !user) return { list: [], page: 1, page_count: 0, page_size: pageSize, total: 0 };
    const query = input.query?.replaceAll('\0', '').trim() ?? '';
    const { rows, total } = await store.projectPage(
      db,
      { types, userId: open ? null : (user?.id ?? 0), query },
      { offset: Math.min((input.page - 1) * pageSize, 100_000), limit: pageSize },
    );
    return {
      list: await view(db, rows, user),
      page: input.page,
      page_count: Math.ceil(total / pageSize),
      page_size: pageSize,
      total,
    };
  };

  const mayRead = async (
    db: Executor,
    { private: hidden, userId }: { private: boolean; userId: number },
    user: Identity | null,
  ): Promise<boolean> =>
    userId === user?.id ||
    user?.manager === true ||
    (!hidden && !(await store.isSuspended(db, userId)));

  /** A project that a person may look into; a stranger's private one is as if it were not there. */
  const readable = async (db: Executor, id: number, user: Identity | null) => {
    const row = await store.findProject(db, id);
    if (!row || !(await mayRead(db, row, user))) throw notThere();
    return row;
  };

  const readableFile = async (db: Executor, id: number, user: Identity | null) => {
    const file = await store.findFile(db, id);
    if (!file || !(await mayRead(db, file.project, user))) throw noFile();
    return file;
  };

  /** An address is a right until its project is made private, or closed with its owner. */
  const requireAddress = async (
    db: Executor,
    project: store.ProjectRow | null,
    salt: string,
  ): Promise<void> => {
    if (project?.addressSalt !== salt) throw noFile();
    if (await store.isSuspended(db, project.userId)) throw noFile();
  };

  const ownFile = async (db: Executor, id: number, user: Identity) => {
    const file = await store.findFile(db, id);
    if (file?.project.userId !== user.id) throw noFile();
    return file;
  };

  /** One's own project, locked. Runs in a transaction. */
  const changing = <T>(
    db: Executor,
    id: number,
    user: Identity,
    act: (
      tx: Parameters<Parameters<typeof inTransaction<T>>[1]>[0],
      row: store.ProjectRow,
    ) => Promise<T>,
  ): Promise<T> =>
    inTransaction(db, async (tx) => {
      const row = await store.lockProject(tx, id);
      if (row?.userId !== user.id) throw notThere();
      return act(tx, row);
    });

  const whole = async (key: string): Promise<Buffer | null> => {
    const found = await storage.get(key);
    return found && buffer(found.stream);
  };

  /** A translated file as it is now, corrections included. */
  const translated = async (
    db: Executor,
    file: store.FileRow,
    { settings, userId }: Pick<store.ProjectRow, 'settings' | 'userId'>,
  ) => {
    const data = file.storageKey ? await whole(file.storageKey) : null;
    if (!data) throw noFile();
    const targets = (await store.targetsOf(db, file.id)).map(({ source, target, state }) =>
      state === 0 ? source : target,
    );
    const reader = openReader({ seconds: deps.documentSeconds * 3, userId });
    try {
      const made = await reader.read<'written'>({
        want: 'written',
        kind: file.kind as FileKind,
        data: new Uint8Array(data),
        targets,
        bilingual: settings.bilingual,
      });
      const stem = file.name.replace(/\.[^.]*$/, '');
      return { data: Buffer.from(made.data), name: `${stem}.${made.ending}` };
    } catch (error) {
      if (error instanceof UnreadableFile) throw new Refusal('upload_unreadable', error.message);
      throw error;
    } finally {
      reader.close();
    }
  };

  /** Puts a file that came in with a project and lets the work come to it. */
  const keepFile = (
    db: Executor,
    { name, data, start }: { name: string; data: Buffer; start: boolean },
    modelId: number | undefined,
    user: Identity,
  ): Promise<TrainFile> =>
    inTransaction(db, async (tx) => {
      const target =
        modelId ??
        (
          await store.newestProject(tx, user.id, [
            projectTypes.translation,
            projectTypes.knowledge,
            projectTypes.packed,
          ])
        )?.id;
      if (target === undefined) throw new Refusal('not_found', '请先创建项目');
      return changing(tx, target, user, async (tx, project) => {
        if (project.type === projectTypes.lora)
          throw new Refusal('upload_type', '画风用图片训练，请在“图片”一步添加');
        if (data.length > trainLimits.fileBytes) throw new Refusal('too_large', trainTexts.size);
        if (data.length === 0) throw new Refusal('upload_unreadable', '文件是空的');
        const kind = kindOf(name, data);
        const learns = project.type === projectTypes.knowledge;
        if (!kind || (learns && (kind === 'html' || kind === 'subtitles')))
          throw new Refusal(
            'upload_type',
            `${trainTexts.type}可以是 ${(learns ? knowledgeEndings : translationEndings).join('、')}`,
          );
        if ((await store.countFiles(tx, project.id)) >= trainLimits.files)
          throw new Refusal('training_too_many');
        if ((await store.bytesOf(tx, user.id)) + data.length > deps.quota)
          throw new Refusal('file_quota');
        const hash = createHash('sha256').update(data).digest('hex');
        const same = await store.sameFile(tx, project.id, { hash, name });
        if (same?.waiting && start) {
          await store.changeFile(tx, same.id, { waiting: false });
          await open(tx, project);
        }
        if (same) return viewFile({ ...same, waiting: same.waiting && !start }, project);
        const key = newKey();
        await storage.put(key, data, 'application/octet-stream');
        const row = await store.insertFile(tx, {
          projectId: project.id,
          name,
          kind,
          storageKey: key,
          size: data.length,
          hash,
          waiting: !start,
        });
        await store.addLog(tx, row.id, start ? '文件已收到，正在排队' : '文件已收到，等您开始');
        if (!start) return viewFile(row, project);
        await open(tx, project);
        return viewFile(row, project);
      });
    });

  /** Lets the work come to what is new in a locked project. */
  const open = async (tx: Transaction, project: store.ProjectRow): Promise<void> => {
    if (project.type === projectTypes.packed)
      await store.changeProject(tx, project.id, {
        type: projectTypes.translation,
        status: projectStates.open,
      });
    else if (project.status !== projectStates.trained)
      await store.changeProject(tx, project.id, { status: projectStates.open });
    const now = await store.findProject(tx, project.id);
    if (now) await beginTraining(tx, now);
  };

  /** What a waiting file holds, read once; null: an archive, or nothing can be learned from it. */
  const contentOfFile = async (
    db: Executor,
    file: store.FileRow,
    reader: FileReader,
  ): Promise<FileContent | null> => {
    if (file.content !== null || file.kind === 'archive') return file.content;
    const data = file.storageKey ? await whole(file.storageKey) : null;
    if (!data) return null;
    try {
      const { segments } = await reader.read<'segments'>({
        want: 'segments',
        kind: file.kind as FileKind,
        data: new Uint8Array(data),
      });
      const content = contentOf(segments);
      await store.changeFile(db, file.id, { content });
      return content;
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      const failed = { status: fileStates.failed, error: error.message, hopeless: true };
      await store.changeFile(db, file.id, { ...failed, waiting: false });
      await store.addLog(db, file.id, `没有成功：${error.message}`);
      return null;
    }
  };

  const takeApart = async (tx: Transaction, row: store.ProjectRow) => {
    const files = await store.lockFiles(tx, row.id);
    for (const file of files) await payStopped(tx, file, row.engine);
    const jobs = await openJobsOf(tx, { subject: 'project', id: row.id });
    await store.deleteProject(tx, row.id);
    const keys = [...files.map(({ storageKey }) => storageKey), row.artifactKey];
    return { keys: keys.filter((key) => key !== null), jobs: jobs.map((job) => job.id) };
  };

  return {
    list,

    async one(db: Executor, id: number, user: Identity | null): Promise<TrainModel> {
      const [model] = await view(db, [await readable(db, id, user)], user);
      if (!model) throw notThere();
      return model;
    },

    async engines(db: Executor) {
      const chat = (await deps.models.list(db)).filter(
        (model) => model.type === modelTypes.chat && !model.built_in,
      );
      return {
        embedding: await deps.embeddings.names(),
        lora: (await deps.training()).label,
        translate: chat
          .sort((one, other) => one.factor - other.factor)
          .map(({ name, label, factor }) => ({ name, label, factor })),
      };
    },

    async create(
      db: Executor,
      input: Parsed<'newTrainModel'>,
      user: Identity,
    ): Promise<TrainModel> {
      const settings = settingsOf(input.settings);
      await deps.files.takeImages(
        db,
        settings.images.map(({ url }) => url),
      );
      if ((await store.countProjects(db, user.id)) >= trainLimits.projects)
        throw new Refusal(
          'training_too_many',
          `每人最多 ${trainLimits.projects} 个项目，请先删除一些`,
        );
      if (input.key.toLowerCase() === 'help') throw new Refusal('training_key_taken');
      const row = await store.insertProject(db, {
        userId: user.id,
        key: input.key,
        name: input.name,
        type: input.type,
        private: input.private === 1,
        description: input.desc,
        settings,
      });
      if (!row) throw new Refusal('training_key_taken');
      return viewOne(db, row.id, user);
    },

    change: (db: Executor, input: Parsed<'setTrainModel'>, user: Identity): Promise<TrainModel> =>
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
        return viewOne(tx, row.id, user);
      }),

    setImages(db: Executor, input: Parsed<'setLoraImages'>, user: Identity): Promise<TrainModel> {
      let given: unknown = input.images;
      if (typeof given === 'string') {
        try {
          given = readJson(given);
        } catch (error) {
          if (error instanceof Refusal) throw error;
          throw new Refusal('bad_input', 'images：不是 JSON');
        }
      }
      const read = z.array(loraImage).safeParse(given);
      if (!read.success || read.data.length > trainLimits.loraImages)
        throw new Refusal('bad_input', `images：应为图片的列表，最多 ${trainLimits.loraImages} 张`);
      // Each image once, the last word on it counting.
      const images = [...new Map(read.data.map((image) => [image.url, image])).values()];
      return changing(db, input.model_id, user, async (tx, row) => {
        if (row.type !== projectTypes.lora) throw notThere();
        await deps.files.takeImages(
          tx,
          images.map(({ url }) => url),
        );
        if (input.start === 1 && images.length === 0) throw new Refusal('training_files_missing');
        await store.changeProject(tx, row.id, { settings: { ...row.settings, images } });
        if (input.start === 1) {
          const open = await openJobsOf(tx, { subject: 'project', id: row.id });
          if (open.length > 0) throw new Refusal('too_many_jobs', '正在训练，请等它完成或先取消');
          const file = await store.insertFile(tx, {
            projectId: row.id,
            name: `训练 ${images.length} 张图片`,
            kind: 'images',
            totalNum: images.length,
          });
          await store.addLog(tx, file.id, '已提交，正在排队');
          await store.changeProject(tx, row.id, { status: projectStates.open });
          await beginTraining(tx, row, { paid: (await deps.training()).paid });
        }
        return viewOne(tx, row.id, user);
      });
    },

    /** Gives what lies outside the database, to be taken away once it is gone from there. */
    remove: (db: Executor, id: number, user: Identity) => changing(db, id, user, takeApart),

    /** The same, of anybody's. @throws Refusal not_found */
    removeAny: (db: Executor, id: number) =>
      inTransaction(db, async (tx) => {
        const row = await store.lockProject(tx, id);
        if (!row) throw notThere();
        return { ...(await takeApart(tx, row)), name: row.name, userId: row.userId };
      }),

    async removeFile(db: Executor, id: number, user: Identity) {
      const { project } = await ownFile(db, id, user);
      return changing(db, project.id, user, async (tx, row) => {
        const family = await store.fileFamily(tx, id);
        for (const file of family) await payStopped(tx, file, row.engine);
        await store.deleteFile(tx, id);
        await store.noteChange(tx, row.id);
        return family.flatMap(({ storageKey }) => storageKey ?? []);
      });
    },

    takeAway: async (keys: readonly string[]): Promise<void> => {
      for (const key of keys) await storage.delete(key);
    },

    async files(db: Executor, input: Parsed<'trainFileList'>, user: Identity | null) {
      const project = await readable(db, input.model_id, user);
      const total = await store.countFiles(db, project.id);
      const rows = await store.filePage(db, project.id, {
        offset: Math.min((input.page - 1) * input.page_size, 100_000),
        limit: input.page_size,
      });
      const output =
        project.type === projectTypes.translation || project.type === projectTypes.packed;
      return {
        list: rows.map((row) => ({
          ...viewFile(row, project),
          output_url:
            output && row.status === fileStates.done
              ? `/api/train/file?key=${encodeURIComponent(`output/${row.id}/${salted(row.storageKey ?? '', project)}`)}`
              : '',
        })),
        page: input.page,
        page_count: Math.ceil(total / input.page_size),
        page_size: input.page_size,
        total,
        model_private: project.private ? 1 : 0,
      };
    },

    /** What it will take to begin what waits, and whether its language is the one that is set. */
    async quote(db: Executor, id: number, user: Identity): Promise<Answer<'trainQuote'>> {
      await limitQuotes(user.id);
      const project = await store.findProject(db, id);
      if (project?.userId !== user.id) throw notThere();
      const files = await store.waitingFiles(db, id);
      const contents: FileContent[] = [];
      const reader = openReader({ seconds: deps.documentSeconds, userId: user.id });
      try {
        for (const file of files) {
          const content = await contentOfFile(db, file, reader);
          if (content) contents.push(content);
        }
      } finally {
        reader.close();
      }
      const archives = files.filter(({ kind }) => kind === 'archive').length;
      const told = { files: contents.length + archives, archives };
      const { settings } = project;
      if (project.type === projectTypes.knowledge) {
        const engine = await deps.embeddings.engine(settings.model ?? '');
        return { ...told, tokens: engine ? embeddingPrice(contents) : 0, direction: 0 };
      }
      const set = directionOf(settings);
      const asked = directionFor(contents);
      const writer = await deps.prompts.writer(
        { id: user.id, guest: false },
        settings.chat_model || undefined,
      );
      return {
        ...told,
        tokens: writer ? translationPrice(writer, contents, set) : 0,
        direction: asked === null || asked === set ? 0 : asked,
      };
    },

    /** Begins what waits. @throws Refusal training_files_missing, too_many_jobs */
    start: (db: Executor, id: number, user: Identity): Promise<TrainModel> =>
      changing(db, id, user, async (tx, row) => {
        const begun = await store.beginFiles(tx, row.id);
        if (begun.length === 0) throw new Refusal('training_files_missing');
        for (const file of begun) await store.addLog(tx, file, '已开始，正在排队');
        await open(tx, row);
        return viewOne(tx, row.id, user);
      }),

    async retry(db: Executor, id: number, user: Identity): Promise<void> {
      const { project } = await ownFile(db, id, user);
      await changing(db, project.id, user, async (tx, row) => {
        const file = await store.findFile(tx, id);
        if (file?.status !== fileStates.failed) return;
        await store.changeFile(tx, id, {
          status: fileStates.working,
          error: '',
          hopeless: false,
        });
        await store.addLog(tx, id, trainTexts.retrying);
        if (row.status === projectStates.failed)
          await store.changeProject(tx, row.id, { status: projectStates.open });
        const paid = row.type === projectTypes.lora && (await deps.training()).paid;
        await beginTraining(tx, row, { paid });
      });
    },

    /** Takes a whole file, or a piece of one; gives what is to be done in the transaction. */
    async upload(input: Parsed<'uploadTrainFile'>, file: UploadedFile, user: Identity) {
      await limitPerson(user.id);
      const told = Number(file.fields?.['model_id']);
      const modelId = input.model_id ?? (Number.isSafeInteger(told) && told > 0 ? told : undefined);
      const name = cleanName(file.name);
      const { upload_id: uploadId, offset = 0, size } = input;
      const start = input.start === 1;
      const done = (kept: TrainFile, received: number) => ({
        file: kept,
        message: start ? trainTexts.uploaded : trainTexts.kept,
        received,
      });
      return async (db: Executor) => {
        if (uploadId === undefined || size === undefined)
          return done(
            await keepFile(db, { name, data: file.data, start }, modelId, user),
            file.data.length,
          );
        return inTransaction(db, async (tx) => {
          const id = uploadId.toLowerCase();
          if (!(await store.findUpload(tx, id, user.id))) {
            if ((await store.countUploads(tx, user.id)) >= 20)
              throw new Refusal('training_too_many', '没有传完的文件太多，请等一会儿再传');
            await store.beginUpload(tx, { id, userId: user.id, name, size });
          }
          const received = await store.addPiece(tx, {
            id,
            userId: user.id,
            offset,
            data: file.data,
          });
          if (received < size) return { file: null, message: '', received };
          const taken = await store.takeUpload(tx, id, user.id);
          if (!taken) throw new Refusal('not_found', '这次上传已经结束');
          return done(
            await keepFile(
              tx,
              { name: taken.name, data: Buffer.from(taken.data), start },
              modelId,
              user,
            ),
            received,
          );
        });
      };
    },

    uploadState: async (db: Executor, id: string, user: Identity) => ({
      received: (await store.findUpload(db, id.toLowerCase(), user.id))?.received ?? 0,
    }),

    async log(db: Executor, input: Parsed<'trainLog'>, user: Identity | null) {
      const file = await readableFile(db, input.file_id, user);
      const rows = await store.logsAfter(db, file.id, input.end_id);
      return {
        list: rows.map((row) => ({
          id: row.id,
          content: row.content,
          created_at: row.createdAt.toISOString(),
        })),
        status: file.status,
      };
    },

    async segments(db: Executor, input: Parsed<'segmentList'>, user: Identity | null) {
      const file = await readableFile(db, input.file_id, user);
      const { total } = await store.countSegments(db, file.id);
      const pageSize = trainLimits.segmentPage;
      const rows = await store.segmentPage(db, file.id, {
        offset: (input.page - 1) * pageSize,
        limit: pageSize,
      });
      return {
        list: rows.map(({ id, source, target, state }) => ({ id, source, target, state })),
        page: input.page,
        page_count: Math.ceil(total / pageSize),
        page_size: pageSize,
        total,
        name: file.name,
        mine: file.project.userId === user?.id,
      };
    },

    async correct(db: Executor, input: Parsed<'saveSegment'>, user: Identity): Promise<number> {
      const found = await store.findSegment(db, input.id);
      if (found?.project.userId !== user.id) throw new Refusal('not_found', '没有这一句');
      const { project, segment } = found;
      return changing(db, project.id, user, async (tx) => {
        const changed = await store.correct(
          tx,
          {
            id: segment.id,
            source: segment.source,
            projectId: input.all === 1 ? project.id : null,
          },
          input.target.replaceAll('\0', ''),
        );
        if (project.type === projectTypes.packed)
          await store.changeProject(tx, project.id, {
            type: projectTypes.translation,
            status: projectStates.trained,
          });
        return changed;
      });
    },

    /** Writes all translated files into a zip; the handler's second half keeps it. */
    async pack(db: Executor, id: number, user: Identity) {
      await limitPacks(user.id);
      const project = await store.findProject(db, id);
      if (project?.userId !== user.id) throw notThere();
      if (project.type !== projectTypes.translation && project.type !== projectTypes.packed)
        throw notThere();
      const files = (await store.allFiles(db, id)).filter(
        ({ status, waiting }) => status !== fileStates.unpacked && !waiting,
      );
      const done = files.filter(({ status }) => status === fileStates.done);
      if (done.length === 0 || files.some(({ status }) => status === fileStates.working))
        throw new Refusal('training_unfinished', '还没有翻译完，请稍后再打包');
      const parts: Zippable = {};
      for (const file of done) {
        const { data, name } = await translated(db, file, project);
        const ending = endingOf(name);
        const stem = name.slice(0, name.length - ending.length - 1);
        let free = name;
        for (let at = 2; parts[free]; at += 1) free = `${stem} (${at}).${ending}`;
        parts[free] = new Uint8Array(data);
      }
      const zip = Buffer.from(zipSync(parts, { level: 1 }));
      const key = newKey();
      await storage.put(key, zip, 'application/zip');
      const name = `${project.key}.zip`;
      return (db: Executor) =>
        changing(db, id, user, async (tx, row) => {
          if (row.artifactKey) await storage.delete(row.artifactKey);
          await store.changeProject(tx, id, {
            type: projectTypes.packed,
            status: projectStates.packed,
            artifactKey: key,
            artifactName: name,
          });
          return { url: fileUrl(key, name, row), model: await viewOne(tx, id, user) };
        });
    },

    /** The trained file of a style; of what is built in, its statistics. */
    async style(db: Executor, id: number, user: Identity) {
      const row = await store.findProject(db, id);
      if (!row || row.type !== projectTypes.lora || (row.private && row.userId !== user.id))
        throw notThere();
      if (row.status !== projectStates.trained) throw new Refusal('training_unfinished');
      if (row.artifactKey) {
        const data = await whole(row.artifactKey);
        if (data) return { data, name: row.artifactName, mime: 'application/octet-stream' };
      }
      const text = JSON.stringify({ key: row.key, label: row.name, ...row.profile }, null, 2);
      return { data: Buffer.from(text), name: `${row.key}.style.json`, mime: mimes['json'] ?? '' };
    },

    /** A file by its key, or a translation as it is now. @throws Refusal not_found */
    async content(db: Executor, key: string) {
      const [, fileId, own, salt = ''] =
        /^output\/(\d{1,15})\/([0-9a-f]{40})(?:-([0-9a-f]+))?$/.exec(key) ?? [];
      if (fileId !== undefined && own !== undefined) {
        const file = await store.findFile(db, Number(fileId));
        if (file?.storageKey !== own || file.status !== fileStates.done) throw noFile();
        await requireAddress(db, file.project, salt);
        const made = await translated(db, file, file.project);
        return { ...made, mime: mimes[endingOf(made.name)] ?? 'application/octet-stream' };
      }
      const [, stored, mark = '', name = ''] =
        /^([0-9a-f]{40})(?:-([0-9a-f]+))?\/(.{1,300})$/.exec(key) ?? [];
      if (stored === undefined) throw noFile();
      await requireAddress(db, await store.projectOfStored(db, stored), mark);
      const data = await whole(stored);
      if (!data) throw noFile();
      return { data, name, mime: mimes[endingOf(name)] ?? 'application/octet-stream' };
    },
  };
};

export type TrainService = ReturnType<typeof createTrainService>;
