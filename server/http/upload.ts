import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import * as z from 'zod/mini';
import { type CallSpec, uuid } from '#contract/call.ts';
import { Refusal, type UploadedFile } from './handlers.ts';

const sizeText = (bytes: number): string => `${Math.floor(bytes / (1024 * 1024))} MB`;

/** Bytes of one field beside a file: the longest text that a call takes, in Chinese. */
const formFieldLimit = 400 * 1024;
/** Fields beside the files of a form, at most. */
const formFields = 20;

/** Ends the name of the field that says under which number a file came in pieces, before it. */
const inPieces = '_upload';
/** The bytes of a file that came in pieces, at most so many. @throws Refusal not_found, too_large */
export type Whole = (id: string, bytes: number) => Promise<Buffer>;

/** A name as long as one may be: its middle goes, for its ending says what the file is. */
export const shortName = (name: string): string =>
  name.length > 200 ? name.replace(/^(.{100}).+(.{40})$/su, '$1…$2') : name;

/** A field of a form with a file: its own bytes, or the number of those that came before in pieces. */
interface FilePart extends Omit<UploadedFile, 'fields'> {
  pieces: string | null;
}

const partOf = async (part: MultipartFile, fields: Record<string, string>): Promise<FilePart> => {
  const { filename, mimetype: mime, fieldname } = part;
  const data = await part.toBuffer();
  const pieces = fields[fieldname + inPieces] ?? null;
  delete fields[fieldname + inPieces];
  if (pieces !== null && !z.safeParse(uuid, pieces).success)
    throw new Refusal('bad_input', `${fieldname}${inPieces} 应为 UUID`);
  return { name: shortName(filename), mime, data, pieces };
};

/** The file with all its bytes, asked for once the body is read: what fails here is no fault of it. */
const filled = async (
  { pieces, ...file }: FilePart,
  { whole, limit }: { whole: Whole; limit: number },
): Promise<Omit<UploadedFile, 'fields'>> =>
  pieces === null ? file : { ...file, data: await whole(pieces, limit) };

/** What a body is refused with that could not be read. */
const unreadable = (error: unknown, { maxBytes, tooLarge }: CallSpec): Refusal => {
  if (error instanceof Refusal) return error;
  return (error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE'
    ? new Refusal('too_large', tooLarge ?? `文件太大，最多 ${sizeText(maxBytes ?? 0)}`)
    : new Refusal('bad_body', '上传的内容无法读取');
};

/** Forms carry every line's end as two characters; the text has but one. */
const textOf = (value: unknown): string => String(value).replaceAll('\r\n', '\n');

/**
 * The file of an upload, from the field `file`.
 * @throws Refusal too_large beyond the call's limit, bad_input without a file
 */
export const readUpload = async (
  request: FastifyRequest,
  spec: CallSpec,
  whole: Whole,
): Promise<UploadedFile> => {
  if (!request.isMultipart()) throw new Refusal('unsupported', '请用 multipart/form-data 上传文件');
  const limit = spec.maxBytes ?? 0;
  const fields: Record<string, string> = {};
  let file: FilePart | null = null;
  try {
    for await (const part of request.parts({ limits: { fileSize: limit } })) {
      if (part.type === 'field') fields[part.fieldname] = textOf(part.value);
      else if (file || part.fieldname !== 'file')
        throw new Refusal('bad_input', 'file：请选择一个文件');
      else file = await partOf(part, fields);
    }
  } catch (error) {
    throw unreadable(error, spec);
  }
  if (!file) throw new Refusal('bad_input', 'file：请选择一个文件');
  return { ...(await filled(file, { whole, limit })), fields };
};

/**
 * The fields of a multipart body and its files, which may be missing: `file`, and those that the
 * call names beside it.
 * @throws Refusal as readUpload
 */
export const readForm = async (
  request: FastifyRequest,
  spec: CallSpec,
  whole: Whole,
): Promise<{
  file: UploadedFile | null;
  files: Record<string, UploadedFile>;
  fields: Record<string, string>;
}> => {
  if (!request.isMultipart()) throw new Refusal('unsupported', '请用 multipart/form-data 提交');
  const limit = spec.maxBytes ?? 0;
  const known = ['file', ...spec.files];
  const fields: Record<string, string> = {};
  const parts: Record<string, FilePart> = {};
  const limits = {
    fileSize: limit,
    fieldSize: formFieldLimit,
    files: known.length,
    fields: formFields,
    parts: known.length + formFields,
  };
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw new Refusal('too_large', `${part.fieldname} 太长`);
        fields[part.fieldname] = textOf(part.value);
        continue;
      }
      const file = await partOf(part, fields);
      if (known.includes(part.fieldname)) parts[part.fieldname] = file;
    }
  } catch (error) {
    throw unreadable(error, spec);
  }
  const files: Record<string, UploadedFile> = {};
  for (const [name, part] of Object.entries(parts)) {
    const file = await filled(part, { whole, limit });
    if (file.data.length > 0) files[name] = file;
  }
  const { file = null, ...others } = files;
  return { file, files: others, fields };
};
