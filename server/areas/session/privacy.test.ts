import { expect, test } from 'vitest';
import { newSessionIsPrivate, privacyChangeRefusal } from './privacy.ts';

const rules = (forced: boolean, global?: 0 | 1) => ({
  forced,
  setting: { private_global: global },
});

test('a new session is private unless its owner chose otherwise', () => {
  expect(newSessionIsPrivate(rules(false), undefined)).toBe(true);
  expect(newSessionIsPrivate(rules(false), 0)).toBe(false);
  expect(newSessionIsPrivate(rules(false, 0), undefined)).toBe(false);
  expect(newSessionIsPrivate(rules(false, 0), 1)).toBe(true);
  expect(newSessionIsPrivate(rules(true, 0), 0)).toBe(true);
});

test('a session is opened and closed only where that is allowed', () => {
  expect(privacyChangeRefusal(rules(false, 1), false)).toBeNull();
  expect(privacyChangeRefusal(rules(false, 0), true)).toBe('private_global_off');
  expect(privacyChangeRefusal(rules(true, 1), false)).toBe('private_forced');
  expect(privacyChangeRefusal(rules(true, 0), true)).toBeNull();
});
