/** What the thread that unpacks models is asked for; it gives the number of files. */
export interface UnpackJob {
  task: {
    /** A tar.bz2 of one folder. */
    archive: string;
    /** An empty folder for what that one holds. */
    folder: string;
    /** Bytes that come out of it at most. */
    most: number;
  };
  answer: number;
}

/** Its message is for people. */
export class WrongArchive extends Error {}
