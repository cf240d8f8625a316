/** A code of a second factor in a form. */
export const codeField = {
  name: 'code',
  label: '验证码',
  kind: 'text',
  required: true,
  max: 40,
} as const;

export const eitherCode = '手机上的六位数字，或一个恢复码';
