/** A request of the public API as code that makes it. */

interface Request {
  /** Such as https://example.com, without a slash at its end. */
  origin: string;
  key: string;
  body: Readonly<Record<string, unknown>>;
}

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

/** A value as Python writes it. */
export const pythonOf = (value: unknown, indent = ''): string => {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  const more = `${indent}    `;
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${value.map((each) => `${more}${pythonOf(each, more)},\n`).join('')}${indent}]`;
  if (typeof value === 'object')
    return `{\n${Object.entries(value)
      .map(([name, each]) => `${more}${JSON.stringify(name)}: ${pythonOf(each, more)},\n`)
      .join('')}${indent}}`;
  return JSON.stringify(value);
};

const curl = ({ origin, key, body }: Request): string => {
  // Within single quotes a shell reads everything as it stands, but for their end.
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${indented(json, '  ')}'`;
};

const python = ({ origin, key, body }: Request): string => {
  const given = Object.entries(body)
    .map(([name, value]) => `    ${name}=${pythonOf(value, '    ')},\n`)
    .join('');
  const make = `answer = client.chat.completions.create(\n${given})`;
  return `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")

${make}
${
  body['stream'] === true
    ? `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
    : 'print(answer.choices[0].message.content)'
}`;
};

const javascript = ({ origin, key, body }: Request): string => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' });

const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});
${
  body['stream'] === true
    ? `for await (const chunk of answer) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
}`
    : 'console.log(answer.choices[0].message.content);'
}`;

export const languages = [
  { name: 'curl', language: 'bash', code: curl },
  { name: 'Python', language: 'python', code: python },
  { name: 'JavaScript', language: 'javascript', code: javascript },
] as const;
