/** What the thread that listens is asked for; it gives words. */
export interface HearTask {
  /** Folder of a model of sherpa-onnx. */
  folder: string;
  data: Uint8Array;
}

export interface HearJob {
  task: HearTask;
  answer: string;
}
