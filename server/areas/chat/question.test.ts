import { expect, test } from 'vitest';
import { Refusal } from '#server/http/handlers.ts';
import { asTalk, readQuestion } from './question.ts';

const refused = (msg: string, format: 0 | 1 = 1): string => {
  try {
    asTalk(readQuestion({ msg, format }));
  } catch (error) {
    if (error instanceof Refusal && error.codeName === 'bad_input') return error.message;
    throw error;
  }
  return '';
};

test('a plain text is taken as it is, even where it looks like JSON', () => {
  expect(readQuestion({ msg: ' {"prompt":"x"}\0 ', format: 0 })).toEqual({
    human: '{"prompt":"x"}',
    request: null,
  });
  expect(refused(' \0 ', 0)).toContain('msg');
});

test('of a structured message the server takes what it knows, and sets its kind itself', () => {
  const msg = JSON.stringify({
    prompt: ' 看图 ',
    type: 'chat',
    images: ['https://a.b/c.png'],
    at_ai: '冒名',
    user_id: 1,
  });
  const { human, request } = asTalk(readQuestion({ msg, format: 1 }));
  expect(human).toBe('看图');
  expect(request).toEqual({
    type: 'chat-vision',
    images: ['https://a.b/c.png'],
    image_detail: 'low',
    files: [],
    at_user: null,
    at_ai: '',
  });
});

test.each([
  ['not json', 'msg'],
  ['null', 'msg'],
  ['[]', 'msg'],
  ['{}', 'msg.prompt'],
  ['{"prompt":1}', 'msg.prompt'],
  ['{"prompt":" "}', 'msg.prompt'],
  ['{"prompt":"x","images":["a","b","c","d","e"]}', 'msg.images'],
  ['{"prompt":"x","image_detail":"best"}', 'msg.image_detail'],
  ['{"prompt":"x","files":[{"uuid":"no"}]}', 'msg.files.0.uuid'],
  ['{"prompt":"x","at_user":{"id":-1}}', 'msg.at_user.id'],
])('%s is refused by the name of the field', (msg, field) => {
  expect(refused(msg)).toContain(`${field}：`);
});
