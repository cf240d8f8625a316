import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import pg from 'pg';
import type { FastifyBaseLogger } from 'fastify';
import type { ContactKind } from '#contract/sign-in.ts';
import {
  isMailSet,
  isPhoneSet,
  openedSecret,
  readSettings,
} from './areas/contact/contact.service.ts';
import { askMail } from './areas/contact/mail.ts';
import { createKeyBox } from './areas/model/channel-key.ts';
import {
  answerMs,
  broken,
  checkAddress,
  type Checks,
  type Finding,
  note,
  reasonOf,
  well,
} from './check-address.ts';
import { type Database, openDatabase } from './db/database.ts';
import { isPooled, openOnly } from './db/connect.ts';
import { makeFolder } from './db/make-folder.ts';
import { pendingMigrations } from './db/migrate.ts';
import type { StartupError } from './db/startup-error.ts';
import { listModels } from './engines/openai-compatible/list-models.ts';
import { createProviders } from './payments/providers.ts';
import type { PaymentProvider } from './payments/payment-provider.ts';
import type { Settings } from './settings.ts';
import { sealedElsewhere, unreachableStorage, wrongClock } from './start-checks.ts';
import { createStorage } from './storage/storage.ts';
import { askValkey } from './valkey/valkey.ts';
import { canSign } from './waits/push.ts';

const megabyte = 1024 * 1024;
/** Free bytes below which a disk or the memory is too small to begin with. */
const leastDisk = 2048 * megabyte;
const leastMemory = 512 * megabyte;
/** PostgreSQL connections that one process may hold. */
const perProcess = 15;
/** The oldest PostgreSQL that is tried, as `server_version_num`. */
const oldestPostgres = 150_000;
const connectMs = 4_000;

async function* checkMachine(settings: Settings): Checks {
  const { dataDir, s3, backupBucket, backupPassphrase } = settings;
  if (backupBucket !== '' && backupPassphrase === '')
    yield note(
      '备份',
      `存进 ${backupBucket} 的备份没有加密，看得到那个桶的人读得到所有会话与密码的散列`,
      '请设 BACKUP_PASSPHRASE',
    );
  try {
    await makeFolder(dataDir);
    await access(dataDir, constants.W_OK);
    const disk = await statfs(dataDir);
    const free = disk.bavail * disk.bsize;
    const text = `${dataDir} 可写，剩余 ${(free / 1024 / megabyte).toFixed(1)} GB`;
    yield free < leastDisk && !s3
      ? note('数据文件夹', text, '空间不到 2 GB：图片和文件很快会存不下，请换一个盘（DATA_DIR）')
      : well('数据文件夹', text);
  } catch (error) {
    yield broken(
      '数据文件夹',
      `${dataDir} 不能写：${reasonOf(error)}`,
      '给运行它的用户写的权限，或用 DATA_DIR 换一个文件夹',
    );
  }
  const free = freemem();
  const text = `空闲 ${Math.round(free / megabyte)} MB`;
  yield free < leastMemory
    ? note('内存', text, '不到 512 MB：关掉别的程序，或减小 WORKERS')
    : well('内存', text);
}

/** What a connection past any pooler shows. */
async function* checkServer(client: pg.ClientBase): Checks {
  const { rows } = await client.query<{
    version: number;
    name: string;
    encoding: string;
    may: boolean;
    most: number;
  }>(
    `SELECT current_setting('server_version_num')::int AS version,
       current_setting('server_version') AS name, current_setting('server_encoding') AS encoding,
       has_schema_privilege('public', 'CREATE') AS may,
       current_setting('max_connections')::int AS most`,
  );
  const [about] = rows;
  if (!about) return;
  yield about.version < oldestPostgres
    ? broken('数据库', `PostgreSQL ${about.name}`, '需要 15 或更新的版本')
    : well('数据库', `PostgreSQL ${about.name}，最多 ${about.most} 个连接`);
  if (about.encoding !== 'UTF8')
    yield broken(
      '数据库',
      `编码是 ${about.encoding}`,
      '用 createdb -E UTF8 -T template0 重新建一个',
    );
  if (!about.may)
    yield broken('数据库', '这个用户不能建表', 'GRANT CREATE ON SCHEMA public TO 这个用户');
  if (about.most < perProcess * 2)
    yield note(
      '数据库',
      `连接只有 ${about.most} 个，一个进程最多用 ${perProcess} 个`,
      '调大 max_connections，或在前面放 PgBouncer（见 docs/many-machines.md）',
    );
  const pending = await pendingMigrations(client);
  yield pending.length > 0
    ? note(
        '数据库结构',
        `有 ${pending.length} 个迁移要做`,
        '启动时会先备份再做，也可以先 npm run migrate',
      )
    : well('数据库结构', '是最新的');
}

