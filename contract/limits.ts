/** Numbers that the page and the server must agree on. Sources: document 1 §5 and §9, decisions. */
export const limits = {
  defaultMaxPrompt: 65_535,
  minPromptBytes: 6,
  freeSessionsAMonth: 128,
  vipMonthlyTokens: 250_000,
  signupTokens: 20_000,
  sidebarSessions: 15,
  pageSize: 20,
  historyPageSize: 30,
  account: { min: 3, max: 32 },
  name: { min: 1, max: 32 },
  password: { min: 8, max: 128 },
  visionImages: 4,
  /** Tokens taken for one picture by its detail. */
  imageTokens: { low: 100, high: 1000 },
  imageBytes: 4 * 1024 * 1024,
  /** Pictures a message asks for, by the family of its model (document 1 §9). */
  imageCount: { midjourney: 4, sd3: 2, dalle: 2, cloud: 5, most: 10 },
  defaultImageSize: 3,
  styleReferences: 3,
  /** Pictures that are made into one. */
  blend: { min: 2, max: 5 },
  /** How much a base picture is changed, percent. */
  strength: { midjourney: 50, otherwise: 75 },
  loraWeight: 70,
  /** Pictures that drawing a part anew makes, to choose from (document 2 §9). */
  imageEditCount: 4,
  /** Of what is painted over to be drawn anew: lines, and points of all of them together. */
  brush: { strokes: 100, points: 4000, size: 8000 },
  imageEditPrompt: { min: 2, max: 512 },
  imageSelectorPage: 32,
  /** How often the progress of a job is asked for where nothing tells of it, ms. */
  jobPolling: 10_000,
  /** Jobs of one person that may wait or run at once. */
  jobsAtOnce: 10,
  attachedFiles: 4,
  fileBytes: 10 * 1024 * 1024,
  /** Characters of a file's text that are kept. */
  fileText: 200_000,
  /** How often a session of people looks for new messages, ms. */
  peoplePolling: 10_000,
  /** Two messages further apart than this have a time between them, ms. */
  timeSeparator: 5 * 60_000,
  /** The list counts as at its bottom within this distance, px. */
  bottomDistance: 100,
  defaults: {
    max_history: 3,
    embedding_history: 1,
    at_ai_max_history: 5,
    temperature: 10,
    penalty: 0,
  },
} as const;

/** How long the first message must be: the message of document 1 §5 for a minimum of n bytes. */
export const tooShortText = (bytes: number): string =>
  `内容太短，至少需要 ${Math.ceil(bytes / 3)} 个汉字或 ${bytes} 个英文字母`;

/** What is said to fewer or more pictures that shall be made into one. */
export const blendText = `融图要选 ${limits.blend.min} 到 ${limits.blend.max} 张图片`;

export const tooLongText = (max: number): string => `内容太长，该模型最多接受 ${max} 个字符`;
