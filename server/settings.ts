import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import dotenv from 'dotenv';
import ipaddr from 'ipaddr.js';
import leven from 'leven';
import { levels } from 'pino';
import { limits } from '#contract/limits.ts';
import { type ProviderName, providerName } from '#contract/payment.ts';
import { StartupError } from './db/startup-error.ts';

export interface S3Settings {
  /** Such as `https://s3.eu-central-1.amazonaws.com`, without a slash at the end. */
  endpoint: string;
  /** Empty: the endpoint names it. */
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
}

export interface Settings {
  /** 0: any free port. */
  port: number;
  /** PORT was set: no other port will do. */
  portChosen: boolean;
  host: string;
  /** Absolute path of the folder that holds everything that is kept. */
  dataDir: string;
  /** Empty: PostgreSQL is started from dataDir. */
  databaseUrl: string;
  /** The same database without the pooler that databaseUrl leads to; empty: it leads to none. */
  databaseDirectUrl: string;
  /** Valkey or Redis, shared by all processes; empty: they do without. */
  valkeyUrl: string;
  /** Where files are kept; null: below dataDir. */
  s3: S3Settings | null;
  /** Most bytes that the files of one person take. */
  fileQuota: number;
  /** The same of the guests of one network, and of all guests. */
  guestQuota: { network: number; all: number };
  /** Bytes of the disk that stay free; null: a share of it. */
  diskReserve: number | null;
  /** Files and images that one person may bring in a minute. */
  uploadLimit: number;
  /** What one guest may ask services for in a day; those of an address 20 times as much. */
  guestMessages: number;
  /** How long one document may take to be read, seconds. */
  documentSeconds: number;
  /**
   * Addresses, as `host:port`, that images may be fetched from although they are not public: of
   * a server in the same house, say.
   */
  fetchAllowed: string[];
  /** Where people reach this server, without a slash at the end; empty: not known. */
  publicUrl: string;
  /** The web site whose pages the menus lead to, without a slash at the end; empty: none. */
  officialSite: string;
  /** What the code of its account on WeChat says; empty: the official site's page of it. */
  wechatAccount: string;
  /** What 高级版 of the source code has beyond 基础版, parts divided by ；; empty: nothing, it only supports. */
  premiumEdition: string;
  /** What people pay by, the first unless they choose; empty: nothing is sold. */
  payment: ProviderName[];
  /** The host of PUBLIC_URL where 沙箱收银台 may be used although it is public. */
  sandboxAllowed: string;
  /** How often an open order is asked about, seconds. */
  paymentCheckSeconds: number;
  /** WeChat Pay v3. Keys are texts, or paths of their files. */
  wechat: {
    baseUrl: string;
    appId: string;
    merchantId: string;
    serial: string;
    privateKey: string;
    apiKey: string;
    publicKeyId: string;
    publicKey: string;
  };
  alipay: { gateway: string; appId: string; privateKey: string; publicKey: string };
  /** Empty: one is made and kept in the database. */
  jwtSecret: string;
  /** The age in days at which a login ends however often it is used. */
  loginDays: number;
  /** Empty: the first start makes one and prints it. */
  adminPassword: string;
  /** Encrypts the keys of model services at rest. Empty: one is made and kept in dataDir. */
  secretKey: string;
  /** Empty, and a key is set: OpenAI's own. */
  openaiBaseUrl: string;
  openaiApiKey: string;
  /** Empty: the service is asked. */
  openaiModels: string[];
  /** A service of embeddings of its own; empty: the one above, if it has any. */
  embeddingBaseUrl: string;
  embeddingApiKey: string;
  /** Empty: the service is asked. */
  embeddingModels: string[];
  /** A service that speaks Replicate's trainings API; without a token there is none. */
  replicateBaseUrl: string;
  replicateToken: string;
  /** What trains, as `owner/name:version`, and where what it made goes, as `owner/name`. */
  replicateTrainer: string;
  replicateDestination: string;
  /** Addresses of stable-diffusion-webui, a weight behind `#` where one gets more of the works. */
  sdWebuiUrls: string[];
  /** `user:password` of its `--api-auth`. */
  sdWebuiAuth: string;
  /** Addresses of Midjourney proxies, as above. */
  mjProxyUrls: string[];
  /** Sent to them as `mj-api-secret`. */
  mjProxySecret: string;
  /** Stability's service of films; no key: it is not asked. */
  stabilityBaseUrl: string;
  stabilityApiKey: string;
  /** Between two questions how a service's film stands, seconds. */
  filmPollSeconds: number;
  /** How long 内置视频 makes its films, seconds. */
  filmSeconds: number;
  /** Folder of a model of sherpa-onnx that recognises speech; empty: none. */
  speechModelDir: string;
  /** The same of a voice of sherpa-onnx. */
  voiceModelDir: string;
  /** How long a model service may take until its first word, and from one to the next, seconds. */
  modelFirstWordSeconds: number;
  modelIdleSeconds: number;
  /** No second service is asked beside one that is silent before this, ms; 0: none ever is. */
  modelHedgeMs: number;
  /** How long a service of images may be silent at first, seconds; later half as long. */
  imageSilenceSeconds: number;
  /** How long 内置画板 takes for an order at least, showing layer by layer, seconds. */
  canvasSeconds: number;
  /** How fast 内置助手 writes, letters a second; 0: all at once. */
  assistantRate: number;
  /** Jobs (images and the like) that this process works on at once; 0: others do. */
  workers: number;
  /** Tokens for a new account. */
  signupTokens: number;
  /** Messages to people that one person, or the guests of one network, may write in a minute. */
  messagesAMinute: number;
  /** Least UTF-8 bytes of a session's first message. */
  minPromptBytes: number;
  /**
   * Proxies whose X-Forwarded-For counts: addresses, CIDR ranges, or `loopback`, `uniquelocal`, by
   * comma. Empty: nobody's.
   */
  trustProxy: string;
  /** Requests a minute and address. */
  rateLimit: number;
  /** The same for sign-in, registration and captchas. */
  credentialsLimit: number;
  /** Registrations of one address in a day that need no captcha. */
  freeRegistrations: number;
  /** Streams of events that this process may have open. */
  eventStreams: number;
  /** Requests, and tokens of prompts and answers, that one API key may use in a minute. */
  apiRequests: number;
  apiTokens: number;
  /** Most bytes of an app's file. */
  appFileBytes: number;
  /** A clamd that looks at the files of apps, as `tcp://host:port`; empty: none. */
  clamdUrl: string;
  logLevel: string;
  /** Lines of JSON for programs, or of words for whoever sits before a terminal. */
  logFormat: 'json' | 'words';
  /** Whoever has it may read `/metrics`; empty: nobody. */
  metricsToken: string;
  /** Where traces go; an empty endpoint: nowhere. */
  trace: {
    endpoint: string;
    /** `name=value,…` sent along, such as a key. */
    headers: string;
    service: string;
    /** Of all traces, 0 to 1. */
    share: number;
  };
  /** Hours between two backups that are made by themselves, 0: none; and how many are kept. */
  backupHours: number;
  backupKeep: number;
  /** A bucket of the object storage where backups are put, too; empty: none. */
  backupBucket: string;
  /** A new version copies the database before it changes the schema. */
  upgradeBackup: boolean;
  /** Seals backups and opens them; empty: they lie open. */
  backupPassphrase: string;
  /**
   * After the call to stop: how long a process that load balancers ask goes on serving as before,
   * and how long what runs may then take to end, seconds.
   */
  drainNoticeSeconds: number;
  drainSeconds: number;
  /** What looks like a mistake in the settings, in Chinese, for whoever starts the server. */
  doubts: string[];
  /** Where models of this machine are looked for: `on`, `off`, or addresses by comma. */
  localModels: string;
  /** A model of the shelf that is brought here at the start; empty: none. */
  localModel: string;
  /** The project's folder: package.json, dist/ and server/db/migrations/ are below it. */
  root: string;
  /** Of package.json. */
  version: string;
}

