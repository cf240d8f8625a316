import { expect, test } from 'vitest';
import { excerptOfTalk } from './excerpt.ts';

test('a sentence of numerals alone takes little longer than any other', () => {
  const took = (text: string): number => {
    const from = process.cpuUsage();
    expect(excerptOfTalk([{ human: text, ai: text }], '', 400).length).toBeLessThanOrEqual(400);
    return process.cpuUsage(from).user;
  };
  const usual = Math.max(took('好'.repeat(80_000)), 2_000);
  expect(took('一'.repeat(80_000))).toBeLessThan(50 * usual);
});

test('what names a number or a day is kept', () => {
  const talk = [{ human: '随便说说。十月三号出发。', ai: '好。预算是三百元。再见。' }];
  expect(excerptOfTalk(talk, '', 400)).toBe(
    '- 用户：随便说说。\n- 用户：十月三号出发。\n- 回答：预算是三百元。',
  );
});
