export interface RegisterForm {
  account: string;
  name: string;
  password: string;
  password2: string;
}

/** What is wrong with the fields of a registration, in the words of document 1 §5. */
export type RegisterAlerts = Partial<Record<keyof RegisterForm, string>>;

export const registerAlerts = (form: RegisterForm): RegisterAlerts => ({
  ...(form.account === '' && { account: '用户名不能为空！' }),
  ...(form.name === '' && { name: '名称不能为空！' }),
  ...(form.password === '' && { password: '密码不能为空！' }),
  ...(form.password2 === ''
    ? { password2: '请再次输入一次密码！' }
    : form.password !== form.password2 && { password2: '两次输入的密码不一致！' }),
});
