import { randomUUID } from 'node:crypto';
import { type CallName, calls, type In } from '#contract/calls.ts';
import { quickFetch, requestOf, TestClient } from './client.ts';
import { ADMIN_PASSWORD, type ServerOptions, startServer, type TestServer } from './server.ts';

export type Role = 'none' | 'guest' | 'user' | 'other' | 'manager';

/** A session and one message of it that was answered. */
export interface Talk {
  uuid: string;
  id: number;
  historyId: number;
}

/** A server with one person of every role; `user` and `other` have a private session each. */
export interface World {
  server: TestServer;
  people: Record<Role, TestClient>;
  talks: { user: Talk; other: Talk };
  stop: () => Promise<void>;
}

export const secretOfOther = '别人的秘密：芝麻开门';

export const talk = async (client: TestClient, msg: string): Promise<Talk> => {
  const session = await client.call('newSession', { type: 0 });
  const sent = await client.call('sendMessage', { session_id: session.uuid, msg });
  await client.read(session.uuid, sent.id);
  return { uuid: session.uuid, id: session.id, historyId: sent.id };
};

export const createWorld = async (options: ServerOptions = {}): Promise<World> => {
  const server = await startServer({
    ...options,
    // Bad input of all kinds comes in by one key.
    env: { ASSISTANT_RATE: '0', API_REQUESTS: '1000000', ...options.env },
  });
  const person = () => TestClient.register(server.baseURL);
  const guest = new TestClient(server.baseURL);
  await guest.call('newSession', { type: 0 });
  const manager = new TestClient(server.baseURL);
  await manager.login('admin', ADMIN_PASSWORD);
  const people = {
    none: new TestClient(server.baseURL),
    guest,
    user: await person(),
    other: await person(),
    manager,
  };
  return {
    server,
    people,
    talks: {
      user: await talk(people.user, '请用一句话介绍鹊桥'),
      other: await talk(people.other, secretOfOther),
    },
    stop: () => server.stop(),
  };
};

const password = 'password-1';

/** The number of nothing and nobody. */
const nobody = 999_999_999;

const noUuid = '4b1b0a52-6f0c-4a6f-9e0a-0d6d3f3f9a11';

