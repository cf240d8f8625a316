import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { languages } from './call-code.ts';

const words = `it's "so" $HOME \`id\` \\n 好\n换行`;
const body = {
  model: 'm',
  messages: [{ role: 'user', content: words }],
  temperature: 0.5,
  stream: false,
  stop: null,
};
const codeIn = (name: string): string =>
  languages.find((each) => each.name === name)!.code({ origin: 'http://x', key: '1-k', body });

test('what a shell and Python read of the code is the request itself', () => {
  const sent = execFileSync('bash', ['-c', codeIn('curl').replace(/^curl/, `printf '%s\\0'`)])
    .toString()
    .split('\0');
  expect(JSON.parse(sent[sent.indexOf('-d') + 1]!)).toEqual(body);
  // JSON's texts are Python's, and so are its numbers.
  const python = codeIn('Python');
  expect(python).toContain(`"content": ${JSON.stringify(words)},`);
  expect(python).toContain('stream=False,');
  expect(python).toContain('stop=None,');
  const script = codeIn('JavaScript');
  const given = /create\(([\s\S]*?)\);\n/.exec(script)?.[1] ?? '';
  expect(JSON.parse(given)).toEqual(body);
});
