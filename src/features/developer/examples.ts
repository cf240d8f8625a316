/** What the examples are filled with. */
interface Filled {
  /** Such as https://example.com, without a slash at its end. */
  origin: string;
  key: string;
  model: string;
}

export interface Example {
  name: string;
  /** What is installed first; empty: nothing. */
  install: string;
  language: string;
  code: (filled: Filled) => string;
}

export const examples: readonly Example[] = [
  {
    name: 'curl',
    install: '',
    language: 'bash',
    code: ({ origin, key, model }) => `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{"role": "user", "content": "你好"}]
  }'`,
  },
  {
    name: 'OpenAI · Python',
    install: 'pip install openai',
    language: 'python',
    code: ({ origin, key, model }) => `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")

stream = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "你好"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
  },
  {
    name: 'OpenAI · Node',
    install: 'npm install openai',
    language: 'javascript',
    code: ({ origin, key, model }) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' });

const stream = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '你好' }],
  stream: true,
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
}`,
  },
  {
    name: 'Python',
    install: 'pip install requests',
    language: 'python',
    code: ({ origin, key, model }) => `import requests

answer = requests.post(
    "${origin}/v1/chat",
    headers={"Authorization": "Bearer ${key}"},
    json={
        "model": "${model}",
        "messages": [{"role": "user", "content": "你好"}],
    },
    timeout=120,
).json()
if answer["result"]:
    print(answer["content"])
else:
    print(answer["code"], answer["message"])`,
  },
  {
    name: 'Node',
    install: '',
    language: 'javascript',
    code: ({ origin, key, model }) => `const response = await fetch('${origin}/v1/chat', {
  method: 'POST',
  headers: {
    authorization: 'Bearer ${key}',
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    model: '${model}',
    messages: [{ role: 'user', content: '你好' }],
  }),
});
const answer = await response.json();
console.log(answer.result ? answer.content : answer.message);`,
  },
  {
    name: 'LangChain',
    install: 'pip install langchain-openai',
    language: 'python',
    code: ({ origin, key, model }) => `from langchain_openai import ChatOpenAI

llm = ChatOpenAI(
    model="${model}",
    base_url="${origin}/v1",
    api_key="${key}",
)
for piece in llm.stream("你好"):
    print(piece.content, end="", flush=True)`,
  },
];