/** A picture of one pixel. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** For every call an input that the contract takes, about one's own session. */
export const goodInputs = (own: Talk): { [K in CallName]: In<K> } => ({
  login: { account: 'nobody-here', password },
  register: { account: '', name: '', password: '', password2: '' },
  logout: {},
  authCheck: {},
  captcha: {},
  ticket: {},
  userInfo: {},
  saveSettings: { temperature: 10 },
  models: {},
  sessionList: { channel: 'public' },
  getSession: { uuid: own.uuid },
  newSession: { type: 0, history_id: own.historyId },
  setSession: { session_id: own.uuid, private: 1 },
  deleteSession: { session_id: own.uuid },
  historyList: { session_id: own.uuid },
  lastMessages: { sessionId: own.uuid, maxHistoryId: 0 },
  sendMessage: { session_id: own.uuid, msg: '请再说一遍' },
  retryMessage: { session_id: own.uuid, history_id: own.historyId },
  eventStream: { session_id: own.uuid, history_id: own.historyId },
  stopStream: { history_id: own.historyId },
  sessionContext: { session_id: own.uuid },
  readEarlier: { session_id: own.uuid, on: 1 },
  condenseSession: { session_id: own.uuid },
  saveSummary: { session_id: own.uuid, text: '前面说过的话' },
  // No call of a tool waits there.
  answerTool: {
    session_id: own.uuid,
    history_id: own.historyId,
    call_id: '0-0',
    answer: 'no',
  },
  deleteHistory: { session_id: own.uuid, id: own.historyId },
  regenerateMessage: { session_id: own.uuid, history_id: own.historyId },
  switchBranch: { session_id: own.uuid, history_id: own.historyId },
  updateMessage: { session_id: own.uuid, id: own.historyId, content: '改过的内容' },
  historyLike: { session_id: own.uuid, history_id: own.historyId },
  addToFavorites: { session_id: own.uuid, history_id: own.historyId },
  removeFromFavorites: { session_id: own.uuid, history_id: own.historyId },
  newFriend: { friend_user_id: 1 },
  answerFriend: { session_id: '1', act: 'accept' },
  searchMessages: { session_id: own.uuid, query: '介绍' },
  modelHealth: {},
  modelStat: {
    state: 'success',
    first_time: 300,
    time: 1200,
    model: 'builtin-assistant',
    request_time: '2026-01-01T00:00:00.000Z',
  },
  shareSession: { session_id: own.uuid },
  shareInfo: { session_id: own.uuid },
  unshareSession: { session_id: own.uuid },
  sharedSession: { key: 'no-such-key-at-all-1234' },
  exportSession: { session_id: own.uuid, format: 'markdown' },
  attachedText: { uuid: noUuid },
  exportDiagrams: { session_id: own.uuid },
  exportDrawn: { session_id: own.uuid, format: 'pdf' },
  exportFile: { key: 'no-such-key-at-all-1234' },
  importSessions: { data: [] },
  uploadImage: {},
  imageOrigins: { urls: `/files/${'0'.repeat(40)}.png` },
  declareImage: { url: `/files/${'0'.repeat(40)}.png` },
  uploadFile: {},
  uploadPiece: { upload_id: noUuid, offset: 0, size: 1 },
  uploadState: { upload_id: noUuid },
  foreignImage: { url: 'https://127.0.0.1/a.png' },
  imageByUrl: { url: 'https://127.0.0.1/a.png' },
  scenarioCategory: {},
  scenarioList: {},
  saveScenario: { name: '我的场景', prompt: '请改写：{{input}}', category: 1 },
  rateScenario: { scenario_id: 999_999_999, stars: 5 },
  delScenario: { id: 999_999_999 },
  manageScenario: {
    name: `场景${randomUUID().slice(0, 8)}`,
    prompt: '请改写：{{input}}',
    category: 1,
  },
  removeScenario: { id: 999_999_999 },
  saveScenarioCategory: { name: `类${randomUUID().slice(0, 8)}` },
  delScenarioCategory: { id: 999_999_999 },
  forumGroups: {},
  saveForumGroup: { name: `分组${randomUUID().slice(0, 8)}`, sort: 200 },
  delForumGroup: { id: 999_999_999 },
  acceptAnswer: { session_id: own.uuid, history_id: own.historyId },
  markQuestion: { session_id: own.uuid, essence: 1 },
  report: { session_id: own.uuid, history_id: own.historyId, reason: 'other' },
  reportList: {},
  resolveReport: { id: 999_999_999 },
  messageEdits: { session_id: own.uuid, history_id: own.historyId },
  newsList: {},
  readNews: { session_id: own.uuid },
  embeddingList: {},
  passageTokens: { embedding_key: 'help', question: '余额不足怎么办' },
  askKnowledge: { embedding_key: 'help', question: '余额不足怎么办' },
  knowledgePassage: { id: 1 },
  passagePage: { id: 1 },
  replySource: { history_id: own.historyId, n: 99 },
  trainModelList: {},
  translateModelList: {},
  trainModel: { model_id: 1 },
  trainEngines: {},
  newTrainModel: { name: '笔记', key: `notes_${own.id}`, type: 0 },
  setTrainModel: { model_id: 1, private: 1 },
  setLoraImages: { model_id: 1, images: [] },
  delTrainModel: { id: 1 },
  packModel: { model_id: 1 },
  downloadLora: { model_id: 1 },
  trainFileList: { model_id: 1 },
  trainQuote: { model_id: 1 },
  startTraining: { model_id: 1 },
  retryTrainFile: { fileId: 1 },
  delTrainFile: { file_id: 1 },
  uploadTrainFile: { model_id: 1 },
  trainLog: { file_id: 1 },
  passageList: { file_id: 1 },
  savePassage: { id: 1, off: true },
  delPassage: { id: 1 },
  addPair: { model_id: 1, question: '几点上班', answer: '九点' },
  actOnFiles: { model_id: 1, ids: [1], act: 'retry' },
  addAddress: { model_id: 1, url: 'https://example.com/' },
  watchList: { model_id: 1 },
  setWatch: { file_id: 1, live: false },
  gapList: { model_id: 1 },
  delGap: { model_id: 1, id: 1 },
  trainFileContent: { key: 'no-such-key-at-all-1234' },
  segmentList: { file_id: 1 },
  saveSegment: { id: 1, target: '你好' },
  noticeInfo: {},
  updateNotice: { notice_id: 1 },
  transactionList: {},
  usage: {},
  transactionFile: {},
  lowBalanceSeen: {},
  newSignInSeen: {},
  vipEndSeen: {},
  saveUser: { user_name: '新名字' },
  uploadAvatar: {},
  changePassword: { old_password: 'wrong-one', password: 'password-2', password2: 'password-2' },
  deviceList: {},
  signOutDevice: {},
  sessionPrivate: {},
  deleteAllSession: {},
  inviteInfo: {},
  newInvite: {},
  inviteList: {},
  downloadSourceCode: { id: 1 },
  noticeFile: { id: 1 },
  exportAccount: {},
  accountFiles: {},
  accountFile: { id: 1 },
  deleteAccount: { password: 'wrong-one' },
  noticeList: {},
  paymentInfo: {},
  recharge: { type: 'token', num: 1 },
  tradeStatus: { platform_order_id: 'Q20260101000000000000' },
  closeTrade: { platform_order_id: 'Q20260101000000000000' },
  tradeList: {},
  sandboxTrade: { key: 'no-such-key' },
  sandboxSettle: { key: 'no-such-key', pay: 0 },
  invoiceList: {},
  requestInvoice: {
    order_ids: ['Q20260101000000000000'],
    kind: 'personal',
    title: '个人',
    email: 'a@example.com',
  },
  requestRefund: { order_id: 'Q20260101000000000000', reason: '买多了' },
  helpList: {},
  helpPage: { slug: 'start' },
  jobList: {},
  cancelJob: { request_id: noUuid },
  jobEvents: {},
  generateImage: { history_id: own.historyId, request_id: noUuid },
  generateVideo: { history_id: own.historyId, request_id: noUuid },
  videoIndex: {},
  speechToText: {},
  textToSpeech: { text: '你好' },
  imageProgress: { request_id: noUuid },
  imageMetadata: { model: 'builtin-canvas' },
  promptParameter: { model: 'builtin-canvas', prompt: '山间的月亮' },
  controlnetDetect: {
    model: 'builtin-canvas',
    controlnet_module: 'canny',
    controlnet_image_url: 'https://127.0.0.1/a.png',
  },
  interrogateImage: { image_url: 'https://127.0.0.1/a.png' },
  upscaleImage: { image_id: 987_654 },
  removeImageBackground: { image_id: 987_654 },
  editImageBackground: { image_id: 987_654, bg_color: '#ffffff' },
  editImage: {
    image_id: 987_654,
    prompt: '一只猫',
    mask: { left: 0, top: 0, width: 9, height: 9 },
  },
  imageIndex: {},
  imageExplore: {},
  imageInfo: { image_id: 987_654 },
  likeImage: { image_id: 987_654, status: 1 },
  hideImage: { image_id: 987_654, hidden: 1 },
  deleteImage: { image_id: 987_654 },
  croppingImage: { image: `data:image/png;base64,${onePixel.toString('base64')}` },
  uploadedFiles: {},
  privateImages: {},
  translate: { msg: '月亮', cn2en: 1 },
  inscriptor: { msg: '月亮' },
  keywordList: {},
  topKeyword: { id: 11001, type: 'quality' },
  hideKeyword: { id: 11001, type: 'quality' },
  promptList: {},
  topPrompt: { id: 1, type: 0 },
  hidePrompt: { id: 1, type: 0 },
  savePrompt: { type: 0, prompt_json: { act: '总结', prompt: '请总结 {{内容}}' } },
  delPrompt: { id: 999_999_999 },
  managePromptList: {},
  managePrompt: {
    type: 1,
    prompt_json: { title: `模板${randomUUID().slice(0, 8)}`, content: '一片云' },
  },
  removePrompt: { id: 999_999_999 },
  waitStatus: { waits: [{ kind: 'answer', id: String(own.historyId) }] },
  pushKey: {},
  pushSubscribe: {
    endpoint: 'https://push.example.com/abc',
    keys: {
      p256dh:
        'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
      auth: 'tBHItJI5svbpez7KI4CCXg',
    },
    device: noUuid,
  },
  pushUnsubscribe: { device: noUuid },
  watchWaits: { device: noUuid, waits: [] },
  adminSummary: {},
  adminRankList: {},
  adminChartList: { range: '1d' },
  adminModelStats: {},
  adminActList: {},
  adminBackup: {},
  adminService: {},
  managerList: {},
  setManager: { user_id: nobody, rank: 'manager' },
  totpState: {},
  totpBegin: {},
  totpEnable: { code: '000000' },
  totpDisable: { code: '000000' },
  totpRecovery: { code: '000000' },
  adminSessionList: { query: '介绍' },
  adminHistoryList: { session_id: own.uuid },
  adminDeleteSession: { session_id: own.uuid },
  adminDeleteHistory: { history_id: own.historyId },
  adminUpdateHistory: { id: own.historyId, human: '改过的提问' },
  adminSetSession: { session_id: own.uuid, private: 1 },
  adminUpload: {},
  adminUserList: {},
  adminUserInfo: { user_id: 1 },
  adminUserLedger: { user_id: 1 },
  updateUser: { user_id: 1, session_blacklist: 0 },
  peopleGroups: {},
  savePeopleGroup: { id: nobody, name: '没有', factor: 1 },
  delPeopleGroup: { id: nobody },
  updateTokens: { user_id: 1, tokens: 1000, add: 1, remarks: '测试' },
  activatedAbility: { user_id: 1, gift: 1 },
  updateUserSession: { user_id: 1, session_private: 0 },
  resetPassword: { user_id: nobody },
  signOutUser: { user_id: nobody },
  adminModelList: {},
  setupEnter: { code: 'no-such-code' },
  setupState: {},
  saveSetup: { settle: 'payment' },
  setupPassword: { new_password: 'another-password-1' },
  checkSite: { part: 'address' },
  localModels: {},
  fetchLocalModel: { key: 'no-such-model' },
  stopLocalModel: { key: 'no-such-model' },
  removeLocalModel: { key: 'no-such-model' },
  saveLocalMirrors: { mirrors: [] },
  pullOllama: { base_url: 'http://127.0.0.1:9/v1', model: 'qwen3:0.6b' },
  stopOllama: { base_url: 'http://127.0.0.1:9/v1', model: 'qwen3:0.6b' },
  blockedWordList: {},
  addBlockedWords: { words: ['绝不会写的词'] },
  delBlockedWord: { id: nobody },
  adminTrainList: {},
  setTrainProject: { id: nobody, private: 1 },
  delTrainProject: { id: nobody },
  manageKeywordList: {},
  manageKeyword: {
    type: 'draw',
    text: `word ${randomUUID().slice(0, 8)}`,
    lang_zh: '新词',
    dir: '绘画',
    sub_dir: '新组',
  },
  removeKeyword: { id: nobody },
  setModel: { id: nobody, remarks: '说明' },
  channelList: {},
  channelHealth: { id: 1 },
  channelBalance: { id: 1 },
  // Of a kind that cannot be taken over: a model of it would be offered to everybody else's tests.
  importChannels: { text: '[{"name":"a","type":18,"key":"k","models":"spark"}]' },
  toolServers: {},
  toolTokens: {},
  saveToolServer: { name: '没有', url: 'http://127.0.0.1:9/mcp' },
  checkToolServer: { id: nobody },
  toolServerThings: { id: nobody },
  readToolResource: { id: nobody, uri: 'file:///x' },
  fillToolPrompt: { id: nobody, name: 'x' },
  beginToolLogin: { id: nobody },
  endToolLogin: { state: '1.nothing', code: 'nothing' },
  chooseTools: { id: nobody, tools: [] },
  deleteToolServer: { id: nobody },
  channelPresets: {},
  testChannel: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' },
  saveChannel: {
    id: nobody,
    kind: 'openai-compatible',
    base_url: 'http://127.0.0.1:9/v1',
    label: '没有',
    models: [],
  },
  setChannel: { id: nobody, enabled: 1 },
  delChannel: { id: nobody },
  adminOrderList: {},
  adminOrderInfo: { order_id: 'Q0' },
  setOrder: { order_id: 'Q0', remarks: '说明' },
  rejectRefund: { order_id: 'Q0', reason: '已经用完' },
  closeOrder: { order_id: 'Q0' },
  refundOrder: { order_id: 'Q0', amount: 100, reason: '不要了' },
  adminInvoiceList: {},
  handleInvoice: { id: nobody, state: 'issued' },
  differenceList: {},
  resolveDifference: { id: nobody, note: '查过了' },
  adminNoticeList: {},
  saveNotice: { notice: '今晚维护' },
  delNotice: { id: nobody },
  appList: {},
  appDetails: { id: nobody },
  appVersionNext: { id: nobody },
  appCommentNext: { id: nobody },
  sendAppComment: { app_id: nobody, comment_content: '好用', rating: 4.5 },
  delOwnAppComment: { app_id: nobody },
  reportAppComment: { id: nobody },
  payApp: { id: nobody },
  appTradeStatus: { platform_order_id: 'Q20260101000000000000' },
  appDownloadLink: { id: nobody },
  downloadApp: { key: 'no-such-key-at-all-1234' },
  saveApp: { title: '应用' },
  addAppVersion: { id: nobody, version: '2.0', description: '更快' },
  appVersionList: { id: nobody },
  appCommentList: { id: nobody },
  delAppComment: { id: nobody },
  appDescription: { id: nobody },
  saveAppDescription: { id: nobody, md_description: '介绍' },
  appGeneralInfo: { id: nobody },
  saveAppGeneralInfo: { id: nobody },
  managedAppList: {},
  setAppState: { id: nobody, state: 'down' },
  delAppDraft: { id: nobody },
  appDraft: { id: nobody },
  apiKeys: {},
  genKey: { name: '测试' },
  updateKey: { id: 1, name: '测试' },
  rotateKey: { id: 1 },
  pauseKey: { id: 1, on: false },
  keysShownOnce: { on: false },
  delKey: { api_key: '0123456789••••••0123456789' },
  apiUsage: { month: '2026-01' },
  apiCallLog: {},
  apiCallBodies: { id: '00000000-0000-4000-8000-000000000000' },
  clearCallLog: {},
  chatCompletions: {
    model: 'builtin-assistant',
    messages: [{ role: 'user', content: '1+1 等于几' }],
  },
  createResponse: { model: 'builtin-assistant', input: '1+1 等于几' },
  createMessage: {
    model: 'builtin-assistant',
    max_tokens: 100,
    messages: [{ role: 'user', content: '1+1 等于几' }],
  },
  countMessageTokens: {
    model: 'builtin-assistant',
    messages: [{ role: 'user', content: '1+1 等于几' }],
  },
  createCompletion: { model: 'builtin-assistant', prompt: '1+1 等于几' },
  createModeration: { input: '山间的月亮' },
  createRerank: { model: 'builtin-embedding', query: '月亮', documents: ['山间的月亮', '海'] },
  createEmbeddings: { model: 'builtin-embedding', input: '山间的月亮' },
  generateApiImages: { prompt: '山间的月亮', size: '256x256', response_format: 'url' },
  editApiImages: { prompt: '山间的月亮', size: '256x256' },
  createSpeech: { model: 'builtin-voice', input: '你好' },
  createTranscription: { model: 'none' },
  createTranslation: { model: 'none' },
  varyApiImages: {},
  createFile: { purpose: 'batch' },
  listFiles: {},
  readFile: { file_id: 'file-none' },
  deleteFile: { file_id: 'file-none' },
  createBatch: {
    input_file_id: 'file-none',
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  },
  listBatches: {},
  readBatch: { batch_id: 'batch-none' },
  cancelBatch: { batch_id: 'batch-none/cancel' },
  storedResponse: { response_id: 'resp_none' },
  deleteResponse: { response_id: 'resp_none' },
  apiImage: { prompt: '山间的月亮', size: '256x256' },
  apiProgress: { request_id: noUuid },
  apiInterrogate: { image_base64: onePixel.toString('base64') },
  apiUpscale: { image_base64: onePixel.toString('base64') },
  apiRemoveBg: { image_base64: onePixel.toString('base64') },
  apiEditBg: { image_base64: onePixel.toString('base64'), bg_color: '#ffffff' },
  apiTranscribe: {},
  apiSpeech: { text: '你好' },
  apiModels: {},
  apiModel: { model: 'builtin-assistant' },
  apiChat: { model: 'builtin-assistant', messages: [{ role: 'user', content: '1+1 等于几' }] },
  apiTranslate: { text: '月亮' },
  apiInscriptor: { text: '月亮' },
  apiBalance: {},
  health: {},
  siteInfo: {},
  signInWays: {},
  sendSignInCode: { kind: 'mail', to: 'nobody@example.com', purpose: 'sign_in' },
  signInByCode: { kind: 'mail', to: 'nobody@example.com', code_id: noUuid, code: '123456' },
  resetForgotten: {
    kind: 'mail',
    to: 'nobody@example.com',
    code_id: noUuid,
    code: '123456',
    password: 'longenough-9',
    password2: 'longenough-9',
  },
  signInMeans: {},
  sendBindCode: { kind: 'mail', to: 'nobody@example.com' },
  bindContact: { kind: 'mail', to: 'nobody@example.com', code_id: noUuid, code: '123456' },
  unbindContact: { kind: 'mail' },
  setFirstPassword: { password: 'longenough-9', password2: 'longenough-9' },
  beginProvider: { id: nobody },
  linkProvider: { id: nobody },
  finishProvider: { id: nobody, query: 'code=a&state=b', secret: 'no-such-secret' },
  unlinkProvider: { id: nobody },
  passkeyQuestion: {},
  signInByPasskey: { id: noUuid, response: '{}' },
  beginPasskey: {},
  savePasskey: { id: noUuid, name: '手机', response: '{}' },
  renamePasskey: { id: nobody, name: '手机' },
  removePasskey: { id: nobody },
  signInSettings: {},
  saveSignIn: { smtp_host: 'mail.example.com' },
  trySending: { kind: 'mail', to: 'nobody@example.com' },
  saveProvider: {
    kind: 'oidc',
    name: '某某',
    issuer: 'https://id.example.com',
    client_id: 'queqiao',
  },
  delProvider: { id: nobody },
  complianceState: {},
  saveCompliance: { operator: '测试公司' },
  agreements: {},
  thirdParties: {},
  agreement: { kind: 'content' },
  agree: { agreed: [{ kind: 'content', version: 999_999 }] },
  withdrawAgreement: { kind: 'content' },
  saveAgreement: { kind: 'content', text: '' },
  consentList: {},
  takeUnmarked: { url: `/files/${'0'.repeat(40)}.png`, agree: 1 },
  unmarkedList: {},
  safetyState: {},
  saveSafety: { doubtful: 'pass' },
  safetyCaseList: {},
  decideSafetyCase: { id: 987_654_321, state: 'allowed' },
  ownSafetyCases: {},
  appealSafetyCase: { id: 987_654_321, appeal: '没有违规' },
  minorState: {},
  startMinor: { code: '2468', from: 0, to: 1440, minutes: 60 },
  endMinor: { code: '2468' },
  resetMinor: { user_id: 987_654_321 },
  exportRecords: { user_id: 1, from: '2026-01-01', to: '2026-01-02', reason: '测试用的调取' },
  findLabel: { label: 'no-such-label' },
});

