import { describe, expect, it } from 'vitest';
import { readQuestion, thumbnailOf } from './question.ts';

describe('readQuestion', () => {
  it('takes plain text as it is, JSON included', () => {
    expect(readQuestion({ human: '{"prompt":"a"}', format: 0 }).text).toBe('{"prompt":"a"}');
  });

  it('reads words, images, files and mentions of a structured message', () => {
    const human = JSON.stringify({
      type: 'chat-vision',
      prompt: '看图',
      images: ['/files/a.png', 'https://example.com/b.jpg', 'javascript:alert(1)'],
      image_detail: 'high',
      files: [{ uuid: 'u', name: '笔记.txt', size: 12 }],
      at_user: { id: 3, name: '小鹊' },
      at_ai: 'm',
    });
    expect(readQuestion({ human, format: 1 })).toEqual({
      text: '看图',
      images: ['/files/a.png', 'https://example.com/b.jpg'],
      detail: 'high',
      files: [{ uuid: 'u', name: '笔记.txt', size: 12 }],
      atUser: { id: 3, name: '小鹊' },
      atAi: 'm',
    });
  });

  it('shows what it cannot read as it stands', () => {
    for (const human of ['{', 'null', '{"prompt":1}', '[]'])
      expect(readQuestion({ human, format: 1 }).text).toBe(human);
  });
});

describe('thumbnailOf', () => {
  it('asks for the small one of this server alone', () => {
    expect(thumbnailOf('/files/a.png', 128)).toBe('/files/a.png?size=128');
    expect(thumbnailOf('https://example.com/a.png', 128)).toBe('https://example.com/a.png');
  });
});
