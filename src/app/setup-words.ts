import type { SetupStep } from '#contract/setup.ts';

export const stepTitles: Readonly<Record<SetupStep, string>> = {
  password: '换一个密码',
  answer: '用什么回答',
  address: '地址与 HTTPS',
  payment: '收不收款',
  people: '谁可以来',
};
