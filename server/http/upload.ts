import type { FastifyRequest } from 'fastify';
import type { CallSpec } from '../../contract/call.ts';
import { Refusal, type UploadedFile } from './handlers.ts';

const sizeText = (bytes: number): string => `${Math.floor(bytes / (1024 * 1024))} MB`;

/**
 * The file of an upload, from the field `file`.
 * @throws Refusal too_large beyond the call's limit, bad_input without a file
 */
export const readUpload = async (
  request: FastifyRequest,
  spec: CallSpec,
): Promise<UploadedFile> => {
  if (!request.isMultipart()) throw new Refusal('unsupported', '请用 multipart/form-data 上传文件');
  const limit = spec.maxBytes ?? 0;
  try {
    const part = await request.file({ limits: { fileSize: limit } });
    if (part?.fieldname !== 'file') throw new Refusal('bad_input', 'file：请选择一个文件');
    const data = await part.toBuffer();
    return { name: part.filename.slice(0, 200), mime: part.mimetype, data };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const code = (error as { code?: string }).code ?? '';
    if (code === 'FST_REQ_FILE_TOO_LARGE')
      throw new Refusal('too_large', `文件太大，最多 ${sizeText(limit)}`);
    throw new Refusal('bad_body', '上传的内容无法读取');
  }
};
