import type { Out } from '#contract/calls.ts';

export type Scenario = Out<'scenarioList'>['list'][number];
