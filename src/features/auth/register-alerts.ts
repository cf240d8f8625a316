export interface RegisterForm {
  account: string;
  name: string;
  password: string;
  password2: string;
}

/** What is wrong with a registration, in the words of document 1 §5. */
export const registerAlerts = (form: RegisterForm): string[] => {
  const alerts: string[] = [];
  if (form.account === '') alerts.push('用户名不能为空！');
  if (form.name === '') alerts.push('名称不能为空！');
  if (form.password === '') alerts.push('密码不能为空！');
  if (form.password2 === '') alerts.push('请再次输入一次密码！');
  else if (form.password !== form.password2) alerts.push('两次输入的密码不一致！');
  return alerts;
};
