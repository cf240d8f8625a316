import type { Readable } from 'node:stream';
import type { ByteRange } from './byte-range.ts';

/** The service that keeps the files cannot be reached, or is not well. */
export class StorageAway extends Error {}

export interface StoredFile {
  stream: Readable;
  /** Bytes. */
  size: number;
}

export interface StoredPart {
  stream: Readable;
  /** First and last byte of it. */
  from: number;
  to: number;
  /** Bytes of the whole file. */
  size: number;
}

/**
 * Where files lie. Keys are made by the server alone, by `newKey`, with an ending behind it where
 * it helps; nothing that a person sends ever becomes one. A key that is none is refused with an
 * Error before anything is touched.
 */
export interface Storage {
  /** Whole or not at all; an existing file of this key is replaced. */
  put(key: string, data: Buffer, mime: string): Promise<void>;
  /** The same of a file on this machine's disk, which may be larger than what fits into memory. */
  putFile(key: string, place: string, mime: string): Promise<void>;
  /** Null: there is no such file. Whoever takes the stream reads or destroys it. */
  get(key: string): Promise<StoredFile | null>;
  /** A part of a file, `outside` where it has no such part. Null: there is no such file. */
  getPart(key: string, range: ByteRange): Promise<StoredPart | 'outside' | null>;
  /** A key that is not there counts as deleted. */
  delete(key: string): Promise<void>;
}