/** This file runs from server/ in development and from a bundle below dist/ otherwise. */
const findRoot = (): string => {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('package.json was not found above the server');
    folder = parent;
  }
  return folder;
};

const whole = (env: NodeJS.ProcessEnv, name: string, otherwise: number, max: number): number => {
  const given = env[name]?.trim();
  if (!given) return otherwise;
  if (!/^\d{1,15}$/.test(given) || Number(given) > max)
    throw new StartupError(`${name} 应为 0 到 ${max} 的整数，现在是“${given}”`);
  return Number(given);
};

const onOrOff = (name: string, given: string): boolean => {
  if (given !== 'on' && given !== 'off')
    throw new StartupError(`${name} 应为 on 或 off，现在是“${given}”`);
  return given === 'on';
};

const services = (name: string, given: string[]): string[] => {
  for (const address of given)
    if (!(/^https?:\/\/[^#]+(#[1-9]\d{0,3})?$/.test(address) && URL.canParse(address)))
      throw new StartupError(
        `${name} 应为 http:// 或 https:// 开头的地址（几个用逗号分开，后面可加 #权重），现在是“${address}”`,
      );
  return given;
};

/** An address of the web, without a slash at its end; empty: none. */
const webAddress = (name: string, given: string): string => {
  if (given !== '' && !(/^https?:\/\/[^/\s]/.test(given) && URL.canParse(given)))
    throw new StartupError(`${name} 应为 http:// 或 https:// 开头的地址，现在是“${given}”`);
  return given.replace(/\/+$/, '');
};

/** As @fastify/proxy-addr takes them. */
const proxies = (given: string[]): string => {
  for (const each of given) {
    const range = each.includes('/') ? ipaddr.isValidCIDR(each) : ipaddr.isValid(each);
    if (!range && !['loopback', 'linklocal', 'uniquelocal'].includes(each))
      throw new StartupError(
        `TRUST_PROXY 应为代理的 IP、CIDR 或 loopback、linklocal、uniquelocal（几个用逗号分开），现在是“${each}”`,
      );
  }
  return given.join(',');
};

const logLevel = (given: string): string => {
  if (given !== 'silent' && !(given in levels.values))
    throw new StartupError(
      `LOG_LEVEL 应为 ${Object.keys(levels.values).join('、')} 或 silent，现在是“${given}”`,
    );
  return given;
};

const logFormat = (given: string): Settings['logFormat'] => {
  if (given !== 'json' && given !== 'words')
    throw new StartupError(`LOG_FORMAT 应为 json 或 words，现在是“${given}”`);
  return given;
};

/** Names that other parts of the project read: scripts, tests, Node itself. */
const readElsewhere = ['NODE_ENV', 'WITHOUT_PACKAGES', 'TZ', 'NODE_OPTIONS', 'E2E_BASE_URL'];

/** Names that nothing reads: all of those in `.env`, and in the environment what is nearly one of ours. */
const unknownNames = (known: ReadonlySet<string>, file: string[], environment: string[]) => {
  const near = (name: string) =>
    [...known].find((each) => each.length > 5 && leven(each, name.toUpperCase()) <= 2);
  const asking = (name: string) => {
    const meant = near(name);
    return meant ? `，是不是 ${meant}？` : '';
  };
  const isUnknown = (name: string) => !known.has(name) && !readElsewhere.includes(name);
  return [
    ...file.filter(isUnknown).map((name) => `.env 里的 ${name} 不是鹊桥的设置${asking(name)}`),
    ...environment
      .filter((name) => isUnknown(name) && !file.includes(name) && near(name) !== undefined)
      .map((name) => `环境变量 ${name} 不是鹊桥的设置${asking(name)}`),
  ];
};

const clamdAddress = (given: string): string => {
  if (given !== '' && !(/^tcp:\/\/[^/]+:\d+$/.test(given) && URL.canParse(given)))
    throw new StartupError(`CLAMD_URL 应为 tcp://主机:端口，现在是“${given}”`);
  return given;
};

const valkeyAddress = (given: string): string => {
  if (given !== '' && !(/^(redis|valkey)s?:\/\/[^/]+/.test(given) && URL.canParse(given)))
    throw new StartupError(
      `VALKEY_URL 应为 redis://[:密码@]主机:端口[/库]（加密用 rediss://），现在是“${given}”`,
    );
  return given.replace(/^valkey/, 'redis');
};

const providersIn = (given: string[]): ProviderName[] =>
  given
    .filter((each) => each !== 'off')
    .map((each) => {
      const known = providerName.options.find((name) => name === each.toLowerCase());
      if (!known)
        throw new StartupError(
          `PAYMENT 应为 ${providerName.options.join('、')}（几个用逗号分开）或 off，现在是“${each}”`,
        );
      return known;
    });

/** Words, lists of words and addresses of an environment, by their names. */
const readerOf = (env: NodeJS.ProcessEnv) => {
  const word = (name: string, otherwise = '') => env[name]?.trim() || otherwise;
  const words = (name: string) =>
    word(name)
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  const address = (name: string, otherwise = '') => webAddress(name, word(name, otherwise));
  return { word, words, address };
};
type Reader = ReturnType<typeof readerOf>;

const paymentSettings = (env: NodeJS.ProcessEnv, { word, words }: Reader) =>
  ({
    payment: providersIn(word('PAYMENT') === '' ? ['sandbox'] : words('PAYMENT')),
    sandboxAllowed: word('SANDBOX_ALLOWED'),
    paymentCheckSeconds: Math.max(1, whole(env, 'PAYMENT_CHECK_SECONDS', 15, 3600)),
    wechat: {
      baseUrl: word('WECHAT_BASE_URL', 'https://api.mch.weixin.qq.com'),
      appId: word('WECHAT_APPID'),
      merchantId: word('WECHAT_MCHID'),
      serial: word('WECHAT_SERIAL'),
      privateKey: word('WECHAT_PRIVATE_KEY'),
      apiKey: word('WECHAT_APIV3_KEY'),
      publicKeyId: word('WECHAT_PUBLIC_KEY_ID'),
      publicKey: word('WECHAT_PUBLIC_KEY'),
    },
    alipay: {
      gateway: word('ALIPAY_GATEWAY', 'https://openapi.alipay.com/gateway.do'),
      appId: word('ALIPAY_APP_ID'),
      privateKey: word('ALIPAY_PRIVATE_KEY'),
      publicKey: word('ALIPAY_PUBLIC_KEY'),
    },
  }) satisfies Partial<Settings>;

/** Named as OpenTelemetry names them. */
const traceSettings = ({ word, address }: Reader): Settings['trace'] => {
  const share = Number(word('OTEL_TRACES_SAMPLER_ARG', '1'));
  if (!(share >= 0 && share <= 1))
    throw new StartupError('OTEL_TRACES_SAMPLER_ARG 应为 0 到 1 的数');
  return {
    endpoint: address('OTEL_EXPORTER_OTLP_ENDPOINT'),
    headers: word('OTEL_EXPORTER_OTLP_HEADERS'),
    service: word('OTEL_SERVICE_NAME', 'queqiao'),
    share,
  };
};

/** Services outside: their addresses, keys and models, and models' folders of this machine. */
const serviceSettings = (env: NodeJS.ProcessEnv, { word, words, address }: Reader, root: string) =>
  ({
    openaiBaseUrl: address('OPENAI_BASE_URL'),
    openaiApiKey: word('OPENAI_API_KEY'),
    openaiModels: words('OPENAI_MODELS'),
    embeddingBaseUrl: address('EMBEDDING_BASE_URL'),
    embeddingApiKey: word('EMBEDDING_API_KEY'),
    embeddingModels: words('EMBEDDING_MODEL'),
    replicateBaseUrl: address('REPLICATE_BASE_URL', 'https://api.replicate.com/v1'),
    replicateToken: word('REPLICATE_API_TOKEN'),
    replicateTrainer: word('REPLICATE_TRAINER'),
    replicateDestination: word('REPLICATE_DESTINATION'),
    sdWebuiUrls: services('SD_WEBUI_URL', words('SD_WEBUI_URL')),
    sdWebuiAuth: word('SD_WEBUI_AUTH'),
    mjProxyUrls: services('MJ_PROXY_URL', words('MJ_PROXY_URL')),
    mjProxySecret: word('MJ_PROXY_SECRET'),
    stabilityBaseUrl: address('STABILITY_BASE_URL', 'https://api.stability.ai'),
    stabilityApiKey: word('STABILITY_API_KEY'),
    filmPollSeconds: whole(env, 'FILM_POLL_SECONDS', 10, 600),
    filmSeconds: Math.max(1, whole(env, 'FILM_SECONDS', 4, 20)),
    speechModelDir: word('SPEECH_MODEL_DIR') && path.resolve(root, word('SPEECH_MODEL_DIR')),
    voiceModelDir: word('VOICE_MODEL_DIR') && path.resolve(root, word('VOICE_MODEL_DIR')),
  }) satisfies Partial<Settings>;

/** Reads the environment, and below it `.env` of the project's folder. Throws on a senseless value. */
export const readSettings = (environment: NodeJS.ProcessEnv): Settings => {
  const root = findRoot();
  const file = path.join(root, '.env');
  const ofFile = existsSync(file) ? dotenv.parse(readFileSync(file)) : {};
  const known = new Set<string>();
  const env = new Proxy<NodeJS.ProcessEnv>(
    { ...ofFile, ...environment },
    {
      get: (all, name: string) => {
        known.add(name);
        return all[name];
      },
    },
  );
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const read = readerOf(env);
  const { word, words, address } = read;
  const endpoint = address('S3_ENDPOINT');
  const format = logFormat(word('LOG_FORMAT', 'json'));
  const settings: Settings = {
    port: whole(env, 'PORT', 3000, 65_535),
    portChosen: word('PORT') !== '',
    host: word('HOST', '0.0.0.0'),
    dataDir: path.resolve(root, word('DATA_DIR', 'data')),
    databaseUrl: word('DATABASE_URL'),
    databaseDirectUrl: word('DATABASE_DIRECT_URL'),
    valkeyUrl: valkeyAddress(word('VALKEY_URL')),
    s3:
      endpoint === ''
        ? null
        : {
            endpoint,
            bucket: word('S3_BUCKET').replaceAll('/', ''),
            region: word('S3_REGION', 'us-east-1'),
            accessKey: word('S3_ACCESS_KEY'),
            secretKey: word('S3_SECRET_KEY'),
          },
    fileQuota: whole(env, 'FILE_QUOTA_MB', 1024, 1_000_000_000) * 1024 * 1024,
    guestQuota: {
      network: whole(env, 'GUEST_NETWORK_MB', 256, 1_000_000_000) * 1024 * 1024,
      all: whole(env, 'GUESTS_MB', 4096, 1_000_000_000) * 1024 * 1024,
    },
    diskReserve: env['DISK_RESERVE_MB']
      ? whole(env, 'DISK_RESERVE_MB', 0, 1_000_000_000) * 1024 * 1024
      : null,
    uploadLimit: whole(env, 'UPLOAD_LIMIT', 60, 1_000_000_000),
    guestMessages: whole(env, 'GUEST_MESSAGES', 200, 1_000_000_000),
    documentSeconds: whole(env, 'DOCUMENT_SECONDS', 20, 600),
    fetchAllowed: words('FETCH_ALLOWED'),
    publicUrl: address('PUBLIC_URL'),
    officialSite: address('OFFICIAL_SITE'),
    wechatAccount: word('WECHAT_ACCOUNT'),
    premiumEdition: word('PREMIUM_EDITION'),
    ...paymentSettings(env, read),
    jwtSecret: word('JWT_SECRET'),
    loginDays: Math.max(1, whole(env, 'LOGIN_DAYS', 180, 36_500)),
    adminPassword: env['ADMIN_PASSWORD'] ?? '',
    secretKey: word('SECRET_KEY'),
    ...serviceSettings(env, read, root),
    modelFirstWordSeconds: whole(env, 'MODEL_FIRST_WORD_SECONDS', 60, 3600),
    modelHedgeMs: whole(env, 'MODEL_HEDGE_MS', 2000, 3_600_000),
    modelIdleSeconds: whole(env, 'MODEL_IDLE_SECONDS', 60, 3600),
    imageSilenceSeconds: Math.max(1, whole(env, 'IMAGE_SILENCE_SECONDS', 240, 780)),
    canvasSeconds: whole(env, 'CANVAS_SECONDS', 4, 600),
    assistantRate: whole(env, 'ASSISTANT_RATE', 240, 1_000_000),
    workers: whole(env, 'WORKERS', 4, 64),
    signupTokens: whole(env, 'SIGNUP_TOKENS', limits.signupTokens, 1_000_000_000_000),
    messagesAMinute: whole(env, 'MESSAGES_LIMIT', 90, 1_000_000_000),
    minPromptBytes: whole(env, 'MIN_PROMPT_BYTES', limits.minPromptBytes, 65_535),
    trustProxy: proxies(words('TRUST_PROXY')),
    rateLimit: whole(env, 'RATE_LIMIT', 1200, 1_000_000_000),
    credentialsLimit: whole(env, 'CREDENTIALS_LIMIT', 120, 1_000_000_000),
    freeRegistrations: whole(env, 'FREE_REGISTRATIONS', 3, 1_000_000_000),
    eventStreams: Math.max(1, whole(env, 'EVENT_STREAMS', 20_000, 1_000_000)),
    apiRequests: whole(env, 'API_REQUESTS', 600, 1_000_000_000),
    apiTokens: whole(env, 'API_TOKENS', 1_000_000, 1_000_000_000_000),
    appFileBytes: Math.max(1, whole(env, 'APP_FILE_MB', 200, 512)) * 1024 * 1024,
    clamdUrl: clamdAddress(word('CLAMD_URL')),
    // At a terminal it is said what is wrong, and no more unless that is asked for.
    logLevel: logLevel(word('LOG_LEVEL', format === 'words' ? 'warn' : 'info')),
    logFormat: format,
    metricsToken: word('METRICS_TOKEN'),
    trace: traceSettings(read),
    backupHours: whole(env, 'BACKUP_HOURS', 0, 8760),
    backupKeep: Math.max(1, whole(env, 'BACKUP_KEEP', 7, 1000)),
    backupBucket: word('BACKUP_S3_BUCKET').replaceAll('/', ''),
    upgradeBackup: onOrOff('UPGRADE_BACKUP', word('UPGRADE_BACKUP', 'on')),
    backupPassphrase: env['BACKUP_PASSPHRASE'] ?? '',
    localModels: word('LOCAL_MODELS', 'on'),
    localModel: word('LOCAL_MODEL'),
    drainNoticeSeconds: whole(env, 'DRAIN_NOTICE_SECONDS', 5, 600),
    drainSeconds: whole(env, 'DRAIN_SECONDS', 120, 3600),
    doubts: [],
    root,
    version: manifest.version,
  };
  if (settings.backupBucket !== '' && settings.s3 === null)
    throw new StartupError('BACKUP_S3_BUCKET 要有 S3_ENDPOINT 与它的密钥');
  const doubts = unknownNames(known, Object.keys(ofFile), Object.keys(environment));
  return { ...settings, doubts };
};
