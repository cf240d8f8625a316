/** One call of the public API, and what comes of it as it comes. */

export interface ApiRequest {
  /** With what stands behind its question mark. */
  path: string;
  method: string;
  key: string;
  /** A form, or what is sent as JSON; left out: nothing. */
  body?: FormData | object | undefined;
  signal: AbortSignal;
}

/** An answer is shown to so many letters: an image as text helps nobody. */
export const longestShown = 20_000;

export const isEvents = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true;

/** Sends it with a key. Rejects where no answer comes. */
export const callApi = ({ path, method, key, body, signal }: ApiRequest): Promise<Response> => {
  const isForm = body instanceof FormData;
  return fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal,
  });
};

/** The text of an answer, a piece after the other. */
export async function* piecesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return;
    yield value;
  }
}
