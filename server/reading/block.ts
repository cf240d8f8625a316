import type { Place } from './place.ts';

/** A piece of a file as a person would point at it. */
export interface Block {
  /** A row of a table carries the headings of its columns; a note is what a speaker or a footnote says. */
  kind: 'heading' | 'text' | 'row' | 'note';
  text: string;
  /** Of a heading, from 1. */
  level?: number;
  /** Its heading is a table's caption alone: those of the text are the blocks before it. */
  place: Place;
}

/** What a file holds. */
export interface Reading {
  blocks: Block[];
  /** The rest was left out. */
  cut: boolean;
  /** What was found out on the way, for people. */
  remark?: string;
}

/** Says in Chinese why something is not read. */
export class Unwanted extends Error {}

export const lockedFile = '文件有密码，请去掉密码后再上传';
export const tooLargeFile = '文件展开后太大，无法读取';

/** The blocks up to so many letters of text. */
export const upTo = (blocks: Iterable<Block>, most: number): Reading => {
  const kept: Block[] = [];
  let length = 0;
  for (const block of blocks) {
    if (length + block.text.length > most) return { blocks: kept, cut: true };
    length += block.text.length;
    kept.push(block);
  }
  return { blocks: kept, cut: false };
};
