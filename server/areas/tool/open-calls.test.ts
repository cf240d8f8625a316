import { afterEach, expect, test, vi } from 'vitest';
import type { Answered, Answering } from '#server/engines/mcp/mcp-questions.ts';
import { createOpenCalls } from './open-calls.ts';
import { questionOf } from './tool-questions.ts';
import { AnswerWanted, type ToolAnswer } from './tool.ts';

afterEach(() => vi.useRealTimers());

const asked = (message: string) => ({
  message,
  requestedSchema: { type: 'object', properties: { a: { type: 'boolean' } } },
});
const answered = (message: string, a: boolean): ToolAnswer => ({
  question: questionOf('甲', asked(message))!,
  content: { a },
});

/** A call in which its server asks these, one after the other; `give up` fails it. */
const stage = (messages: readonly string[]) => {
  let made = 0;
  let giveUp = (): void => undefined;
  const left: unknown[] = [];
  const make = ({ answering }: { answering: Answering }) => {
    made += 1;
    return new Promise<string>((resolve, reject) => {
      giveUp = () => reject(new Error('waited too long'));
      const all = async (): Promise<Answered[]> => {
        const given: Answered[] = [];
        for (const message of messages) given.push(await answering(asked(message)));
        return given;
      };
      all().then(
        (given) => resolve(JSON.stringify(given)),
        (error: unknown) => {
          left.push(error);
          reject(error);
        },
      );
    });
  };
  const calls = createOpenCalls<string>();
  const run = async (answers: ToolAnswer[]) => {
    const call = calls.take('k', '甲', answers, make);
    try {
      return await call.goOn(answers, new AbortController().signal);
    } catch (error) {
      if (!(error instanceof AnswerWanted)) throw error;
      calls.keep('k', 1, call, error);
      return error.question.message;
    }
  };
  return { run, left, made: () => made, giveUp: () => giveUp() };
};

test('whoever answers soon answers in the same call, each answer once', async () => {
  const { run, made } = stage(['一', '二', '二']);
  expect(await run([])).toBe('一');
  const first = [answered('一', true)];
  expect(await run(first)).toBe('二');
  expect(await run([...first, answered('二', true)])).toBe('二');
  const last = await run([...first, answered('二', true), answered('二', false)]);
  expect(JSON.parse(last)).toEqual(
    [true, true, false].map((a) => ({ action: 'accept', content: { a } })),
  );
  expect(made()).toBe(1);
});

test('where the call is open no more it is made again, and its server was given no answer', async () => {
  vi.useFakeTimers();
  const { run, made, left, giveUp } = stage(['一']);
  expect(await run([])).toBe('一');
  giveUp();
  await vi.advanceTimersByTimeAsync(0);
  expect(await run([])).toBe('一');
  expect(made()).toBe(2);
  await vi.advanceTimersByTimeAsync(121_000);
  expect(left).toEqual([expect.any(AnswerWanted)]);
  expect(await run([answered('一', true)])).toContain('accept');
  expect(made()).toBe(3);
});

test('of one person eight are kept open, and another’s are all the same', async () => {
  const calls = createOpenCalls<string>();
  const begin = async (key: string, userId: number) => {
    let left = false;
    const call = calls.take(key, '甲', [], ({ answering }) =>
      Promise.resolve(answering(asked('一'))).then(JSON.stringify, (error: unknown) => {
        left = true;
        throw error;
      }),
    );
    const wanted = await call
      .goOn([], new AbortController().signal)
      .catch((error: unknown) => error);
    calls.keep(key, userId, call, wanted as AnswerWanted);
    await Promise.resolve();
    await Promise.resolve();
    return !left;
  };
  const own = [];
  for (let at = 0; at < 10; at++) own.push(await begin(`own-${at}`, 1));
  expect(own.filter(Boolean)).toHaveLength(8);
  expect(await begin('other', 2)).toBe(true);
});
