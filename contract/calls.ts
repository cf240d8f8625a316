import { accountCalls } from './account.ts';
import { agreementCalls } from './agreement.ts';
import { authCalls } from './auth.ts';
import type { AnswerOf, CallSpec, InputOf, OutputOf, ParsedOf } from './call.ts';
import { chatCalls } from './chat.ts';
import { complianceCalls } from './compliance.ts';
import { minorCalls } from './minor.ts';
import { safetyCalls } from './safety.ts';
import { contextCalls } from './context.ts';
import { developerCalls } from './developer.ts';
import { embeddingCalls } from './embedding.ts';
import { exportCalls } from './export.ts';
import { fileCalls } from './file.ts';
import { galleryCalls } from './gallery.ts';
import { forumCalls } from './forum.ts';
import { helpCalls } from './help.ts';
import { imageCalls } from './image-calls.ts';
import { jobCalls } from './job.ts';
import { ledgerCalls } from './ledger.ts';
import { localModelCalls } from './local-model.ts';
import { manageModelCalls } from './manage-model.ts';
import { manageNoticeCalls } from './manage-notice.ts';
import { manageOrderCalls } from './manage-order.ts';
import { manageSessionCalls } from './manage-session.ts';
import { manageTrainCalls } from './manage-train.ts';
import { manageUserCalls } from './manage-user.ts';
import { peopleGroupCalls } from './people-group.ts';
import { marketCalls } from './market.ts';
import { modelCalls } from './model.ts';
import { noticeCalls } from './notice.ts';
import { promptCalls } from './prompt.ts';
import { openApiCalls } from './open-api.ts';
import { openBatchCalls } from './open-batch.ts';
import { paymentCalls } from './payment.ts';
import { scenarioCalls } from './scenario.ts';
import { sessionCalls } from './session.ts';
import { setupCalls } from './setup.ts';
import { signInCalls } from './sign-in.ts';
import { shareCalls } from './share.ts';
import { statsCalls } from './stats.ts';
import { speechCalls } from './speech.ts';
import { systemCalls } from './system.ts';
import { toolCalls } from './tool.ts';
import { toolServerCalls } from './tool-server.ts';
import { knowledgeCalls } from './knowledge.ts';
import { trainCalls } from './train.ts';
import { videoCalls } from './video.ts';
import { waitCalls } from './wait.ts';

/** Every call of the product. Routes, client, access test and OpenAPI document are made from it. */
export const calls = {
  ...authCalls,
  ...signInCalls,
  ...accountCalls,
  ...modelCalls,
  ...localModelCalls,
  ...sessionCalls,
  ...chatCalls,
  ...contextCalls,
  ...toolCalls,
  ...toolServerCalls,
  ...shareCalls,
  ...exportCalls,
  ...fileCalls,
  ...imageCalls,
  ...videoCalls,
  ...speechCalls,
  ...galleryCalls,
  ...jobCalls,
  ...waitCalls,
  ...scenarioCalls,
  ...forumCalls,
  ...promptCalls,
  ...embeddingCalls,
  ...trainCalls,
  ...knowledgeCalls,
  ...noticeCalls,
  ...ledgerCalls,
  ...paymentCalls,
  ...marketCalls,
  ...helpCalls,
  ...statsCalls,
  ...manageSessionCalls,
  ...manageUserCalls,
  ...peopleGroupCalls,
  ...manageModelCalls,
  ...manageNoticeCalls,
  ...manageOrderCalls,
  ...manageTrainCalls,
  ...complianceCalls,
  ...minorCalls,
  ...safetyCalls,
  ...agreementCalls,
  ...setupCalls,
  ...systemCalls,
  ...developerCalls,
  ...openApiCalls,
  ...openBatchCalls,
};
export type Calls = typeof calls;
export type CallName = keyof Calls;

type NamesOf<Kind extends CallSpec['kind']> = {
  [K in CallName]: Calls[K] extends { kind: Kind } ? K : never;
}[CallName];
export type PlainCallName = NamesOf<'call'>;
export type UploadName = NamesOf<'upload'>;
export type DownloadName = NamesOf<'download'>;
/** Calls that work before there is anything to store. */
export type SlowName = {
  [K in CallName]: Calls[K] extends { slow: true } ? K : never;
}[CallName];
export type StreamName = NamesOf<'stream'>;
/** Calls of the public API. */
export type OpenName = NamesOf<'open'>;
/** Calls of the app: all others. */
export type AppName = Exclude<CallName, OpenName>;

export type In<K extends CallName> = InputOf<Calls[K]>;
export type Parsed<K extends CallName> = ParsedOf<Calls[K]>;
export type Out<K extends CallName> = OutputOf<Calls[K]>;
export type Answer<K extends CallName> = AnswerOf<Calls[K]>;