const sample: Talk = {
  uuid: '7d1ce0de-0d6f-4c0c-8f60-27a6c2b8a1f5',
  id: 987_654_301,
  historyId: 987_654_302,
};
const ofSample = goodInputs(sample);

/** Whether a call's good input is about the session that it is given. */
export const isAboutTalk = (name: CallName): boolean =>
  /7d1ce0de-0d6f|98765430[12]/.test(JSON.stringify(ofSample[name]));

const goodFile = (name: CallName): FormData => {
  const form = new FormData();
  if (name === 'editApiImages' || name === 'varyApiImages')
    form.set('image', new Blob([onePixel], { type: 'image/png' }), 'a.png');
  else if (['uploadImage', 'uploadAvatar', 'adminUpload'].includes(name))
    form.set('file', new Blob([onePixel], { type: 'image/png' }), 'a.png');
  else form.set('file', new Blob(['第一行\n第二行'], { type: 'text/plain' }), '笔记.txt');
  return form;
};

export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The envelope; null where the body is none. */
  envelope: { code: number; message: string; data: unknown } | null;
}

const envelopeOf = (text: string): RawAnswer['envelope'] => {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && 'code' in value && 'data' in value
      ? (value as RawAnswer['envelope'])
      : null;
  } catch {
    return null;
  }
};

