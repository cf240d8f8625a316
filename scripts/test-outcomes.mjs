import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** What failed, and what passed at its second try, each with the first line of the reason. */

const firstLine = (text = '') =>
  stripVTControlCharacters(text)
    .split('\n')
    .find((line) => line.trim() !== '') ?? '';

/** @param report what vitest's JSON reporter writes */
export const unitOutcomes = ({ testResults }, root) => {
  const failed = [];
  const again = [];
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative(root, name);
    if (status === 'failed' && !assertionResults.some((each) => each.status === 'failed'))
      failed.push(`${file}: ${firstLine(message)}`);
    for (const { fullName, status: outcome, failureMessages } of assertionResults)
      if (failureMessages.length > 0)
        (outcome === 'passed' ? again : failed).push(
          `${file} › ${fullName}: ${firstLine(failureMessages[0])}`,
        );
  }
  return { failed, again };
};

/** @param report what Playwright's JSON reporter writes, or a suite of it */
export const browserOutcomes = ({ suites = [], specs = [] }) => {
  const inner = suites.map(browserOutcomes);
  const named = (wanted) =>
    specs.flatMap(({ file, title, tests }) =>
      tests
        .filter(({ status }) => status === wanted)
        .map(
          ({ projectName, results }) =>
            `[${projectName}] ${file} › ${title}: ${firstLine(results[0]?.error?.message)}`,
        ),
    );
  return {
    failed: [...named('unexpected'), ...inner.flatMap(({ failed }) => failed)],
    again: [...named('flaky'), ...inner.flatMap(({ again }) => again)],
  };
};
