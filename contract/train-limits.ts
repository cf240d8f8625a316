/** Kinds of project (document 3 §3); a packed translation is 3. */
export const projectTypes = { knowledge: 0, lora: 1, translation: 2, packed: 3 } as const;
/** Of a project: in training or not trained, trained, failed, packed. */
export const projectStates = { open: 0, trained: 1, failed: 2, packed: 3 } as const;
/** Of a file. */
export const fileStates = { working: 0, done: 1, failed: 2, unpacked: 3 } as const;

/** Numbers that the page and the server agree on. Sources: document 3 §5 and §9. */
export const trainLimits = {
  /** Others' keys that one person may come upon in a day: each tells that somebody has, or had, it. */
  keysFound: 20,
  fileBytes: 4 * 1024 * 1024,
  /** Files of one project, those out of archives included. */
  files: 10_000,
  /** Projects of one person. */
  projects: 50,
  description: 255,
  /** What a base asks of answers, and the questions that it offers. */
  instruction: 500,
  question: 100,
  questions: 6,
  name: 60,
  key: 64,
  chunk: { min: 100, max: 4000, default: 800 },
  batch: { min: 1, max: 64, default: 2 },
  epoch: { min: 1, max: 10, default: 1 },
  loraImages: 100,
  loraTokens: 100_000,
  /** Tokens taken per token that a connected service embeds. */
  embeddingFactor: 0.05,
  filePageSize: 8,
  mostFilePage: 256,
  segmentPage: 100,
  glossary: 200,
  /** How often the log is asked for, ms. */
  logPolling: 1000,
} as const;

/** What people keep in knowledge bases by hand. */
export const knowledgeLimits = {
  /** Letters. */
  passage: 6000,
  pairQuestion: 200,
  pairAnswer: 4000,
  /** Questions with answers of one base. */
  pairs: 1000,
  passagePage: 50,
  filesAtOnce: 256,
  address: 2000,
  /** Addresses of one person that are read again each day. */
  watches: 20,
  /** Days without success after which an address is read no more. */
  watchFailures: 5,
} as const;

/** Endings of files that knowledge bases and translations take (document 3 §5). */
export const archiveEndings = ['zip', 'rar', '7z', 'xz', 'gz'] as const;
const writtenEndings = ['txt', 'md', 'docx', 'doc', 'pdf'] as const;
export const knowledgeEndings = [
  ...writtenEndings,
  'xlsx',
  'csv',
  'pptx',
  'epub',
  'html',
  'htm',
  'png',
  'jpg',
  'jpeg',
  'webp',
  ...archiveEndings,
] as const;
export const translationEndings = [
  ...writtenEndings,
  ...archiveEndings,
  'html',
  'htm',
  'srt',
] as const;
/** What may be in an archive, whatever it is for. */
export const trainEndings = [...new Set([...knowledgeEndings, ...translationEndings])];

export const trainTexts = {
  /** What a job is called that gives the passages of a base other vectors. */
  rereading: '重读段落',
  name: '请输入模型名称',
  key: '请输入模型唯一Key',
  files: '请添加训练文件',
  type: '上传文件只能是文本格式!',
  size: '上传文件大小不能超过 4MB!',
  uploaded: '文件上传成功，正在训练······',
  kept: '文件上传成功',
  retrying: '正在重置',
  saved: '保存成功',
} as const;
