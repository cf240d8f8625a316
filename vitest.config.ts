import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The system tests start servers of their own and mostly wait for them.
    maxWorkers: 4,
    // Files share a process: each of its own would cost a second of the processor. None may leave
    // anything behind that others would find, such as changed globals.
    isolate: false,
    // Most that is waited for is asked of a server: asking is work, waiting is none.
    // A busy machine is given time: what never comes fails all the same.
    expect: { poll: { interval: 150, timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,server,contract,common,packages,scripts,sw}/**/*.test.{ts,tsx}'],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['tests/{contract,faults}/**/*.test.ts'],
          // As in the browsers: a busy machine may spoil one try, a fault spoils both.
          retry: 1,
          globalSetup: ['tests/support/shared-database.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: ['tests/engines/**/*.test.ts'],
          globalSetup: ['tests/support/shared-database.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          retry: 1,
        },
      },
    ],
  },
});