/** What a call answered; of a stream that goes on as long as anybody reads, its head is enough. */
export const bodyOf = async (response: Response, name: CallName): Promise<string> => {
  if (name !== 'jobEvents' || !response.ok) return response.text();
  await response.body?.cancel();
  return '';
};

/** Sends anything as a call, whatever the contract thinks of it. */
export const sendRaw = async (
  client: TestClient,
  name: CallName,
  input: Record<string, unknown>,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> => {
  const { url, method, body, hasBody } = requestOf(name, input);
  const isForm = calls[name].files.length > 0;
  const isUpload = (isForm || calls[name].kind === 'upload') && options.body === undefined;
  const headers = {
    ...client.headers(),
    ...(hasBody && !isUpload ? { 'content-type': 'application/json' } : {}),
    ...options.headers,
  };
  const form = isUpload ? goodFile(name) : null;
  if (isForm) for (const [field, value] of Object.entries(body)) form?.set(field, value as string);
  const sent = form ?? options.body ?? JSON.stringify(body);
  const where = client.baseURL + url;
  const how = { method, headers };
  if (calls[name].kind === 'call' && typeof sent === 'string') {
    const answer = await quickFetch(where, hasBody ? { ...how, body: sent } : how);
    return { ...answer, envelope: envelopeOf(answer.text) };
  }
  const response = await fetch(where, hasBody ? { ...how, body: sent } : how);
  const text = await bodyOf(response, name);
  return { status: response.status, headers: response.headers, text, envelope: envelopeOf(text) };
};
