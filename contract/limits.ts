/** Messages that a page of a session begins with; by itself, for the script in the first HTML. */
export const historyPageSize = 30;

/** Numbers that the page and the server must agree on. Sources: document 1 §5 and §9, decisions. */
export const limits = {
  defaultMaxPrompt: 65_535,
  minPromptBytes: 6,
  freeSessionsAMonth: 128,
  vipMonthlyTokens: 250_000,
  /** Days of use that are told at once. */
  usageDays: 366,
  /** So long before its end people are told that their membership ends, ms. */
  vipEndTold: 7 * 24 * 3_600_000,
  signupTokens: 20_000,
  /** The forum's group of questions that name none. */
  defaultGroup: 1,
  /** Sessions and questions that become everybody's in a day: of a person, a guest, all guests of a network. */
  openedADay: { person: 50, guest: 5, guests: 50 },
  /** The newest of one person that stand in the public list before what others have; the rest comes behind. */
  openedAhead: 20,
  sidebarSessions: 15,
  pageSize: 20,
  /** An uploaded file that nothing shows is cleared away after so many days. */
  unusedFileDays: 7,
  /** The same of a guest's. */
  unusedGuestFileDays: 1,
  /** A long list says no more of how long it is: counting further costs more than its page. */
  counted: 10_000,
  /** Sessions that a person may keep at the top of their list. */
  pins: 20,
  historyPageSize,
  /** A page of messages ends with the one whose texts make it this heavy, bytes. */
  historyPageBytes: 1024 * 1024,
  apiKeys: 5,
  /** Tokens of the prompt and the answer of one call of the public API, where a model has no other. */
  apiTokens: 4096,
  /** To what a key's owner may raise them. */
  apiTokensRaised: 1_000_000,
  /** How long a key's old secret may go on working beside the new one, hours. */
  keyGraceHours: 168,
  account: { min: 3, max: 32 },
  name: { min: 1, max: 32 },
  password: { min: 8, max: 128 },
  /** Ways to sign in that were added in so many days do not outlive a password that is set anew. */
  latelyBoundDays: 30,
  /** So long a sign-in or a password counts as proof that it is still they, s. */
  confirmedFor: 600,
  visionImages: 4,
  /** Tokens taken for one image by its detail. */
  imageTokens: { low: 100, high: 1000 },
  imageBytes: 4 * 1024 * 1024,
  /** Of a file that a manager puts into a notice or a description. */
  managerFileBytes: 64 * 1024 * 1024,
  /** Images a message asks for, by the family of its model (document 1 §9). */
  imageCount: { midjourney: 4, sd3: 2, dalle: 2, cloud: 5, most: 10 },
  defaultImageSize: 3,
  styleReferences: 3,
  /** Images that are made into one. */
  blend: { min: 2, max: 5 },
  /** How much a base image is changed, percent. */
  strength: { midjourney: 50, otherwise: 75 },
  loraWeight: 70,
  /** Images that drawing a part anew makes, to choose from (document 2 §9). */
  imageEditCount: 4,
  /** Of what is painted over to be drawn anew: lines, and points of all of them together. */
  brush: { strokes: 100, points: 4000, size: 8000 },
  imageEditPrompt: { min: 2, max: 512 },
  /** Of an upscale, by the names of document 2 §9. */
  upscalers: [
    'ESRGAN_4x',
    'R-ESRGAN 4x+',
    'R-ESRGAN 4x+ Anime6B',
    '4x-UltraSharp',
    '4x-AnimeSharp',
  ],
  imageSelectorPage: 32,
  /** Of films made from an image (document 2 §5, §9). */
  film: {
    cfgScale: { min: 0, max: 10, usual: 2 },
    motion: { min: 1, max: 255, usual: 127 },
    page: 10,
    /** Of the poster in lists, px. */
    posterWidth: 200,
  },
  speech: {
    /** Of a recording. */
    fileBytes: 25 * 1024 * 1024,
    seconds: 600,
    /** Characters that are read aloud at once. */
    characters: 5000,
    speed: { min: 0.5, max: 2, usual: 1 },
    sampleRate: 44_100,
    buffer: { usual: 16_384, safari: 4096 },
  },
  galleryPage: 30,
  /** Of what an image was made from and what was made from it, most that are told. */
  imageKin: { parents: 12, children: 24 },
  /** How often the progress of a job is asked for where nothing tells of it, ms. */
  jobPolling: 10_000,
  /** Jobs of one person that may wait or run at once. */
  jobsAtOnce: 10,
  /** The same of all guests of a network. */
  jobsOfNetwork: 40,
  /**
   * Of a file that comes in pieces: bytes above which it does, of the first piece and of the largest,
   * and of the whole; a manager's may be as large as an app's.
   */
  pieces: {
    from: 1024 * 1024,
    first: 256 * 1024,
    most: 4 * 1024 * 1024,
    fileBytes: 64 * 1024 * 1024,
  },
  attachedFiles: 4,
  /** Knowledge bases that a session asks at once. */
  bases: 5,
  fileBytes: 10 * 1024 * 1024,
  /** Characters of a file's text that are kept. */
  fileText: 200_000,
  /** Requests to write to strangers that one person makes in a day and that nobody has accepted. */
  unansweredRequests: 10,
  /** People whom one never met that one person speaks to in messages of a day. */
  strangersMentioned: 10,
  /** Messages behind the first one that wait until a stranger accepts. */
  waitingMessages: 20,
  /** How often an open conversation looks for what others, or other devices, wrote, ms. */
  threadPolling: 10_000,
  /** Of what a model reads of a conversation: UTF-16 units of a summary; the part of its window beyond which older exchanges are to be condensed. */
  context: { summary: 8000, full: 0.8 },
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

/** What is said to fewer or more images that shall be made into one. */
export const blendText = `融图要选 ${limits.blend.min} 到 ${limits.blend.max} 张图片`;

export const tooLongText = (max: number): string => `内容太长，该模型最多接受 ${max} 个字符`;
