import { limits } from '../../../contract/limits.ts';
import { createFairQueue, type Waiter } from '../../fair-queue.ts';
import { runApart } from '../../guarded-process.ts';
import { ThreadFailure } from '../../guarded-thread.ts';
import { Refusal } from '../../http/handlers.ts';
import { workerUrl } from '../../worker-url.ts';

export type DocumentKind = 'pdf' | 'docx';

export interface DocumentText {
  text: string;
  cut: boolean;
}

const bounds = { heapMb: 256, growth: 500 * 1024 * 1024 };

/** Two for everybody and one that guests never hold; what one person may have waiting. */
const inTurn = createFairQueue(3, 12);

const unreadable = () => new Refusal('upload_unreadable', '文件已损坏、已加密或无法读取');
const tooMuch = () => new Refusal('upload_unreadable', '文件太复杂，无法读取');

/**
 * The text of a document, read in a process that is ended after `seconds`, or when it takes too much
 * memory. `owner`: who has one slot at a time.
 * @throws Refusal upload_unreadable, too_many
 */
export const readDocument = (
  kind: DocumentKind,
  data: Buffer,
  { seconds, owner }: { seconds: number; owner: Waiter },
): Promise<DocumentText> =>
  inTurn(owner, async () => {
    const url = workerUrl('./document-worker.ts', import.meta.url);
    const task = { kind, data, most: limits.fileText };
    try {
      const answer = await runApart<DocumentText | null>(url, task, { ...bounds, seconds });
      if (answer) return answer;
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error;
      if (error.tooMuch) throw tooMuch();
    }
    throw unreadable();
  });
