import { expect, test } from 'vitest';
import { browserOutcomes, unitOutcomes } from './test-outcomes.mjs';

const failure = '\u001B[31mAssertionError\u001B[39m: expected 1 to be 2\n    at somewhere';

test('tells failed tests from those that passed at their second try', () => {
  const report = {
    testResults: [
      {
        name: '/house/tests/a.test.ts',
        status: 'failed',
        message: '',
        assertionResults: [
          { fullName: 'fine', status: 'passed', failureMessages: [] },
          { fullName: 'late', status: 'passed', failureMessages: [failure] },
          { fullName: 'bad', status: 'failed', failureMessages: [failure, failure] },
        ],
      },
      // Such as one whose beforeAll failed.
      {
        name: '/house/b.test.ts',
        status: 'failed',
        message: '\nno server',
        assertionResults: [{ fullName: 'not run', status: 'skipped', failureMessages: [] }],
      },
    ],
  };
  expect(unitOutcomes(report, '/house')).toEqual({
    failed: ['tests/a.test.ts › bad: AssertionError: expected 1 to be 2', 'b.test.ts: no server'],
    again: ['tests/a.test.ts › late: AssertionError: expected 1 to be 2'],
  });
});

test('finds tests of browsers in suites within suites', () => {
  const spec = (title: string, status: string) => ({
    file: 'a.spec.ts',
    title,
    tests: [{ projectName: 'pixel', status, results: [{ error: { message: failure } }, {}] }],
  });
  const report = {
    suites: [{ specs: [spec('fine', 'expected')], suites: [{ specs: [spec('late', 'flaky')] }] }],
    specs: [spec('bad', 'unexpected')],
  };
  expect(browserOutcomes(report)).toEqual({
    failed: ['[pixel] a.spec.ts › bad: AssertionError: expected 1 to be 2'],
    again: ['[pixel] a.spec.ts › late: AssertionError: expected 1 to be 2'],
  });
});
