import { authCalls } from './auth.ts';
import type { AnswerOf, CallSpec, InputOf, OutputOf, ParsedOf } from './call.ts';
import { chatCalls } from './chat.ts';
import { embeddingCalls } from './embedding.ts';
import { exportCalls } from './export.ts';
import { fileCalls } from './file.ts';
import { helpCalls } from './help.ts';
import { imageCalls } from './image.ts';
import { jobCalls } from './job.ts';
import { ledgerCalls } from './ledger.ts';
import { modelCalls } from './model.ts';
import { noticeCalls } from './notice.ts';
import { scenarioCalls } from './scenario.ts';
import { sessionCalls } from './session.ts';
import { shareCalls } from './share.ts';
import { systemCalls } from './system.ts';
import { waitCalls } from './wait.ts';

/** Every call of the product. Routes, client, access test and OpenAPI document are made from it. */
export const calls = {
  ...authCalls,
  ...modelCalls,
  ...sessionCalls,
  ...chatCalls,
  ...shareCalls,
  ...exportCalls,
  ...fileCalls,
  ...imageCalls,
  ...jobCalls,
  ...waitCalls,
  ...scenarioCalls,
  ...embeddingCalls,
  ...noticeCalls,
  ...ledgerCalls,
  ...helpCalls,
  ...systemCalls,
};
export type Calls = typeof calls;
export type CallName = keyof Calls;

type NamesOf<Kind extends CallSpec['kind']> = {
  [K in CallName]: Calls[K] extends { kind: Kind } ? K : never;
}[CallName];
export type PlainCallName = NamesOf<'call'>;
export type UploadName = NamesOf<'upload'>;
export type DownloadName = NamesOf<'download'>;
export type StreamName = NamesOf<'stream'>;

export type In<K extends CallName> = InputOf<Calls[K]>;
export type Parsed<K extends CallName> = ParsedOf<Calls[K]>;
export type Out<K extends CallName> = OutputOf<Calls[K]>;
export type Answer<K extends CallName> = AnswerOf<Calls[K]>;
