import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyBox } from './areas/model/channel-key.ts';
import { countSealed } from './areas/model/model.service.ts';
import type { Database } from './db/database.ts';
import { clockOf } from './db/questions.ts';
import { makeFolder } from './db/make-folder.ts';
import { StartupError } from './db/startup-error.ts';
import { modelFolder, readShelf } from './engines/local/model-folder.ts';
import type { Settings } from './settings.ts';
import type { Storage } from './storage/storage-interface.ts';
import { newKey } from './storage/storage.ts';

/** How long the checks may take together, ms: a start does not wait for a service that is away. */
const patience = 3_000;
/** How far this machine's clock may lie from the database's before it is said, s. */
const clockTolerance = 2;

/** Makes the folder of data, unless everything lies elsewhere. @throws StartupError where it cannot be written, or the disk is full */
export const requireDataDir = async ({
  dataDir,
  databaseUrl,
  s3,
}: Pick<Settings, 'dataDir' | 'databaseUrl' | 's3'>): Promise<void> => {
  if (databaseUrl !== '' && s3) return;
  try {
    await makeFolder(dataDir);
    await access(dataDir, constants.W_OK);
  } catch (error) {
    throw new StartupError(
      (error as NodeJS.ErrnoException).code === 'ENOSPC'
        ? `数据文件夹 ${dataDir} 所在的盘满了：腾出空间，或用 DATA_DIR 换一个盘`
        : `数据文件夹 ${dataDir} 不能写：给运行它的用户写的权限，或用 DATA_DIR 换一个文件夹`,
    );
  }
};

/** Whether there are stored keys of model services that this process cannot open. */
export const sealedElsewhere = async (db: Database, settings: Settings): Promise<string | null> => {
  const { sealed, closed } = await countSealed(db, () =>
    createKeyBox(settings.secretKey, settings.dataDir),
  );
  return closed === 0
    ? null
    : `SECRET_KEY（或 DATA_DIR 里的 secret-key）打不开 ${closed} 个模型服务的密钥（共 ${sealed} 个）：换回原来的，或在管理后台重新填写这些密钥`;
};

/** Files in S3: whether one can be written, read and deleted. */
export const unreachableStorage = async (storage: Storage): Promise<string | null> => {
  const key = newKey();
  const sent = Buffer.from('queqiao');
  try {
    await storage.put(key, sent, 'text/plain');
    const kept = await storage.get(key);
    if (!kept || !(await buffer(kept.stream)).equals(sent)) throw new Error('读回的内容不对');
    await storage.delete(key);
    return null;
  } catch (error) {
    return `对象存储用不了（${error instanceof Error ? error.message : String(error)}）：文件和图片现在不能保存、也不能打开，请检查 S3_ENDPOINT、S3_BUCKET 与密钥`;
  }
};

/** Whether this machine's clock differs from the database's. */
export const wrongClock = async (db: Database): Promise<string | null> => {
  const asked = Date.now();
  const now = await clockOf(db);
  const between = (asked + Date.now()) / 2000;
  const ahead = between - (now ?? between);
  return Math.abs(ahead) <= clockTolerance
    ? null
    : `这台机器的时钟比数据库${ahead > 0 ? '快' : '慢'} ${Math.abs(ahead).toFixed(1)} 秒，请开启时间同步（NTP）`;
};

/** Whether `LOCAL_MODEL` names no model of the shelf. */
const unknownModel = async ({ dataDir, localModel }: Settings): Promise<string | null> => {
  const keys = (await readShelf(modelFolder(dataDir))).map(({ key }) => key);
  return localModel === '' || keys.includes(localModel)
    ? null
    : `LOCAL_MODEL 的 ${localModel} 不在货架上，没有下载：可以写 ${keys.join('、')}`;
};

/** What is wrong around a server that can run nevertheless, in Chinese, for whoever starts it. */
export const checkStart = async (
  db: Database,
  storage: Storage,
  settings: Settings,
): Promise<string[]> => {
  const inTime = (check: Promise<string | null>, late: string | null) =>
    Promise.race([check, sleep(patience, late, { ref: false })]);
  const found = await Promise.all([
    inTime(sealedElsewhere(db, settings), null),
    inTime(wrongClock(db), null),
    unknownModel(settings),
    settings.s3
      ? inTime(
          unreachableStorage(storage),
          `对象存储 ${patience / 1000} 秒内没有回答，请检查 S3_ENDPOINT`,
        )
      : null,
  ]);
  return found.filter((each) => each !== null);
};
