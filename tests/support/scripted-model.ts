import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as a service is sent it. */
export interface SentMessage {
  role: string;
  content: string | null | object[];
  tool_call_id?: string;
  reasoning_content?: string;
  tool_calls?: {
    id: string;
    type: string;
    function: { name: string; arguments: string };
    extra_content?: unknown;
  }[];
}

export interface SentBody {
  model: string;
  messages: SentMessage[];
  stream?: boolean;
  enable_thinking?: boolean;
  thinking_budget?: number;
  thinking?: { type: string };
  tools?: { type: string; function: { name: string; description: string; parameters: object } }[];
}

/** What the model does in one round. */
export interface Said {
  text?: string;
  reasoning?: string;
  /** Between its thinking and its words, ms. */
  thoughtMs?: number;
  calls?: { name: string; arguments: unknown }[];
  /** The events of the answer just as they are, in place of all that. */
  raw?: object[];
  /** Before anything is answered, ms. */
  pauseMs?: number;
  /** Tokens of the prompt that came from a cache. */
  cached?: number;
  /** It answers with this status and nothing else. */
  status?: number;
}

/**
 * A service of OpenAI's chat completions that says what a script says. Calls come as OpenAI sends
 * them: name and id first, then the arguments in pieces, and calls of one round side by side.
 */
export const startScriptedModel = async (script: (body: SentBody) => Said | Promise<Said>) => {
  const bodies: SentBody[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
      if (request.method !== 'POST') {
        response.end(JSON.stringify({ data: [] }));
        return;
      }
      const body = JSON.parse(text) as SentBody;
      bodies.push(body);
      const said = await script(body);
      if (said.pauseMs) await new Promise((resolve) => setTimeout(resolve, said.pauseMs));
      if (said.status) {
        response.writeHead(said.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'scripted failure' } }));
        return;
      }
      const usage = {
        prompt_tokens: 50,
        completion_tokens: 20,
        total_tokens: 70,
        ...(said.cached && { prompt_tokens_details: { cached_tokens: said.cached } }),
      };
      if (body.stream !== true) {
        const message = { role: 'assistant', content: said.text ?? '' };
        response.setHeader('content-type', 'application/json');
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        response.end(JSON.stringify({ choices, usage }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (said.raw) {
        for (const event of said.raw) response.write(`data: ${JSON.stringify(event)}\n\n`);
        response.end('data: [DONE]\n\n');
        return;
      }
      const send = (delta: object, finish: string | null = null) =>
        response.write(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        );
      send({ role: 'assistant', content: '' });
      if (said.reasoning) send({ reasoning_content: said.reasoning });
      if (said.thoughtMs) await new Promise((resolve) => setTimeout(resolve, said.thoughtMs));
      if (said.text)
        for (const piece of said.text.match(/[\s\S]{1,40}/g) ?? []) send({ content: piece });
      for (const [index, { name, arguments: given }] of (said.calls ?? []).entries()) {
        const words = typeof given === 'string' ? given : JSON.stringify(given);
        const id = `call_${bodies.length}_${index}`;
        send({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
        for (const piece of words.match(/[\s\S]{1,9}/g) ?? [])
          send({ tool_calls: [{ index, function: { arguments: piece } }] });
      }
      send({}, said.calls ? 'tool_calls' : 'stop');
      response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
      response.end('data: [DONE]\n\n');
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    bodies,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
};

/** The results of tools that a model was sent since its person's last question. */
export const resultsIn = ({ messages }: SentBody): string[] => {
  const asked = messages.map(({ role }) => role).lastIndexOf('user');
  return messages
    .slice(asked + 1)
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
};

/** A person's last question. */
export const questionIn = ({ messages }: SentBody): string => {
  const asked = messages.filter(({ role }) => role === 'user').at(-1);
  return typeof asked?.content === 'string' ? asked.content : JSON.stringify(asked?.content);
};