async function* checkPooled(settings: Settings): Checks {
  if (settings.databaseUrl === '' || settings.databaseDirectUrl === '') return;
  const client = new pg.Client({
    connectionString: settings.databaseUrl,
    connectionTimeoutMillis: connectMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    yield (await isPooled(client))
      ? well('连接池', 'DATABASE_URL 经过连接池，DATABASE_DIRECT_URL 直连')
      : note('连接池', 'DATABASE_URL 并没有经过连接池', '不用连接池时去掉 DATABASE_DIRECT_URL');
    const { rows } = await client.query<{ ms: number }>(
      `SELECT setting::int AS ms FROM pg_settings WHERE name = 'statement_timeout'`,
    );
    if (rows[0]?.ms === 0)
      yield note(
        '连接池',
        '经过它的语句没有时限',
        'ALTER ROLE 用户 SET statement_timeout = 30000; ALTER ROLE 用户 SET idle_in_transaction_session_timeout = 60000',
      );
  } catch (error) {
    yield broken('连接池', `连接不上：${reasonOf(error)}`, '请检查 DATABASE_URL 与连接池的日志');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** What sends letters, short messages and pushes; the first two are set up by managers. */
async function* checkSenders(db: Database, settings: Settings): Checks {
  // Before the first start there is nothing.
  const kept = await readSettings(db).catch(() => null);
  if (kept === null) return;
  const secretOf = (kind: ContactKind): string =>
    openedSecret(createKeyBox(settings.secretKey, settings.dataDir), kept, kind);
  if (isMailSet(kept)) {
    const failed = await askMail(kept, secretOf('mail')).then(() => null, reasonOf);
    yield failed === null
      ? well('邮件', `${kept.smtp_host} 让登录`)
      : broken('邮件', `${kept.smtp_host}：${failed}`, '在管理后台“登录方式”里检查服务器与密码');
  }
  if (isPhoneSet(kept))
    yield secretOf('phone') === ''
      ? broken('短信', '密钥打不开', '换回原来的 SECRET_KEY，或在管理后台“登录方式”里重新填写')
      : well('短信', '密钥能读');
  yield (await canSign(db))
    ? well('推送', '密钥能用')
    : broken('推送', '存着的密钥坏了', '删去表 secrets 里的 vapid，重启后大家重新打开通知');
}

async function* checkDatabase(settings: Settings, log: FastifyBaseLogger): Checks {
  const setting = settings.databaseDirectUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  let opened: Awaited<ReturnType<typeof openOnly>>;
  try {
    opened = await openOnly(settings, log);
  } catch (error) {
    yield broken('数据库', reasonOf(error), '内置的数据库起不来：看上面的原因，或用 DATABASE_URL');
    return;
  }
  const pool = new pg.Pool({
    connectionString: opened.connectionString,
    connectionTimeoutMillis: connectMs,
    max: 2,
  });
  pool.on('error', () => undefined);
  try {
    const client = await pool.connect();
    try {
      if (await isPooled(client))
        yield broken(
          '数据库',
          `${setting} 经过了连接池`,
          '在 DATABASE_DIRECT_URL 里填写直连的地址',
        );
      yield* checkServer(client);
    } finally {
      client.release();
    }
    const db = openDatabase(pool);
    const clock = await wrongClock(db);
    yield clock
      ? broken('时钟', clock, '打开 NTP：timedatectl set-ntp true')
      : well('时钟', '与数据库一致');
    const sealed = await sealedElsewhere(db, settings).catch(() => null);
    yield sealed
      ? broken('密钥', sealed, '换回原来的 SECRET_KEY')
      : well('密钥', '能打开已存的模型服务密钥');
    yield* checkSenders(db, settings);
    yield* checkPooled(settings);
  } catch (error) {
    yield broken('数据库', `连接不上：${reasonOf(error)}`, `请检查 ${setting}`);
  } finally {
    await pool.end().catch(() => undefined);
    await opened.leave();
  }
}

async function* checkServices(settings: Settings): Checks {
  if (settings.s3) {
    const away = await unreachableStorage(createStorage(settings));
    yield away
      ? broken('对象存储', away, '钥匙要有读、写、删这个桶的权限')
      : well('对象存储', '写、读、删都行');
  }
  if (settings.valkeyUrl !== '') {
    const said = await askValkey(settings.valkeyUrl).catch((error: unknown) => error);
    yield typeof said === 'string'
      ? well('Valkey', said)
      : broken(
          'Valkey',
          `连不上：${reasonOf(said)}`,
          '请检查 VALKEY_URL；没有它也能运行，各进程直接经 HTTP 传',
        );
  }
  if (settings.openaiApiKey !== '') {
    const from = settings.openaiBaseUrl || 'https://api.openai.com/v1';
    try {
      const names = await listModels(
        { baseUrl: from, apiKey: settings.openaiApiKey },
        AbortSignal.timeout(answerMs),
      );
      yield well('模型服务', `${from} 有 ${names.length} 个模型`);
    } catch (error) {
      yield broken('模型服务', `${from}：${reasonOf(error)}`, '请检查 OPENAI_BASE_URL 与密钥');
    }
  }
  try {
    // Only whether the keys can be read is asked.
    const { providers, closedReason } = await createProviders(
      settings,
      () => ({}) as PaymentProvider,
    );
    if (providers.length === 0) yield note('收款', closedReason, '需要收款时设置 PAYMENT');
    else if (settings.payment.includes('sandbox'))
      yield note('收款', '用的是沙箱收银台，收不到钱', '正式收款请设 PAYMENT=wechat 或 alipay');
    else yield well('收款', `${settings.payment.join('、')} 的密钥都能读`);
  } catch (error) {
    yield broken('收款', reasonOf(error), '补齐这个设置，或 PAYMENT=off');
  }
}

/** Looks at everything that a server depends on, one after another; it changes nothing. */
export async function* examine(settings: Settings, log: FastifyBaseLogger): Checks {
  for (const doubt of settings.doubts) yield note('设置', doubt, '改正或去掉它');
  yield* checkMachine(settings);
  yield* checkDatabase(settings, log);
  yield* checkServices(settings);
  yield* checkAddress(settings);
}

/** As `examine`, when not even the settings can be read. */
export const unreadable = (error: StartupError): Finding =>
  broken('设置', error.message, '改正它再试');
