import { expect, test } from 'vitest';
import { ReplyLog } from './reply-log.ts';
import { heartbeat } from '#server/http/event-stream.ts';
import { doneFrame, errorEventId, errorFrame, textFrame } from './frames.ts';
import { Reader } from './reader.ts';

const makeSink = () => {
  const frames: string[] = [];
  const sink = {
    frames,
    takes: true,
    ended: false,
    destroyed: false,
    drain: (): void => {},
    write: (frame: string) => {
      frames.push(frame);
      return sink.takes;
    },
    end: () => {
      sink.ended = true;
    },
    destroy: () => {
      sink.destroyed = true;
    },
    once: (_: 'drain', listener: () => void) => {
      sink.drain = () => {
        sink.takes = true;
        listener();
      };
    },
  };
  return sink;
};

const logOf = (text: string) => {
  const log = new ReplyLog();
  log.append('text', text);
  return log;
};
const add = (log: ReplyLog, reader: Reader, text: string) => {
  const start = log.length;
  log.append('text', text);
  reader.push(textFrame('text', text, log.length), start, log.length);
};

test('a reader gets what it lacks, then each piece, then the end', () => {
  const sink = makeSink();
  const log = logOf('abcdef');
  const reader = new Reader(sink, log, 4);
  add(log, reader, 'gh');
  reader.end({ error: null });
  expect(sink.frames).toEqual([textFrame('text', 'ef', 6), textFrame('text', 'gh', 8), doneFrame]);
  expect(sink.ended).toBe(true);
});

test('a slow reader is sent nothing until it takes again, and then all at once', () => {
  const sink = makeSink();
  const log = new ReplyLog();
  const reader = new Reader(sink, log, 0);
  sink.takes = false;
  for (const text of ['a', 'b', 'c']) add(log, reader, text);
  reader.end({ error: null });
  expect(sink.frames).toEqual([textFrame('text', 'a', 1)]);
  sink.drain();
  expect(sink.frames.slice(1)).toEqual([textFrame('text', 'bc', 3), doneFrame]);
});

test('a reader that takes nothing for too long is let go, a silent one is kept alive', () => {
  const times = { heartbeatMs: 10, stuckMs: 50 };
  const stuck = makeSink();
  const slow = new Reader(stuck, new ReplyLog(), 0);
  stuck.takes = false;
  const log = new ReplyLog();
  slow.follow(logOf('x'));
  slow.tend(Date.now() + 40, times);
  expect(stuck.destroyed).toBe(false);
  slow.tend(Date.now() + 60, times);
  expect(stuck.destroyed).toBe(true);

  const silent = makeSink();
  const reader = new Reader(silent, log, 0);
  reader.tend(Date.now() + 20, times);
  expect(silent.frames).toEqual([heartbeat.frame]);
});

test('an error comes once, before the end', () => {
  const error = { code: 'balance', message: '余额不足' };
  const first = makeSink();
  new Reader(first, logOf('ab'), 2).end({ error });
  expect(first.frames.join('')).toBe(errorFrame('balance', '余额不足') + doneFrame);
  const again = makeSink();
  new Reader(again, logOf('ab'), errorEventId).end({ error });
  expect(again.frames.join('')).toBe(doneFrame);
});

test('a reader that is ahead of the stored text waits for it', () => {
  const sink = makeSink();
  const log = logOf('abc');
  const reader = new Reader(sink, log, 5);
  reader.follow(logOf('abcdefg'));
  expect(sink.frames).toEqual([textFrame('text', 'fg', 7)]);
});

test('a very long reply leaves others their turns, and comes whole', async () => {
  const sink = makeSink();
  const words = '很长的话'.repeat(250_000);
  const reader = new Reader(sink, logOf(words), 0);
  reader.end({ error: null });
  expect(sink.frames.length).toBeLessThan(10);
  expect(sink.ended).toBe(false);
  while (!sink.ended) await new Promise((resolve) => setImmediate(resolve));
  const said = sink.frames.join('').matchAll(/^data: (".*")$/gm);
  expect([...said].map(([, text = '']) => JSON.parse(text) as string).join('')).toBe(words);
  expect(sink.frames.at(-1)).toBe(doneFrame);
});
